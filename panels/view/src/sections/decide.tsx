import React, { useEffect, useMemo, useState } from "react";
import { useAsking } from "../ask";
import { Decider, useDesk } from "../desk/decider";
import { deskOf } from "../desk/desk";
import type { Queue } from "../desk/records";
import { countText, percentText, plain } from "../format";
import { Segmented } from "../look/segmented";
import { Sortable } from "../look/table";
import type { Column } from "../look/table";
import { FOCUS } from "../look/styles";
import { Alert, Box, Button, Stack, Typography } from "../mui";
import type { SectionProps } from "./section";

/** Records of `panels/data/decide.py`. */
export type DecideRecord = { queue: Queue; runs: [string, string][] };
type Trained = { run: string; rater: string; gave: string; decided: string; count: number; units: number; rate: number; labels: string[] };
type Question = { run: string; note: string; who: string; when: string; labels: string[] };
type Result = { operator: string; run: string; of: string; label: string; use: string };

/** Queue of disputes, one by one. */
export function Decide({ record, frame, filter, act }: SectionProps<DecideRecord>) {
  const ask = useAsking();
  const [queue, setQueue] = useState(record.queue);
  const [problem, setProblem] = useState("");
  const part = { category: record.queue.category, rater: record.queue.rater };
  const desk = useMemo(() => deskOf(frame.dataset, queue, ask), [frame.dataset, queue, ask]);
  useDesk(desk);
  useEffect(() => setQueue(record.queue), [record.queue]);
  useEffect(() => {
    desk.scope = null;
    desk.open = (sample, annotates = false) => void ask("open", { run: queue.run, sample, part, annotates });
    desk.refresh(queue);
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `part` is that of the queue
  }, [desk, queue, ask]);
  const choose = (run: string) => {
    const variations = run === record.queue.run ? record.queue.variations : null;
    ask<Queue>("queue", { run, variations, part }).then(setQueue).catch((error: Error) => setProblem(error.message));
  };
  const isAll = filter.category === null && filter.rater === null;
  const nothing = desk.counts.all
    ? `Every ${queue.unit} in dispute${isAll ? "" : " in this part"} is decided or waiting.`
    : `The raters agree about every ${queue.unit}: there is nothing to decide.`;
  return (
    <Stack spacing={0.5}>
      {record.runs.length > 1 && <Segmented label="Decide about" choices={record.runs} chosen={queue.run} onChoose={choose} />}
      {problem && <Alert severity="error" onClose={() => setProblem("")}>{problem}</Alert>}
      <Decider desk={desk} nothing={nothing} />
      <Stack direction="row" spacing={0.5} alignItems="center" flexWrap="wrap">
        <Typography color="text.secondary" sx={{ fontSize: 12 }}>In the grid:</Typography>
        {(["open", "waiting", "decided"] as const).map((state) => (
          <Button key={state} size="small" disabled={!desk.counts[state]} onClick={() => act("show", { run: queue.run, state })}
            sx={{ ...FOCUS, textTransform: "none", py: 0 }}>
            {countText(desk.counts[state])} {state}
          </Button>
        ))}
      </Stack>
    </Stack>
  );
}

const TRAINING: Column<Trained>[] = [
  { key: "rater", title: "Rater", show: (row) => row.rater, by: (row) => row.rater },
  { key: "gave", title: "Gave", show: (row) => row.gave, by: (row) => row.gave },
  { key: "decided", title: "Decided", show: (row) => row.decided, by: (row) => row.decided },
  { key: "count", title: "How often", show: (row) => `${countText(row.count)} of ${countText(row.units)}`, by: (row) => row.count, isNumber: true },
  { key: "rate", title: "Share", show: (row) => percentText(row.rate), by: (row) => row.rate, isNumber: true },
];

/** Labels of raters that were overruled by decisions. */
export function Training({ record, act }: SectionProps<Trained[]>) {
  if (!record.length) return <Typography>No rater was overruled yet.</Typography>;
  const show = ({ run, labels, rater, gave }: Trained) =>
    act("units", { run, labels, text: `images where ${rater} gave ${gave} and was overruled` });
  const keyOf = ({ run, rater, gave, decided }: Trained) => JSON.stringify([run, rater, gave, decided]);
  return <Sortable label="Overruled raters" rows={record} columns={TRAINING} keyOf={keyOf} onClick={show} />;
}

const QUESTIONS: Column<Question>[] = [
  { key: "note", title: "Question", show: ({ note }) => plain(note) || "no note", by: ({ note }) => note },
  { key: "who", title: "Asked by", show: ({ who }) => plain(who), by: ({ who }) => who },
  { key: "when", title: "When", show: ({ when }) => when, by: ({ when }) => when },
];

/** Questions about the annotation guideline. */
export function Guideline({ record: { rows, markdown }, act }: SectionProps<{ rows: Question[]; markdown: string }>) {
  if (!rows.length) {
    return <Typography>No questions yet. Decide a dispute as “The guideline must settle it” to ask one, with your note.</Typography>;
  }
  const keyOf = ({ labels, when }: Question) => `${labels.join(" ")} ${when}`;
  return (
    <Stack spacing={1}>
      <Sortable label="Questions about the guideline" rows={rows} columns={QUESTIONS} keyOf={keyOf}
        onClick={({ run, labels }) => act("open", { run, labels })} />
      <Box>
        <Button size="small" variant="outlined" onClick={() => void navigator.clipboard.writeText(markdown)} sx={FOCUS}>Copy as Markdown</Button>
      </Box>
      <Box component="pre" data-cy="markdown" sx={{ m: 0, fontSize: 12, whiteSpace: "pre-wrap", overflowWrap: "anywhere" }}>{markdown}</Box>
    </Stack>
  );
}

/** Next steps with the decisions: forms of operators. */
export function Results({ record, act }: SectionProps<Result[]>) {
  const isOne = new Set(record.map(({ run }) => run)).size === 1;
  return (
    <Stack spacing={1}>
      {record.map(({ operator, run, of, label, use }) => (
        <Box key={`${operator} ${run}`} sx={{ display: "grid", gridTemplateColumns: "190px minmax(0, 1fr)", gap: 1, alignItems: "center" }}>
          <Button variant="outlined" size="small" onClick={() => act("make", { operator, run })} sx={{ ...FOCUS, textTransform: "none" }}>{label}</Button>
          <Typography sx={{ fontSize: 13 }}>{isOne ? use : `${of}: ${use}`}</Typography>
        </Box>
      ))}
    </Stack>
  );
}
