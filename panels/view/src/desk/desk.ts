/** State of deciding: the disputes in order, the current one, the decisions made, and undo. */
import type { Ask } from "../ask";
import { Outbox, SOON } from "./outbox";
import type { Answer, Counts, Dispute, Made, Queue, State, Wanted } from "./records";

/** Fewer open disputes ahead than this trigger a request for more. */
export const LOW = 12;

/** Delay in milliseconds before disputes are requested again after a failure. */
const AGAIN = 4_000;

/** State of a unit after a decision; "decided" after all other decisions. */
const STATES: Record<string, State> = { skip: "open", guideline: "waiting" };

type Done = { id: string; state: State; made: Made | null; isSent: boolean };
export type Notice = { id: string; text: string };

export class Desk {
  disputes: Dispute[] = [];
  place = 0;
  counts: Counts;
  done: Done[] = [];
  notices: Notice[] = [];
  /** Id of the open sample, whose disputes are shown until all are decided; null in the section. */
  scope: string | null = null;
  /** Whether the queue is read completely. */
  isEnded = false;
  version = 0;
  readonly outbox: Outbox;
  private cursor: string | null;
  private isAsking = false;
  /** Whether the next dispute is shown as soon as it arrives. */
  private isHungry = false;
  private readonly answered = new WeakSet<Queue>();
  private readonly listeners = new Set<() => void>();
  /** Questions of the open panel to Python. */
  ask: Ask;
  /** Opens a sample; next to an open sample, the next or undone dispute may be on another one. */
  open: (sample: string, annotates?: boolean) => void = () => undefined;

  constructor(readonly queue: Queue, ask: Ask) {
    this.ask = ask;
    this.counts = queue.counts;
    this.cursor = queue.disputes[queue.disputes.length - 1]?.sample ?? null;
    this.outbox = new Outbox((dispute, wanted, when) => this.send(dispute, wanted, when), {
      stored: (id, made) => this.stored(id, made),
      meanwhile: (id, now) => this.meanwhile(id, now),
      refused: (id, problem) => this.refused(id, problem),
      changed: () => this.change(),
    });
    this.disputes = [...queue.disputes];
    this.answered.add(queue);
  }

  /** Take a new answer of Python: counts, and decisions of others. */
  refresh(queue: Queue): void {
    if (!this.answered.has(queue) && !this.outbox.waiting) this.counts = queue.counts;
    const isKnown = this.answered.has(queue);
    this.answered.add(queue);
    this.take(isKnown ? [] : queue.disputes);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  get now(): Dispute | undefined {
    return this.disputes[this.place];
  }

  /** Disputes of the open sample, or all of them. */
  get here(): Dispute[] {
    return this.disputes.filter((one) => this.isHere(one));
  }

  /** Return the images that are shown next. */
  ahead(count: number): string[] {
    const next = this.disputes.slice(this.place + 1).filter(isOpen);
    return [...new Set(next.map(({ path }) => path))].slice(0, count);
  }

  /** Append new disputes, and update known ones if their decision is later. */
  take(disputes: readonly Dispute[]): void {
    const places = new Map(this.disputes.map(({ id }, place) => [id, place]));
    for (const dispute of disputes) {
      const place = places.get(dispute.id);
      if (place === undefined) this.disputes.push(dispute);
      else this.update(place, dispute);
    }
    this.change();
  }

  /** Show the disputes of a sample that was opened. */
  show(sample: string, disputes: readonly Dispute[]): void {
    const isNew = this.scope !== sample;
    this.scope = sample;
    this.cursor ??= sample;
    this.isHungry = false;
    this.take(disputes);
    const here = this.disputes.map((one, place) => ({ one, place })).filter(({ one }) => one.sample === sample);
    const isWithin = here.some(({ place }) => place === this.place);
    if (!isNew && isWithin) return;
    const first = here.find(({ one }) => isOpen(one) && one.fits) ?? here.find(({ one }) => isOpen(one)) ?? here[0];
    this.place = first?.place ?? this.disputes.length;
    this.change();
  }

  choose(wanted: Wanted): void {
    const now = this.now;
    if (!now || !now.labels.length) return;
    const isSent = wanted.decision !== "skip" || wanted.note !== "" || now.state !== "open";
    this.done.push({ id: now.id, state: now.state, made: now.made, isSent });
    if (isSent) {
      this.outbox.put(now, wanted);
      this.set(this.place, STATES[wanted.decision] ?? "decided", { ...wanted, when: null });
    }
    this.next(this.place + 1);
  }

  undo(): void {
    const last = this.done.pop();
    if (!last) return;
    const place = this.placeOf(last.id);
    const dispute = this.disputes[place];
    if (!dispute) return;
    if (last.isSent && !this.outbox.cancel(last.id)) this.outbox.put(dispute, back(last.made));
    this.set(place, last.state, last.made);
    this.goTo(place);
  }

  move(by: number): boolean {
    const places = this.disputes.map((one, place) => (this.isHere(one) ? place : -1)).filter((place) => place >= 0);
    const next = places[Math.min(places.indexOf(this.place), places.length) + by];
    if (next === undefined) return false;
    this.place = next;
    this.change();
    return true;
  }

  /** Go to a dispute, also on another sample. */
  look(id: string): void {
    this.dismiss(id);
    if (this.placeOf(id) >= 0) this.goTo(this.placeOf(id));
  }

  dismiss(id: string): void {
    this.notices = this.notices.filter((notice) => notice.id !== id);
    this.change();
  }

  private isHere(one: Dispute): boolean {
    return this.scope === null || one.sample === this.scope;
  }

  private placeOf(id: string): number {
    return this.disputes.findIndex((one) => one.id === id);
  }

  private goTo(place: number): void {
    this.place = place;
    const sample = this.now?.sample ?? null;
    if (this.scope !== null && sample !== null && sample !== this.scope) {
      this.scope = sample;
      this.open(sample);
    }
    this.change();
  }

  /** Go to the next open dispute: of this sample, then later ones, then from the beginning once the queue is complete. */
  private next(from: number): void {
    const places = this.disputes.map((_, place) => place);
    const order = [...places.slice(from), ...places.slice(0, from)];
    const isNext = (place: number) => isOpen(this.disputes[place]) && this.disputes[place]?.fits;
    const within = order.find((place) => this.scope !== null && isNext(place) && this.disputes[place]?.sample === this.scope);
    const found = within ?? order.find((place) => isNext(place) && (place >= from || this.isEnded));
    this.isHungry = found === undefined && !this.isEnded;
    this.goTo(found ?? this.disputes.length);
  }

  private set(place: number, state: State, made: Made | null): void {
    const before = this.disputes[place];
    if (!before) return;
    this.counts = { ...this.counts };
    this.counts[before.state] -= 1;
    this.counts[state] += 1;
    this.disputes[place] = { ...before, state, made };
  }

  private update(place: number, dispute: Dispute): void {
    const known = this.disputes[place];
    if (!known || this.outbox.isWaiting(known.id) || (dispute.made?.when ?? "") < (known.made?.when ?? "")) return;
    this.disputes[place] = dispute;
    this.outbox.saw(dispute.id, dispute.made?.when ?? null);
  }

  private send(dispute: Dispute, wanted: Wanted, when: string | null): Promise<Answer> {
    const { sample, labels } = dispute;
    return this.ask<Answer>("decide", { ...this.part(), sample, labels, ...wanted, when });
  }

  private part() {
    const { run, variations, category, rater } = this.queue;
    return { run, variations, part: { category, rater } };
  }

  private stored(id: string, made: Made): void {
    const place = this.placeOf(id);
    const dispute = this.disputes[place];
    if (this.scope !== null) isNews = true;
    if (dispute && !this.outbox.isWaiting(id)) this.disputes[place] = { ...dispute, made };
  }

  private meanwhile(id: string, now: Dispute | null): void {
    this.done = this.done.filter((one) => one.id !== id);
    const place = this.placeOf(id);
    if (now && place >= 0) {
      this.set(place, now.state, now.made);
      this.disputes[place] = now;
    }
    this.note(id, `Another user decided this ${this.queue.unit} in the meantime; that decision was kept.`);
  }

  private refused(id: string, problem: string): void {
    const first = this.done.find((one) => one.id === id);
    this.done = this.done.filter((one) => one.id !== id);
    if (first) this.set(this.placeOf(id), first.state, first.made);
    this.note(id, `This decision was not stored: ${problem}`);
  }

  private note(id: string, text: string): void {
    this.notices = [...this.notices.filter((notice) => notice.id !== id), { id, text }];
  }

  private change(): void {
    this.version += 1;
    for (const listener of this.listeners) listener();
    setTimeout(() => this.fill(), SOON);
  }

  /** Request more disputes before the known ones are used up. */
  private fill(): void {
    const left = this.disputes.slice(this.place).filter(isOpen).length;
    if (this.isEnded || this.isAsking || left >= LOW || !this.cursor) {
      this.isEnded ||= !this.cursor;
      return;
    }
    this.isAsking = true;
    this.ask<{ disputes: Dispute[]; counts: Counts }>("disputes", { ...this.part(), after: this.cursor })
      .then(({ disputes, counts }) => {
        this.isAsking = false;
        this.isEnded = !disputes.length;
        this.cursor = disputes[disputes.length - 1]?.sample ?? this.cursor;
        if (!this.outbox.waiting) this.counts = counts;
        this.take(disputes);
        if (this.isHungry) this.next(this.place);
      })
      .catch(() => setTimeout(() => { this.isAsking = false; this.fill(); }, AGAIN));
  }
}

function isOpen(dispute: Dispute | undefined): boolean {
  return dispute?.state === "open" && dispute.labels.length > 0;
}

/** Return the decision that undoes another: the previous one, or "skip". */
function back(made: Made | null): Wanted {
  const { decision, rater, category, note, who } = made ?? { decision: "skip", rater: null, category: null, note: "", who: "" };
  return { decision, rater, category, note, who };
}

/** Whether a decision was stored next to a sample and not yet reported to other panels. */
let isNews = false;
const HEARING = new Set<() => void>();

/** Register a function that is called when a sample with new decisions is closed. */
export function afterDecisions(hear: () => void): () => void {
  HEARING.add(hear);
  return () => HEARING.delete(hear);
}

/** Report decisions after the sample is closed. */
export function tellDecisions(): void {
  if (isNews) for (const hear of HEARING) hear();
  isNews = false;
}

const DESKS = new Map<string, Desk>();

/** Return the desk of a part of a queue; unsaved decisions and undo are kept when panels change. */
export function deskOf(key: string, queue: Queue, ask: Ask): Desk {
  const name = JSON.stringify([key, queue.run, queue.category, queue.rater]);
  const desk = DESKS.get(name) ?? new Desk(queue, ask);
  DESKS.set(name, desk);
  desk.ask = ask;
  return desk;
}

/** Return the number of unsaved decisions of all desks. */
export function unsent(): number {
  return [...DESKS.values()].reduce((sum, { outbox }) => sum + outbox.waiting, 0);
}
