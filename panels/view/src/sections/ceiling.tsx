import React, { useState } from "react";
import { alphaText, countText, numberOf, plain, pointsText } from "../format";
import { Card } from "../look/card";
import { Matrix } from "../look/matrix";
import { Reading } from "../look/reading";
import type { Caption } from "../look/reading";
import { Menu } from "../look/menu";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Ranked } from "../look/ranked";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { Measured } from "../look/value";
import type { Value } from "../look/value";
import { Box, Stack, TextField } from "../mui";
import { Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** `panels/data/ceiling.py` */
type Head = { said: string; basis: string; levels: number[]; least: number; greatest: number };
type Part = { name: string; images: number; whole: Value; mean: number | null; size: number | null };
type Placed = { name: string; map: number; place: string; meaning: string; by_rater: Record<string, number | null> };
type Intervals = { head: Head; parts: Part[]; models: Placed[]; typed: string };
type Spread = {
  figure: string;
  is_convergence: boolean;
  is_alpha: boolean;
  whole: Value;
  mean: number | null;
  std: number | null;
  least: number | null;
  greatest: number | null;
};
type Subsets = { head: Head; figures: LibraryFigure[]; summary: Spread[]; pools: string[]; pool: string };
type Pairs = { head: Head; caption: Caption; raters: string[]; matrix: (number | null)[][] };
type Checks = { head: Head; caveat: string; criteria: { criterion: string; finding: string; verdict: string }[] };
type Sent = Shown<"Interval", Intervals> | Shown<"Subsets", Subsets> | Shown<"Raters", Pairs> | Shown<"Checks", Checks>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** Highest mAP to expect from any model, given how the raters differ. */
export function Ceiling(props: SectionProps<Sent>) {
  return (
    <Paged section="Ceiling" of={props}>
      {({ record, act, choose }) => (
        <Stack spacing={1}>
          <Headed head={record.shown.head} choose={choose} hasThresholds={record.page !== "Checks"} />
          {record.page === "Interval" && <IntervalPage of={record.shown} act={act} choose={choose} />}
          {record.page === "Subsets" && <SubsetsPage of={record.shown} choose={choose} />}
          {record.page === "Raters" && <PairsPage of={record.shown} />}
          {record.page === "Checks" && <ChecksPage of={record.shown} />}
        </Stack>
      )}
    </Paged>
  );
}

function Headed({ head, choose, hasThresholds }: { head: Head; hasThresholds: boolean } & Chooses) {
  const entries = head.levels.map((level) => [String(level), alphaText(level)] as const);
  return (
    <>
      <Finding>{head.said}</Finding>
      <Note>{head.basis}</Note>
      {hasThresholds && (
        <Stack direction="row" gap={2} flexWrap="wrap">
          <Menu label="Thresholds from" chosen={String(head.least)} entries={entries} onChoose={(level) => choose({ least: Number(level) })} />
          <Menu label="to" chosen={String(head.greatest)} entries={entries.filter(([level]) => Number(level) >= head.least)}
            onChoose={(level) => choose({ greatest: Number(level) })} />
        </Stack>
      )}
    </>
  );
}

function IntervalPage({ of: { parts, models, typed }, act, choose }: { of: Intervals } & Acts & Chooses) {
  const rows = parts.map(({ name, images, whole, mean, size }, place) => ({
    key: String(place),
    name,
    value: whole.value,
    interval: [whole.low, whole.high] as const,
    text: pointsText(whole.value),
    title: whole.reason || [
      whole.low == null ? "" : `95 %: ${pointsText(whole.low)} to ${pointsText(whole.high)}`,
      numberOf(images, "image"),
      size == null ? "" : `subsets of ${countText(size)}: mean ${pointsText(mean)}`,
    ].filter(Boolean).join("; "),
  }));
  return (
    <>
      <Card title="mAP of raters against one another, for all images and for each tag: click one to see its images">
        <Ranked rows={rows} domain={[0, 1]} onClick={(place) => act("images", place === "0" ? {} : { tag: parts[Number(place)]?.name })} />
      </Card>
      <Models models={models} typed={typed} choose={choose} />
    </>
  );
}

function Models({ models, typed, choose }: { models: Placed[]; typed: string } & Chooses) {
  const [text, setText] = useState(typed);
  const rows = models.map((model, place) => ({
    key: String(place), name: model.name, value: model.map, text: pointsText(model.map), title: model.meaning,
  }));
  return (
    <Card title={models.length ? "Models against the ceiling" : "Compare your models with the ceiling"}>
      {models.length > 0 && <Ranked rows={rows} domain={[0, 1]} />}
      {models.map((model, place) => (
        <Note key={place}>{`${plain(model.name)}: ${model.meaning}${byRater(model)}`}</Note>
      ))}
      <Stack direction="row" gap={1} alignItems="center" sx={{ mt: 0.5 }} component="form"
        onSubmit={(event: React.FormEvent) => {
          event.preventDefault();
          choose({ models: text });
        }}>
        <TextField size="small" fullWidth value={text} onChange={(event) => setText(event.target.value)}
          placeholder="YOLO 0.412, DETR 0.437" inputProps={{ "aria-label": "Models with their mAP" }}
          sx={{ "& input": { fontSize: 13, py: 0.5 } }} />
        <StepButton onClick={() => choose({ models: text })}>Place</StepButton>
      </Stack>
    </Card>
  );
}

function byRater({ by_rater }: Placed): string {
  const values = Object.entries(by_rater).map(([name, value]) => `${plain(name)} ${pointsText(value)}`);
  return values.length ? ` With each rater as ground truth: ${values.join(", ")}.` : "";
}

function SubsetsPage({ of: { figures, summary, pools, pool }, choose }: { of: Subsets } & Chooses) {
  const show = (value: number | null | undefined, row: Spread) => (row.is_alpha ? alphaText(value) : pointsText(value));
  const number = (key: "mean" | "std" | "least" | "greatest", title: string): Column<Spread> => ({
    key, title, show: (row) => show(row[key], row), isNumber: true,
  });
  const columns: Column<Spread>[] = [
    { key: "figure", title: "Metric", show: (row) => <Box component={row.is_convergence ? "strong" : "span"}>{row.figure}</Box> },
    { key: "whole", title: "All images", show: (row) => <Measured of={row.whole} show={(value) => show(value, row)} />, isNumber: true },
    number("mean", "Mean"), number("std", "Std"), number("least", "Min"), number("greatest", "Max"),
  ];
  return (
    <>
      <Menu label="Fit one line to several data sets" chosen={pool} entries={pools.map((one) => [one, one] as const)}
        onChoose={(one) => choose({ pool: one })} />
      {figures.map((figure) => <Plot key={figure.reading} figure={figure} height={280} />)}
      <Card title="Statistics over the subsets; label convergence in bold">
        <Sortable label="Statistics over the subsets" rows={summary} columns={columns} keyOf={({ figure }) => figure} />
      </Card>
    </>
  );
}

function PairsPage({ of: { caption, raters, matrix } }: { of: Pairs }) {
  const title = (row: number, column: number) =>
    `${plain(raters[column] ?? "")} measured against ${plain(raters[row] ?? "")}: mAP ${pointsText(matrix[row]?.[column])}`;
  return (
    <Card title="mAP of each rater (column) against each as ground truth (row)">
      <Reading of={caption} />
      <Matrix label="mAP of every two raters" rows={raters} columns={raters} values={matrix} domain={[0, 1]} show={pointsText} title={title} />
    </Card>
  );
}

const VERDICTS: Record<string, string> = { ok: "✓", warn: "⚠ warning", "cannot know": "? cannot know" };

function ChecksPage({ of: { caveat, criteria } }: { of: Checks }) {
  return (
    <>
      <Note>{caveat}</Note>
      <Card title="Do the data support this estimate? Criteria of the paper's Appendix A">
        <Sortable label="Checks" rows={criteria} keyOf={({ criterion }) => criterion}
          columns={[
            { key: "verdict", title: "", show: ({ verdict }) => VERDICTS[verdict] ?? verdict, by: ({ verdict }) => verdict },
            { key: "criterion", title: "Criterion", show: ({ criterion }) => criterion },
            { key: "finding", title: "Finding", show: ({ finding }) => finding },
          ]} />
      </Card>
    </>
  );
}
