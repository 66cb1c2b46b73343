/** Panel next to the open sample. */
import React, { useEffect, useMemo, useRef, useState } from "react";
import type { PanelProps } from "./app";
import { useAsk } from "./ask";
import type { Ask } from "./ask";
import { Decider, useDesk } from "./desk/decider";
import { deskOf, tellDecisions } from "./desk/desk";
import type { Desk } from "./desk/desk";
import type { Queue } from "./desk/records";
import { plain } from "./format";
import { Empty, Failed, Loading } from "./look/states";
import { Sortable } from "./look/table";
import type { Column } from "./look/table";
import { FOCUS } from "./look/styles";
import { Box, Button, MenuItem, Select, Stack, Typography } from "./mui";

/** Records of `panels/sample.py`; `queue` is null without an analysis, or if the sample is not part of it. */
type Cell = { text: string; found: string };
type UnitRow = { number: number; dispute: string | null; question: string; cells: Cell[]; labels: [string, string][] };
export type BesideRecord = {
  analyses: string[];
  analysis: string | null;
  sample: string | null;
  headline: string;
  queue: Queue | null;
  raters: string[];
  rows: UnitRow[];
  part: string[];
  note: string;
};

const NOTHING_YET =
  "Analyse matches the labels of different raters for the same object. Where raters differ, you decide here.";

export function Sample({ data, schema }: PanelProps<{ beside: string }>) {
  const ask = useAsk(schema.view);
  useEffect(() => tellDecisions, []);
  const text = data?.beside;
  const told = useMemo(() => (text ? (JSON.parse(text) as BesideRecord | { problem: string }) : null), [text]);
  const [asked, setAsked] = useState<{ told: unknown; record: BesideRecord } | null>(null);
  const [problem, setProblem] = useState("");
  const record = asked && asked.told === told ? asked.record : told;
  const anew = (question: string, params: object) =>
    void ask<BesideRecord>(question, params)
      .then((answer) => {
        setProblem("");
        setAsked({ told, record: answer });
      })
      .catch((error: Error) => setProblem(error.message));
  const wrong = problem || (record && "problem" in record ? record.problem : "");
  const sample = record && "sample" in record ? record.sample : null;
  return (
    <Box data-cy="kalos-sample" sx={{ height: "100%", overflow: "auto", px: 1.5, py: 1, color: "text.primary" }}>
      {wrong ? <Failed problem={wrong} onRetry={() => anew("beside", { sample })} />
        : !record || "problem" in record ? <Loading heights={[40, 200, 200]} />
        : !record.analysis ? <Empty title="Raters on this sample" text={NOTHING_YET} steps={[{ label: "Analyse", onClick: () => void ask("compute") }]} />
        : <Beside record={record} ask={ask} anew={anew} />}
    </Box>
  );
}

type BesideProps = { record: BesideRecord; ask: Ask; anew: (question: string, params: object) => void };

function Beside({ record, ask, anew }: BesideProps) {
  const { analyses, analysis, headline, queue, part, sample } = record;
  return (
    <Stack spacing={1}>
      <Stack direction="row" spacing={1} alignItems="center" justifyContent="space-between">
        <Typography component="h2" sx={{ fontSize: 15, fontWeight: 600 }}>{headline}</Typography>
        {analyses.length > 1 && (
          <Select size="small" value={analysis ?? ""} inputProps={{ "aria-label": "Analysis" }} SelectDisplayProps={{ "aria-label": "Analysis" }}
            onChange={(event) => anew("beside", { sample, analysis: event.target.value })} sx={{ fontSize: 13, height: 28 }}>
            {analyses.map((key) => <MenuItem key={key} value={key} dense>{key}</MenuItem>)}
          </Select>
        )}
      </Stack>
      {queue && part.length > 0 && (
        <Typography sx={{ fontSize: 12.5 }}>
          Only disputes of {part.map((name) => plain(name)).join(" and ")} follow, as in Decide.{" "}
          <Button size="small" onClick={() => anew("everything", { run: queue.run, sample })} sx={{ ...FOCUS, py: 0 }}>All disputes</Button>
        </Typography>
      )}
      {queue && sample && <Here record={record} queue={queue} sample={sample} ask={ask} />}
    </Stack>
  );
}

type HereProps = { record: BesideRecord; queue: Queue; sample: string; ask: Ask };

function Here({ record, queue, sample, ask }: HereProps) {
  const { run, category, rater } = queue;
  const first = useRef(queue);
  if (first.current.run !== run || first.current.category !== category || first.current.rater !== rater) first.current = queue;
  const desk = useMemo(() => deskOf("beside", first.current, ask), [first.current, ask]);
  useDesk(desk);
  useEffect(() => {
    desk.open = (next, annotates = false) => void ask("open", { run, part: { category, rater }, sample: next, annotates });
  }, [desk, ask, run, category, rater]);
  useEffect(() => {
    desk.refresh(queue);
    desk.show(sample, queue.disputes);
  }, [desk, queue, sample]);
  const here = desk.here;
  const nothing = here.length ? `Every ${queue.unit} in dispute here is decided.` : `No ${queue.unit} is in dispute here.`;
  return (
    <>
      <Decider desk={desk} nothing={nothing} isBeside />
      <Box>
        <Button size="small" variant="outlined" onClick={() => void ask("following", { run, after: desk.scope ?? sample })} sx={FOCUS}>
          Next image with a dispute
        </Button>
      </Box>
      <Units record={record} desk={desk} ask={ask} sample={sample} />
    </>
  );
}

/** Table of the labels of each rater by unit; a click selects the labels in the image. */
function Units({ record: { rows, raters, note }, desk, ask, sample }: { record: BesideRecord; desk: Desk; ask: Ask; sample: string }) {
  const states = new Map(desk.here.map(({ id, state }) => [id, state]));
  const stateOf = (row: UnitRow) => (row.dispute === null ? "" : (states.get(row.dispute) ?? ""));
  const columns: Column<UnitRow>[] = [
    { key: "number", title: "#", show: (row) => [row.number, desk.queue.questions > 1 ? plain(row.question) : "", stateOf(row)].filter(Boolean).join(" "), by: (row) => row.number },
    ...raters.map((name, place) => ({
      key: name,
      title: plain(name),
      show: (row: UnitRow) => <CellText cell={row.cells[place]} />,
      by: (row: UnitRow) => row.cells[place]?.text ?? "",
    })),
  ];
  const choose = (row: UnitRow) => {
    void ask("select", { sample, labels: row.labels });
    if (row.dispute !== null) desk.look(row.dispute);
  };
  if (!rows.length) return null;
  return (
    <Box sx={{ overflowX: "auto" }}>
      <Typography color="text.secondary" sx={{ fontSize: 12 }}>
        Labels of each rater for each {desk.queue.unit}{rows.some(({ labels }) => labels.length) ? ": click a row to select the labels" : ""}. {note}
      </Typography>
      <Sortable label="Labels of each rater" rows={rows} columns={columns} keyOf={({ number }) => String(number)} onClick={choose} />
    </Box>
  );
}

function CellText({ cell }: { cell: Cell | undefined }) {
  if (!cell) return null;
  return (
    <>
      <Box component="bdi">{plain(cell.text)}</Box>
      {cell.found && (
        <Box component="span" sx={{ display: "block", fontSize: 11.5, color: "text.secondary", whiteSpace: "pre-line" }}>{cell.found}</Box>
      )}
    </>
  );
}
