/** Answer for the shown section: a known answer is shown at once, and asked for again in the background. */
import { useCallback, useEffect, useReducer, useRef, useState } from "react";
import type { Ask } from "./ask";
import { afterDecisions } from "./desk/desk";
import type { Filter, Frame, Listed, SectionAnswer } from "./records";

/** Key of an answer: the parts of the filter that apply to the section, and the view if the section follows it. */
export function keyOf(frame: Frame, section: Listed, filter: Filter, view: string): string {
  const parts = section.follows.map((part) => (part === "view" ? filter.follow && view : filter[part]));
  return JSON.stringify([frame.dataset, frame.analysis, section.name, parts]);
}

export type Shown = { key: string; answer?: SectionAnswer; problem?: string };

type Wanted = { frame: Frame | null; section: Listed | undefined; filter: Filter; view: string };

export function useAnswer(ask: Ask, { frame, section, filter, view }: Wanted) {
  const known = useRef(new Map<string, SectionAnswer>());
  /** Keys of the answers that `prepare` waits for. */
  const prepared = useRef(new Set<string>());
  const [problem, setProblem] = useState<Shown | null>(null);
  const [, drawAnew] = useReducer((number: number) => number + 1, 0);
  const [round, askAgain] = useReducer((number: number) => number + 1, 0);
  const keyFor = (one: Listed) => (frame ? keyOf(frame, one, filter, view) : "");
  const key = section ? keyFor(section) : "";
  /** Frame whose first answer was shown. */
  const taken = useRef<Frame | null>(null);
  const wanted = useRef(key);
  wanted.current = key;

  const put = useCallback((at: string, answer: SectionAnswer) => {
    const isSame = JSON.stringify(known.current.get(at)) === JSON.stringify(answer);
    known.current.set(at, answer);
    if (wanted.current !== at) return;
    setProblem(null);
    if (!isSame) drawAnew();
  }, []);
  const fetch = (at: string, one: Listed) =>
    ask<SectionAnswer>("section", { name: one.name, analysis: frame?.analysis, filter }).then((answer) => put(at, answer));

  useEffect(() => {
    if (!frame || !section) return;
    const { first } = frame;
    if (first?.name === section.name && taken.current !== frame && JSON.stringify(filter) === JSON.stringify(frame.filter)) {
      taken.current = frame;
      put(key, first);
      return;
    }
    fetch(key, section).catch((error: Error) => setProblem({ key, problem: error.message }));
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `key` contains all dependencies of the answer
  }, [key, round, ask]);

  /** Ask for the section under the pointer, which is probably opened next. */
  const prepare = (name: string) => {
    const one = frame?.sections.find((listed) => listed.name === name);
    const at = one ? keyFor(one) : "";
    if (!one || known.current.has(at) || prepared.current.has(at)) return;
    prepared.current.add(at);
    void fetch(at, one)
      .catch(() => undefined) // asked again when the section is opened, which shows the error
      .finally(() => prepared.current.delete(at));
  };

  /** Drop known answers; the shown answer stays until the new one arrives. */
  const forget = useCallback(() => {
    const shown = known.current.get(wanted.current);
    known.current.clear();
    if (shown) known.current.set(wanted.current, shown);
    askAgain();
  }, []);
  useEffect(() => afterDecisions(forget), [forget]);
  const answer = known.current.get(key);
  return { shown: problem?.key === key ? problem : answer ? { key, answer } : null, prepare, forget };
}
