/** State of a panel: kept in React's state at once, and in the panel's state with a short delay. */
import { useEffect, useRef, useState } from "react";
import { usePanelStatePartial } from "./app";
import type { Filter } from "./records";

export type Chosen = { analysis: string | null; section: string | null; filter: Filter };

/** The panel's state; it is part of the session's layout, and survives moving the panel and reloading the page. */
type Kept = { chosen?: Chosen };

/** Delay in milliseconds, because writing the panel's state redraws the App. */
const LATER = 400;

export function useChosen(first: Chosen): [Chosen, (next: Partial<Chosen>) => void] {
  const [kept, keep] = usePanelStatePartial<Kept>("state", {});
  const [chosen, setChosen] = useState<Chosen>({ ...first, ...(kept.chosen ?? {}) });
  const timer = useRef(0);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const choose = (next: Partial<Chosen>) => {
    setChosen((before) => {
      const after = { ...before, ...next };
      window.clearTimeout(timer.current);
      timer.current = window.setTimeout(() => keep((all) => ({ ...all, chosen: after })), LATER);
      return after;
    });
  };
  return [chosen, choose];
}
