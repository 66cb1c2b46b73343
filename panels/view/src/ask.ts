/** Questions to Python: `ask("section", {...})` resolves to the result of the panel's method `section`. */
import { createContext, useContext, useMemo, useRef } from "react";
import { useTriggerPanelEvent } from "./app";
import type { Answered } from "./app";

export type Trigger = (address: string, params?: object, prompt?: boolean, done?: (answered: Answered) => unknown) => void;

/** Questions with the same `inTurn` are sent one after the other, so that an undo cannot overtake its decision. */
export type Ask = <Answer>(name: string, params?: object, inTurn?: string) => Promise<Answer>;

/** Error reported by Python as `{"problem": ...}` in place of an answer. */
export class Problem extends Error {}

/** Error without an answer: it is unknown whether Python received the question. */
export class Lost extends Problem {}

function answerOf<Answer>({ result, error, errorMessage }: Answered): Answer {
  if (error) throw new Lost(errorMessage ?? String(error));
  const problem = (result as { problem?: unknown } | null | undefined)?.problem;
  if (typeof problem === "string") throw new Problem(problem);
  return result as Answer;
}

/** `latest` returns the App's current trigger, whose identity changes with every render. */
export function makeAsk(latest: () => Trigger, addresses: Record<string, string>): Ask {
  const last = new Map<string, Promise<unknown>>();
  const send = <Answer>(name: string, params: object) =>
    new Promise<Answer>((resolve, reject) => {
      const address = addresses[name];
      if (!address) throw new Problem(`The panel has no answer to ${name}`);
      latest()(address, params, false, (answered) => {
        try {
          resolve(answerOf<Answer>(answered));
        } catch (problem) {
          reject(problem as Problem);
        }
        return false; // else the App throws while rendering, and shows a traceback instead of the panel
      });
    });
  return <Answer>(name: string, params: object = {}, inTurn?: string) => {
    if (!inTurn) return send<Answer>(name, params);
    const before = last.get(inTurn) ?? Promise.resolve();
    const next = before.then(() => send<Answer>(name, params), () => send<Answer>(name, params));
    last.set(inTurn, next);
    return next;
  };
}

export function useAsk(addresses: Record<string, string>): Ask {
  const trigger = useTriggerPanelEvent();
  const latest = useRef<Trigger>(trigger);
  latest.current = trigger;
  const key = JSON.stringify(addresses);
  return useMemo(() => makeAsk(() => latest.current, JSON.parse(key) as Record<string, string>), [key]);
}

export const AskContext = createContext<Ask>(() => Promise.reject(new Problem("No panel is open")));

export function useAsking(): Ask {
  return useContext(AskContext);
}
