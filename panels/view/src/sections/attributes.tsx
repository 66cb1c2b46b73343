import React, { useState } from "react";
import { countText, plain, withInterval } from "../format";
import type { Interval, Maybe } from "../format";
import { Card } from "../look/card";
import { More } from "../look/more";
import { Name } from "../look/name";
import { Reading } from "../look/reading";
import { Empty } from "../look/states";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Box, Typography } from "../mui";

/** `panels/data/attributes.py` */
type Said = { sample_id: string; file: string; category: string; values: Record<string, string | number | boolean> };
export type Attribute = {
  name: string;
  metric: string;
  title: string;
  value: Maybe[];
  interval: Interval[];
  reason: string[];
  units: number;
  rows: Said[];
};

type AttributesProps = { attributes: Attribute[]; act: (click: string, given?: object) => void };

const READING = {
  read:
    "Objects to which at least two raters gave the attribute. Close values count as nearly equal if they are numbers or " +
    "have an order.",
  formula:
    "α: Krippendorff's, ordinal for numbers and nominal for text unless the run says otherwise. AC: Gwet's AC1 for nominal " +
    "values, else AC2 with quadratic weights; Conger's κ likewise. 95 % intervals over images.",
};

/** Agreement on each attribute of matched labels, and the images that differ on the chosen one. */
export function Attributes({ attributes, act }: AttributesProps) {
  const [named, setNamed] = useState<string | null>(null);
  const chosen = attributes.find(({ name }) => name === named) ?? attributes[0];
  if (!chosen) {
    const text = "Agreement compared no attributes. If labels have attributes, such as malignancy or occlusion, select Attributes in a new run to see how much raters agree on them.";
    return <Empty title="Do raters agree on more than the class?" text={text} steps={[{ label: "Compare attributes", onClick: () => act("agree") }]} />;
  }
  return (
    <>
      <Card title="Attributes of all images, lowest agreement first">
        <Reading of={READING} />
        <Sortable label="Attributes" rows={attributes} columns={COLUMNS} keyOf={({ name }) => name}
          onClick={({ name }) => setNamed(name)} isChosen={({ name }) => name === chosen.name} />
      </Card>
      <Card title={chosen.title} action={chosen.rows.length > 0 && <More onClick={() => act("attribute", { name: chosen.name })}>in the grid</More>}>
        {chosen.rows.length ? (
          <Sortable label={`Images that differ on ${plain(chosen.name)}`} rows={chosen.rows} columns={IMAGES} keyOf={(row) => row.sample_id}
            onClick={(row) => act("open", { sample: row.sample_id })} />
        ) : (
          <Typography sx={{ fontSize: 13 }}>No two raters differ on {plain(chosen.name)}.</Typography>
        )}
      </Card>
    </>
  );
}

const COEFFICIENTS = ["α", "AC", "Conger's κ"] as const;

const COLUMNS: Column<Attribute>[] = [
  { key: "name", title: "Attribute", by: ({ name }) => name, show: ({ name, metric }) => <><Name of={name} /><Small>{metric}</Small></> },
  ...COEFFICIENTS.map((title, at) => ({
    key: title,
    title,
    isNumber: true,
    by: ({ value }: Attribute) => value[at] ?? null,
    show: ({ value, interval, reason }: Attribute) => reason[at] || withInterval(value[at], interval[at] ?? [null, null]),
  })),
  { key: "units", title: "Objects", by: ({ units }) => units, show: ({ units }) => countText(units), isNumber: true },
];

const IMAGES: Column<Said>[] = [
  { key: "file", title: "Image", by: ({ file }) => file, show: ({ file }) => <Name of={file} /> },
  { key: "category", title: "Class", by: ({ category }) => category, show: ({ category }) => <Name of={category} /> },
  { key: "values", title: "Values of raters", show: ({ values }) => Object.entries(values).map(([rater, value]) => `${plain(rater)} ${plain(String(value))}`).join(", ") },
];

function Small({ children }: { children: string }) {
  return <Box component="span" sx={{ display: "block", fontSize: 12, color: "text.secondary" }}>{children}</Box>;
}
