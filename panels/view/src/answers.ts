/** The answer for the section that is shown: at once where it was asked before, and asked again behind. */
import { useCallback, useEffect, useRef, useState } from "react";
import type { Ask } from "./ask";
import { afterDecisions } from "./desk/desk";
import type { Filter, Frame, Listed, SectionAnswer } from "./records";

/** What an answer depends on: the parts of the filter that a section heeds, and the view where it follows it. */
export function keyOf(frame: Frame, section: Listed, filter: Filter, view: string): string {
  const parts = section.follows.map((part) => (part === "view" ? filter.follow && view : filter[part]));
  return JSON.stringify([frame.dataset, frame.analysis, section.name, parts]);
}

export type Shown = { key: string; answer?: SectionAnswer; problem?: string };

type Wanted = { frame: Frame | null; section: Listed | undefined; filter: Filter; view: string };

export function useAnswer(ask: Ask, { frame, section, filter, view }: Wanted) {
  const known = useRef(new Map<string, SectionAnswer>());
  const [shown, setShown] = useState<Shown | null>(null);
  const [round, setRound] = useState(0);
  const key = frame && section ? keyOf(frame, section, filter, view) : "";
  /** The frame whose first answer was shown. */
  const taken = useRef<Frame | null>(null);
  const wanted = useRef(key);
  wanted.current = key;

  const put = useCallback((at: string, answer: SectionAnswer) => {
    known.current.set(at, answer);
    if (wanted.current === at) setShown({ key: at, answer });
  }, []);

  useEffect(() => {
    if (!frame || !section) return;
    const { first } = frame;
    if (first?.name === section.name && taken.current !== frame && JSON.stringify(filter) === JSON.stringify(frame.filter)) {
      taken.current = frame;
      put(key, first);
      return;
    }
    const before = known.current.get(key);
    if (before) setShown({ key, answer: before });
    ask<SectionAnswer>("section", { name: section.name, analysis: frame.analysis, filter })
      .then((answer) => put(key, answer))
      .catch((error: Error) => {
        if (wanted.current === key) setShown({ key, problem: error.message });
      });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- `key` stands for all that the answer depends on
  }, [key, round, ask]);

  /** What was asked before is not true any more. */
  const forget = useCallback(() => {
    known.current.clear();
    setRound((number) => number + 1);
  }, []);
  useEffect(() => afterDecisions(forget), [forget]);
  return { shown: shown?.key === key ? shown : null, key, put, forget };
}
