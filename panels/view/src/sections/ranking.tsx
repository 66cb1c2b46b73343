import React from "react";
import { alphaText, percentText, plain } from "../format";
import type { Maybe } from "../format";
import { Card } from "../look/card";
import { Heat } from "../look/heat";
import type { LibraryMatrix } from "../look/heat";
import { Menu } from "../look/menu";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Finding, Note, StepButton } from "../look/text";
import { nameColumn, titleOf } from "../look/value";
import type { Value } from "../look/value";
import { Box, Stack } from "../mui";
import { entriesOf, Paged } from "./paged";
import type { Chooses, Shown } from "./paged";
import type { SectionProps } from "./section";

/** Sent by `panels/data/ranking.py`; `best` is the share of replicates in which a model is best. */
type Cell = { value: Value; rank: Maybe; best: Maybe };
type Ranks = {
  title: string;
  over: string;
  notes: string[];
  measure: string;
  measures: Record<string, string>;
  systems: string[];
  references: string[];
  cells: Cell[][];
  figures: LibraryFigure[];
  tau: LibraryMatrix | null;
  leads: boolean;
};
/** Null if the run ranks models by mAP, which have no curves. */
type Curves = {
  detector: string;
  detectors: string[];
  of_detector: LibraryFigure[];
  reference: string;
  references: string[];
  of_reference: LibraryFigure[];
};
type Sent = Shown<"Classifiers" | "Detectors", Ranks> | Shown<"Curves", Curves | null>;
type Acts = Pick<SectionProps<Sent>, "act">;

/** Ranking of models, and whether it depends on the reference. */
export function Ranking(props: SectionProps<Sent>) {
  return (
    <Paged section="Ranking" of={props}>
      {({ record, act, choose }) => record.page === "Curves"
        ? <CurvesPage of={record.shown} choose={choose} />
        : <RanksPage of={record.shown} page={record.page} act={act} choose={choose} />}
    </Paged>
  );
}

type Row = { reference: string; cells: Cell[] };

function RanksPage({ of, page, act, choose }: { of: Ranks; page: string } & Acts & Chooses) {
  const { title, over, notes, measure, measures, systems, references, cells, figures, tau, leads } = of;
  const rows = references.map((reference, place) => ({ reference, cells: cells[place] ?? [] }));
  const columns: Column<Row>[] = [
    nameColumn("reference", "Reference", ({ reference }) => reference),
    ...systems.map((system, place): Column<Row> => ({
      key: `system ${place}`,
      title: plain(system),
      show: (row) => <Ranked cell={row.cells[place]} />,
      by: (row) => row.cells[place]?.value.value ?? null,
      isNumber: true,
    })),
  ];
  const hint = leads ? ": click a reference to see the images where it differs from the majority" : "";
  return (
    <Stack spacing={1}>
      <Finding>{title}</Finding>
      <Note>{over}</Note>
      {notes.map((note) => <Note key={note}>{note}</Note>)}
      <Stack direction="row" gap={1}>
        <StepButton onClick={() => act("again", { page })}>New run</StepButton>
        <Menu label="Measure" chosen={measure} entries={Object.entries(measures)} onChoose={(name) => choose({ measure: name })} />
      </Stack>
      <Card title={`${measures[measure] ?? measure} under each reference, the best of a row in bold${hint}`}>
        <Sortable label="Ranks" rows={rows} columns={columns} keyOf={({ reference }) => reference}
          onClick={leads ? ({ reference }) => act("difference", { one: reference, other: "majority" }) : undefined} />
      </Card>
      {tau && (
        <Heat of={tau} domain={[-1, 1]} hint={leads ? "Click a cell to see the images where the two answers differ." : ""}
          onClick={leads ? (row, column) => act("difference", { one: references[row], other: references[column] }) : undefined} />
      )}
      {figures.map((figure) => <Plot key={figure.reading} figure={figure} height={260} />)}
    </Stack>
  );
}

function Ranked({ cell }: { cell: Cell | undefined }) {
  if (cell?.value.value == null) return <>undefined</>;
  const often = cell.best == null ? "" : `best in ${percentText(cell.best)} of the replicates`;
  return (
    <Box component={cell.rank === 1 ? "strong" : "span"} title={titleOf(cell.value, often)}>
      {`${alphaText(cell.value.value, 3)} (${cell.rank ?? "–"})`}
    </Box>
  );
}

function CurvesPage({ of, choose }: { of: Curves | null } & Chooses) {
  if (!of) return <Finding>Only score maps have curves; this run ranks models by mAP</Finding>;
  return (
    <Stack spacing={1}>
      <Menu label="Detector" chosen={of.detector} entries={entriesOf(of.detectors)} onChoose={(name) => choose({ detector: name })} />
      {of.of_detector.map((figure) => <Plot key={figure.reading} figure={figure} height={260} />)}
      <Menu label="Reference" chosen={of.reference} entries={entriesOf(of.references)} onChoose={(name) => choose({ reference: name })} />
      {of.of_reference.map((figure) => <Plot key={figure.reading} figure={figure} height={260} />)}
    </Stack>
  );
}
