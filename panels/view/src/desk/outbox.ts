/** Decisions to send, one per unit at a time; decisions are kept while the server does not respond. */
import { Lost } from "../ask";
import type { Answer, Dispute, Made, Wanted } from "./records";

export type Send = (dispute: Dispute, wanted: Wanted, when: string | null) => Promise<Answer>;

/** Callbacks for the outcome of a decision. */
export type Heard = {
  stored: (id: string, made: Made) => void;
  meanwhile: (id: string, now: Dispute | null) => void;
  refused: (id: string, problem: string) => void;
  changed: () => void;
};

type Entry = { dispute: Dispute; wanted: Wanted; isTried: boolean };

/** Delay in milliseconds before decisions are sent again. */
export const AGAIN = 4_000;

/** Timeout of an answer in milliseconds. */
export const PATIENCE = 30_000;

/** Delay in milliseconds before sending, so that the next dispute is drawn first. */
export const SOON = 50;

export class Outbox {
  /** Reason why nothing can be sent; empty without a problem. */
  lost = "";
  private readonly entries = new Map<string, Entry[]>();
  private readonly seen = new Map<string, string | null>();
  private readonly busy = new Set<string>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly send: Send, private readonly heard: Heard) {}

  /** Number of unsaved decisions. */
  get waiting(): number {
    return [...this.entries.values()].reduce((sum, { length }) => sum + length, 0);
  }

  isWaiting(id: string): boolean {
    return (this.entries.get(id) ?? []).length > 0;
  }

  put(dispute: Dispute, wanted: Wanted): void {
    const own = this.entries.get(dispute.id) ?? [];
    if (!own.length) this.seen.set(dispute.id, this.seen.get(dispute.id) ?? dispute.made?.when ?? null);
    this.entries.set(dispute.id, [...own, { dispute, wanted, isTried: false }]);
    setTimeout(() => void this.pump(dispute.id), SOON);
  }

  /** Remove the last decision about a unit, if it was never sent; return whether it was removed. */
  cancel(id: string): boolean {
    const own = this.entries.get(id) ?? [];
    if (own[own.length - 1]?.isTried !== false) return false;
    this.set(id, own.slice(0, -1));
    return true;
  }

  /** Record the time of a decision by someone else that is now shown. */
  saw(id: string, when: string | null): void {
    if (!this.isWaiting(id)) this.seen.set(id, when);
  }

  again(): void {
    clearTimeout(this.timer);
    this.lost = "";
    this.heard.changed();
    for (const id of this.entries.keys()) void this.pump(id);
  }

  private set(id: string, own: Entry[]): void {
    if (own.length) this.entries.set(id, own);
    else this.entries.delete(id);
  }

  private async pump(id: string): Promise<void> {
    const [entry] = this.entries.get(id) ?? [];
    if (!entry || this.busy.has(id) || this.lost) return;
    this.busy.add(id);
    entry.isTried = true;
    try {
      const answer = await inTime(this.send(entry.dispute, entry.wanted, this.seen.get(id) ?? null));
      this.take(id, answer);
    } catch (error) {
      this.fail(id, error as Error);
    }
    this.busy.delete(id);
    this.heard.changed();
    void this.pump(id);
  }

  private take(id: string, answer: Answer): void {
    if ("made" in answer) {
      this.set(id, (this.entries.get(id) ?? []).slice(1));
      this.seen.set(id, answer.made.when);
      this.heard.stored(id, answer.made);
    } else {
      this.entries.delete(id); // later decisions were made without knowing this one
      this.seen.set(id, answer.meanwhile?.made?.when ?? null);
      this.heard.meanwhile(id, answer.meanwhile);
    }
  }

  private fail(id: string, error: Error): void {
    if (error instanceof Lost) {
      this.lost = error.message;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.again(), AGAIN);
    } else {
      this.entries.delete(id);
      this.heard.refused(id, error.message);
    }
  }
}

function inTime<Value>(answer: Promise<Value>): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Lost("There is no answer")), PATIENCE);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
