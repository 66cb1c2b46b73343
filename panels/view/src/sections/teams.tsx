import React from "react";
import { Card } from "../look/card";
import { Empty } from "../look/states";
import type { Column } from "../look/table";
import { Finding, StepButton } from "../look/text";
import { nameColumn, valueColumn } from "../look/value";
import type { Value } from "../look/value";
import { Wide } from "../look/wide";
import { Stack } from "../mui";
import type { SectionProps } from "./section";

/** `panels/data/questions.py` */
type Row = { question: string; kappas: Value[]; differs: boolean };
type Sent = { title: string; names: string[]; rows: Row[] };

const NOTHING: Value = { value: null, low: null, high: null, reason: "" };

/** Comparison of two teams of raters: agreement within each team, and between them. */
export function Teams({ record: { title, names, rows }, act }: SectionProps<Sent>) {
  if (!title) {
    const text = "No teams are compared yet. Name two teams, such as experts and a crowd, to see the agreement within each team, and between their majorities.";
    return <Empty title="Do two teams agree?" text={text} steps={[{ label: "Compare two teams", onClick: () => act("compare") }]} />;
  }
  const columns: Column<Row>[] = [
    nameColumn("question", "Question", ({ question }) => question),
    ...names.map((name, place) => valueColumn<Row>(name, name, ({ kappas }) => kappas[place] ?? NOTHING)),
    { key: "differs", title: "Clear", show: ({ differs }) => (differs ? "✓" : ""), by: ({ differs }) => Number(differs) },
  ];
  return (
    <Stack spacing={1}>
      <Finding>{title}</Finding>
      <Stack direction="row"><StepButton onClick={() => act("compare")}>Compare two teams</StepButton></Stack>
      <Card title="Agreement beyond chance (free-marginal κ) within each team, between them, and between their majorities: click a question to see where answers differ">
        <Wide least={4} label="Teams" rows={rows} columns={columns} keyOf={({ question }) => question} onClick={({ question }) => act("question", { name: question })} />
      </Card>
    </Stack>
  );
}
