import React from "react";
import { alphaText } from "../format";
import { Plot } from "../look/plot";
import type { LibraryFigure } from "../look/plot";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { Stack } from "../mui";
import type { SectionProps } from "./section";

/** `panels/data/published.py` */
type Row = { dataset: string; task: string; alpha: number; configuration: string; note: string; source: string };
type Sent = { scale: LibraryFigure; rows: Row[] };

const COLUMNS: Column<Row>[] = [
  { key: "dataset", title: "Data set", show: (row) => row.dataset, by: (row) => row.dataset },
  { key: "task", title: "Task", show: (row) => row.task, by: (row) => row.task },
  { key: "alpha", title: "α", show: (row) => alphaText(row.alpha, 3), by: (row) => row.alpha, isNumber: true },
  { key: "configuration", title: "Configuration", show: (row) => [row.configuration, row.note].join(" ").trim() },
  { key: "source", title: "Source", show: (row) => row.source, by: (row) => row.source },
];

/** This alpha compared with published ones, those with the same similarity first. */
export function Published({ record: { scale, rows } }: SectionProps<Sent>) {
  const keyOf = (row: Row) => [row.dataset, row.task, row.configuration, row.source, row.alpha].join("|");
  return (
    <Stack spacing={1}>
      <Plot figure={scale} height={170} />
      <Sortable label="Published values" rows={rows} columns={COLUMNS} keyOf={keyOf} />
    </Stack>
  );
}
