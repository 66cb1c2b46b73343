import React, { useState } from "react";
import { alphaText, countText, percentText } from "../format";
import { Card } from "../look/card";
import { Menu } from "../look/menu";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { nameColumn, numberColumn, valueColumn } from "../look/value";
import type { Value } from "../look/value";
import { Alert, Box, Stack } from "../mui";
import { Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** `panels/data/threshold.py` */
type Calibrated = { name: string; ks: Value; tau: Value; threshold: Value; doubt: string; is_default: boolean };
type Calibration = {
  similarity: string;
  said: string;
  advice: string;
  over: string;
  similarities: Calibrated[];
  sizes: Calibrated[];
  figure: LibraryFigure;
  again: object;
};
type Level = { threshold: number; alpha: Value; images: number };
type Sensitivity = { figure: LibraryFigure | null; title: string; levels: Level[] };
type Count = { type: string; own: number; own_share: number; chosen: number; chosen_share: number; change: number };
type Types = { figure: LibraryFigure | null; title: string; levels: number[]; own: number; level: number; counts: Count[] };
type Printed = { dataset: string; name: string; ks: Value; tau: Value; threshold: number; source: string };
type Sent =
  | Shown<"Calibration", Calibration>
  | Shown<"Sensitivity", Sensitivity>
  | Shown<"Types", Types>
  | Shown<"Published", Printed[]>;

/** Smallest similarity at which two annotations may be the same object, and its effects. */
export function Threshold(props: SectionProps<Sent>) {
  return (
    <Paged section="Threshold" of={props}>
      {({ record, act, choose }) => {
        if (record.page === "Calibration") return <CalibrationPage key={record.shown.similarity} of={record.shown} act={act} choose={choose} />;
        if (record.page === "Sensitivity") return <SensitivityPage of={record.shown} act={act} />;
        if (record.page === "Types") return <TypesPage of={record.shown} choose={choose} />;
        return <PublishedPage rows={record.shown} />;
      }}
    </Paged>
  );
}

type Acts = Pick<SectionProps<Sent>, "act">;

const NUMBERS: Column<Calibrated>[] = [
  valueColumn("ks", "KS", ({ ks }) => ks),
  valueColumn("threshold", "Threshold", ({ threshold }) => threshold),
  {
    key: "remark",
    title: "",
    show: ({ doubt, is_default }) => [is_default && "✓ default", doubt && `⚠ not to be trusted: ${doubt}`].filter(Boolean).join(" "),
  },
];

function CalibrationPage({ of, act, choose }: { of: Calibration } & Acts & Chooses) {
  const columns: Column<Calibrated>[] = [
    { key: "name", title: "Similarity", show: ({ name }) => <Box component={name === of.similarity ? "strong" : "span"}>{name}</Box>, by: ({ name }) => name },
    ...NUMBERS,
  ];
  return (
    <Stack spacing={1}>
      <Finding>{of.said}</Finding>
      {of.advice && <Note>{of.advice}</Note>}
      <Use of={of} act={act} choose={choose} />
      <Plot figure={of.figure} height={320} />
      <Card title="Similarities, best separation of matches from chance first">
        <Sortable label="Similarities" rows={of.similarities} columns={columns} keyOf={({ name }) => name}
          onClick={({ name }) => choose({ similarity: name })} />
      </Card>
      {of.sizes.length > 0 && (
        <Card title={`${of.similarity} by the size of the annotation (small: up to 32² pixels, large: from 96² pixels, in an image of 640 × 480)`}>
          <Sortable label="Sizes" rows={of.sizes} keyOf={({ name }) => name}
            columns={[{ key: "name", title: "Size", show: ({ name }) => name }, ...NUMBERS]} />
        </Card>
      )}
      <Note>{of.over}</Note>
    </Stack>
  );
}

/** Use the threshold in a new analysis or in later forms; a threshold with doubts needs a second click. */
function Use({ of: { similarity, similarities, again }, act, choose }: { of: Calibration } & Acts & Chooses) {
  const [warns, setWarns] = useState(false);
  const found = similarities.find(({ name }) => name === similarity);
  if (!found || found.threshold.value == null) return null;
  const value = alphaText(found.threshold.value);
  const use = () => {
    if (found.doubt && !warns) setWarns(true);
    else act("use", { similarity }, () => choose({}));
  };
  return (
    <>
      {warns && <Alert severity="warning" sx={{ py: 0 }}>Not to be trusted: {found.doubt}</Alert>}
      <Stack direction="row" gap={1} flexWrap="wrap" alignItems="center">
        <StepButton isMain onClick={() => act("again", again)}>{`New analysis with ${similarity} at ${value}`}</StepButton>
        {found.is_default
          ? <Note>{`${value} is the default threshold of ${similarity} in later forms.`}</Note>
          : <StepButton onClick={use}>{`Use ${value} as the default threshold of ${similarity}${warns ? " anyway" : ""}`}</StepButton>}
      </Stack>
    </>
  );
}

const LEVELS: Column<Level>[] = [
  numberColumn("threshold", "Threshold", ({ threshold }) => threshold, alphaText),
  valueColumn("alpha", "α", ({ alpha }) => alpha),
  numberColumn("images", "Images", ({ images }) => images, countText),
];

function SensitivityPage({ of: { figure, title, levels }, act }: { of: Sensitivity } & Acts) {
  if (!figure) return <Finding>{title}</Finding>;
  return (
    <Stack spacing={1}>
      <Plot figure={figure} height={280} />
      <Card title="Click a threshold to see its images, the lowest alpha first">
        <Sortable label="Thresholds" rows={levels} columns={LEVELS} keyOf={({ threshold }) => String(threshold)}
          onClick={({ threshold }) => act("alpha", { threshold })} />
      </Card>
    </Stack>
  );
}

function TypesPage({ of: { figure, title, levels, own, level, counts }, choose }: { of: Types } & Chooses) {
  if (!figure) return <Finding>{title}</Finding>;
  const named = (threshold: number) => `${alphaText(threshold)}${threshold === own ? " (in use)" : ""}`;
  const shared = (count: number, share: number) => `${countText(count)} (${percentText(share)})`;
  const columns: Column<Count>[] = [
    { key: "type", title: "Type", show: ({ type }) => type },
    { key: "own", title: `At ${named(own)}`, show: (row) => shared(row.own, row.own_share), isNumber: true },
    ...(level === own ? [] : [
      { key: "chosen", title: `At ${named(level)}`, show: (row: Count) => shared(row.chosen, row.chosen_share), isNumber: true },
      { key: "change", title: "Change", show: ({ change }: Count) => (change > 0 ? "+" : "") + countText(change), isNumber: true },
    ]),
  ];
  return (
    <Stack spacing={1}>
      <Plot figure={figure} height={280} />
      <Menu label="Threshold" chosen={String(level)} entries={levels.map((one) => [String(one), named(one)] as const)}
        onChoose={(one) => choose({ level: Number(one) })} />
      <Card title="Findings of each type">
        <Sortable label="Findings of each type" rows={counts} columns={columns} keyOf={({ type }) => type} />
      </Card>
    </Stack>
  );
}

const PRINTED: Column<Printed>[] = [
  {
    key: "dataset",
    title: "Data set, source",
    show: ({ dataset, source }) => <>{dataset}<Box component="span" color="text.secondary" sx={{ display: "block", fontSize: 11 }}>{source}</Box></>,
    by: ({ dataset }) => dataset,
  },
  nameColumn("name", "Similarity", ({ name }) => name),
  valueColumn("ks", "KS", ({ ks }) => ks),
  valueColumn("tau", "τ*", ({ tau }) => tau),
  numberColumn("threshold", "Threshold", ({ threshold }) => threshold, (value) => alphaText(value, 3)),
];

function PublishedPage({ rows }: { rows: Printed[] }) {
  return (
    <Card title="Published calibrations, those with the same similarity first">
      <Sortable label="Published calibrations" rows={rows} columns={PRINTED} keyOf={(row) => [row.dataset, row.name, row.source].join("|")} />
    </Card>
  );
}
