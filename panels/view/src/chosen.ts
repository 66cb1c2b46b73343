/** What is chosen in a panel: at once in React's own state, a little later in that of the panel. */
import { useEffect, useRef, useState } from "react";
import { usePanelStatePartial } from "./app";
import type { Filter } from "./records";

export type Chosen = { analysis: string | null; section: string | null; filter: Filter };

/** What the panel's state holds: it lives in the session's layout, and survives moving and loading anew. */
type Kept = { chosen?: Chosen };

/** Milliseconds: writing the panel's state draws the App anew, which a click does not wait for. */
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
