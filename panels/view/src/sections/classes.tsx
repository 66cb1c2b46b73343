import React, { useState } from "react";
import { alphaText, countText, numberOf, plain } from "../format";
import type { Maybe } from "../format";
import { domainOf, ofAlpha } from "../look/alphas";
import type { Ranking } from "../look/alphas";
import { Card } from "../look/card";
import { Matrix } from "../look/matrix";
import { Name } from "../look/name";
import { Ranked } from "../look/ranked";
import { Reading } from "../look/reading";
import type { Caption } from "../look/reading";
import { Segmented } from "../look/segmented";
import { Empty } from "../look/states";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Box, Stack, Typography } from "../mui";
import type { SectionProps } from "./section";

/** `panels/data/classes.py` */
type RankedClass = Ranking & { units: number; is_ranked: boolean };
type By = [string, number][];
type Confusion = { first: string; second: string; count: number; first_by: By; second_by: By };
type Confused = { title: string; classes: string[]; counts: Maybe[][]; rows: Confusion[] };
type Sent = { title: string; caption: Caption; classes: RankedClass[]; undefined: number; confused: Confused | null };
type Props = SectionProps<Sent>;

type Page = "agreement" | "confusions";
const PAGES: readonly (readonly [Page, string])[] = [["agreement", "Agreement"], ["confusions", "Confusions"]];

/** Classes with the lowest agreement, and confused classes. */
export function Classes(props: Props) {
  const [page, setPage] = useState<Page>("agreement");
  return (
    <Stack spacing={1}>
      <Box><Segmented label="Pages" choices={PAGES} chosen={page} onChoose={setPage} /></Box>
      {page === "agreement" ? <Agreement {...props} /> : <Confusions {...props} />}
    </Stack>
  );
}

function Agreement({ record: { title, caption, classes, undefined: without }, act }: Props) {
  const ranked = classes.filter((one) => one.is_ranked);
  const others = classes.filter((one) => !one.is_ranked);
  const onClick = (name: string) => act("category", { name });
  return (
    <>
      <Card title={title}>
        <Reading of={caption} />
        <Ranked rows={ranked.map(rowOf)} domain={domainOf(classes)} onClick={onClick} />
        {without > 0 && <Typography color="text.secondary" sx={{ fontSize: 12.5 }}>{numberOf(without, "class has", "classes have")} no alpha.</Typography>}
      </Card>
      {others.length > 0 && (
        <Card title="Classes on too few images to compare">
          <Ranked rows={others.map(rowOf)} domain={domainOf(classes)} onClick={onClick} />
        </Card>
      )}
    </>
  );
}

function rowOf(one: RankedClass) {
  const row = ofAlpha(one);
  const counts = `${numberOf(one.images, "image")}, ${numberOf(one.units, "object")}`;
  return { ...row, text: `${alphaText(one.value)} (${countText(one.images)})`, title: `${row.title}: ${counts}` };
}

function Confusions({ record: { confused }, act }: Props) {
  if (!confused) {
    const text = "A search for differences shows which different classes raters give to the same object.";
    return <Empty title="No differences were searched for" text={text} steps={[{ label: "Find differences", onClick: () => act("find") }]} />;
  }
  const { title, classes, counts, rows } = confused;
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const cell = (row: number, column: number) => [classes[row] ?? "", classes[column] ?? ""];
  const onCell = (row: number, column: number) => act("confusion", { classes: cell(row, column) });
  return (
    <>
      <Card title={title}>
        <Box sx={{ overflowX: "auto" }}>
          <Matrix label="Findings of every two classes" rows={classes} columns={classes} values={counts} domain={[0, most]}
            show={countText} title={(row, column) => `${cell(row, column).map((name) => plain(name)).join(" and ")}: ${numberOf(counts[row]?.[column] ?? 0, "finding")}`}
            onClick={onCell} />
        </Box>
      </Card>
      {rows.length > 0 && (
        <Card title="Classes by rater: click a row to see the labels">
          <Sortable label="Two classes for one object" rows={rows} columns={COLUMNS} keyOf={keyOf}
            onClick={({ first, second }) => act("confusion", { classes: [first, second] })} />
        </Card>
      )}
    </>
  );
}

function keyOf({ first, second }: Confusion): string {
  return JSON.stringify([first, second]);
}

const COLUMNS: Column<Confusion>[] = [
  { key: "first", title: "Class", by: ({ first }) => first, show: ({ first, first_by }) => <Given name={first} by={first_by} /> },
  { key: "second", title: "and class", by: ({ second }) => second, show: ({ second, second_by }) => <Given name={second} by={second_by} /> },
  { key: "count", title: "Findings", by: ({ count }) => count, show: ({ count }) => countText(count), isNumber: true },
];

/** A class, and how often each rater gave it. */
function Given({ name, by }: { name: string; by: By }) {
  const raters = by.map(([rater, count]) => `${plain(rater)} ${countText(count)}`).join(", ");
  return (
    <>
      <Name of={name} />
      <Box component="span" sx={{ display: "block", fontSize: 12, color: "text.secondary" }}>{raters}</Box>
    </>
  );
}
