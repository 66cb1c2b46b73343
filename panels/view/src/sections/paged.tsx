/** Sections of several pages: `panels/data/paged.py`. */
import React, { useEffect, useRef, useState } from "react";
import type { ReactNode } from "react";
import { useAsking } from "../ask";
import { plain } from "../format";
import { Segmented } from "../look/segmented";
import { Alert, Box, Stack } from "../mui";
import type { SectionAnswer } from "../records";
import { Changed, Invited } from "./around";
import type { Choice, SectionProps } from "./section";

export type Shown<Page extends string, Record> = { pages: Page[]; page: Page; shown: Record };
type AnyPage = Shown<string, unknown>;

/** Additional props of a page. */
export type Chooses = {
  /** Ask again with a further choice. */
  choose: (next: Choice) => void;
};

/** Record of a section for the current choices; a known answer is shown at once. */
function useGiven<Sent extends AnyPage>(section: string, { record, frame, filter, pages }: SectionProps<Sent>) {
  const ask = useAsking();
  const at = JSON.stringify([frame.dataset, frame.analysis, section]);
  const [given, setGiven] = useState<Choice | null>(pages.get(at)?.given ?? null); // null: nothing is chosen
  const [answer, setAnswer] = useState<SectionAnswer | null>(pages.get(at)?.answer ?? null);
  const [problem, setProblem] = useState("");
  const latest = useRef(0);
  useEffect(() => {
    latest.current += 1;
    const own = latest.current;
    if (!given) return;
    ask<SectionAnswer>("section", { name: section, analysis: frame.analysis, filter, given })
      .then((found) => {
        if (own !== latest.current) return;
        setAnswer(found);
        setProblem("");
        pages.set(at, { given, answer: found });
      })
      .catch((error: Error) => {
        if (own === latest.current) setProblem(error.message);
      });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `record` is new when the analysis, the filter or the run is
  }, [given, record]);
  const choose = (next: Choice) => setGiven((before) => ({ ...before, ...next }));
  return { answer, given, problem, choose };
}

type PagedProps<Sent> = {
  section: string;
  of: SectionProps<Sent>;
  children: (props: SectionProps<Sent> & Chooses) => ReactNode;
};

/** Bar with the pages of a section, and the chosen page. */
export function Paged<Sent extends AnyPage>({ section, of, children }: PagedProps<Sent>) {
  const { answer, given, problem, choose } = useGiven(section, of);
  const record = answer?.record ? (answer.record as Sent) : of.record;
  const { pages } = record;
  const page = typeof given?.page === "string" ? given.page : record.page;
  return (
    <Stack spacing={1}>
      {pages.length > 1 && (
        <Box>
          <Segmented label={`Pages of ${section}`} chosen={page} onChoose={(next) => choose({ page: next })}
            choices={pages.map((one) => [one, one] as const)} />
        </Box>
      )}
      {problem && <Alert severity="error" sx={{ py: 0, whiteSpace: "pre-line" }}>{problem}</Alert>}
      {answer && <Changed changed={answer.changed} />}
      {answer?.invitation ? <Invited {...answer.invitation} /> : <Box>{children({ ...of, record, choose })}</Box>}
    </Stack>
  );
}

/** Return names as entries of a menu. */
export function entriesOf(names: readonly string[]): (readonly [string, string])[] {
  return names.map((name) => [name, plain(name)] as const);
}
