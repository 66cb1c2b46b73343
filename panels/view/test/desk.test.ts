import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Lost, Problem } from "../src/ask";
import type { Ask } from "../src/ask";
import { Desk, LOW } from "../src/desk/desk";
import { AGAIN, PATIENCE, SOON } from "../src/desk/outbox";
import type { Dispute, Queue } from "../src/desk/records";

function dispute(id: string, sample = `sample-${id}`): Dispute {
  return {
    id, sample, labels: [id], units: 1, question: "", file: `${id}.jpg`, path: `/${id}.jpg`, size: [9, 9], alpha: 0,
    given: [], outlines: [], decisions: [], state: "open", made: null, fits: true,
  };
}

function queueOf(disputes: Dispute[]): Queue {
  const counts = { all: disputes.length, decided: 0, waiting: 0, open: disputes.length };
  return {
    run: "first", kind: "agreement", unit: "unit", measure: "alpha", variations: null, category: null, rater: null,
    raters: [["ann", "#000"]], words: {}, options: {}, questions: 1, counts, disputes,
  };
}

const by = (decision: string, rater: string | null = null) => ({ decision, rater, category: null, note: "", who: "" });

type Sent = { name: string; params: Record<string, unknown>; answer: (value: unknown) => void; fail: (error: Error) => void };

/** A desk whose questions a test answers itself. */
function desk(...ids: string[]) {
  const sent: Sent[] = [];
  const ask = ((name: string, params: Record<string, unknown>) =>
    new Promise<unknown>((answer, fail) => { sent.push({ name, params, answer, fail }); })) as Ask;
  const made = new Desk(queueOf(ids.map((id) => dispute(id))), ask);
  const decisions = () => sent.filter(({ name }) => name === "decide");
  return { desk: made, sent, decisions };
}

/** What Python answers to a decision. */
const stored = ({ params }: Sent, when: string) =>
  ({ made: { decision: params.decision, rater: params.rater, category: params.category, note: params.note, who: params.who, when } });

const soon = () => vi.advanceTimersByTimeAsync(SOON);

beforeEach(() => { vi.useFakeTimers(); });
afterEach(() => { vi.useRealTimers(); });

describe("a decision", () => {
  it("shows the next one before it is stored, and says what was seen", async () => {
    const { desk: work, decisions } = desk("1", "2");
    work.choose(by("take", "ann"));
    await soon();
    expect(work.now?.id).toBe("2");
    expect(work.counts).toEqual({ all: 2, decided: 1, waiting: 0, open: 1 });
    expect(work.outbox.waiting).toBe(1);
    const [first] = decisions();
    expect(first?.params).toMatchObject({ run: "first", sample: "sample-1", labels: ["1"], decision: "take", rater: "ann", when: null });
    if (first) first.answer(stored(first, "T1"));
    await soon();
    expect(work.outbox.waiting).toBe(0);
    expect(work.disputes[0]?.made?.when).toBe("T1");
  });
  it("of another unit does not wait; one of the same unit does, and knows the one before", async () => {
    const { desk: work, decisions } = desk("1", "2");
    work.choose(by("none"));
    await soon();
    work.choose(by("both"));
    await soon();
    work.move(-1);
    work.look("1");
    work.choose(by("guideline"));
    await soon();
    expect(decisions().map(({ params }) => params.decision)).toEqual(["none", "both"]);
    const [first] = decisions();
    if (first) first.answer(stored(first, "T1"));
    await soon();
    expect(decisions()[2]?.params).toMatchObject({ decision: "guideline", when: "T1" });
    expect(work.counts).toEqual({ all: 2, decided: 1, waiting: 1, open: 0 });
  });
  it("that only skips is not sent; what was skipped comes again at the end", () => {
    const { desk: work, sent } = desk("1", "2");
    work.isEnded = true;
    work.choose(by("skip"));
    expect([work.now?.id, sent.length]).toEqual(["2", 0]);
    work.choose(by("skip"));
    expect(work.now?.id).toBe("1");
  });
});

describe("undo", () => {
  it("goes back any number of steps, and waits for the decision in flight that it takes back", async () => {
    const { desk: work, decisions } = desk("1", "2", "3");
    work.choose(by("none"));
    await soon();
    work.choose(by("both"));
    await soon();
    work.undo();
    work.undo();
    expect([work.now?.id, work.counts.open, work.done.length]).toEqual(["1", 3, 0]);
    expect(decisions().length).toBe(2);
    for (const [number, one] of [...decisions()].entries()) one.answer(stored(one, `T${number}`));
    await soon();
    expect(decisions().slice(2).map(({ params }) => [params.decision, params.when])).toEqual([["skip", "T0"], ["skip", "T1"]]);
    work.undo();
    expect(work.now?.id).toBe("1");
  });
  it("restores what a decision replaced", async () => {
    const { desk: work, decisions } = desk("1");
    work.disputes[0] = { ...dispute("1"), state: "decided", made: { ...by("take", "ann"), when: "T0" } };
    work.choose(by("none"));
    await soon();
    const [first] = decisions();
    expect(first?.params.when).toBe("T0");
    if (first) first.answer(stored(first, "T1"));
    await soon();
    work.undo();
    await soon();
    expect(decisions()[1]?.params).toMatchObject({ decision: "take", rater: "ann", when: "T1" });
    expect(work.now?.state).toBe("decided");
  });
  it("of what was never sent sends nothing", async () => {
    const { desk: work, decisions } = desk("1", "2");
    work.choose(by("none"));
    await soon();
    decisions()[0]?.fail(new Lost("Failed to fetch"));
    await soon();
    work.choose(by("both"));
    await soon();
    expect(decisions().length).toBe(1); // nothing is sent while nobody answers
    work.undo();
    expect([work.now?.id, work.outbox.waiting]).toEqual(["2", 1]);
  });
});

describe("a server", () => {
  it("that is lost keeps nothing back: it is said, and sent again", async () => {
    const { desk: work, decisions } = desk("1", "2");
    work.choose(by("none"));
    await soon();
    decisions()[0]?.fail(new Lost("Failed to fetch"));
    await soon();
    expect([work.outbox.lost, work.outbox.waiting, work.now?.id]).toEqual(["Failed to fetch", 1, "2"]);
    await vi.advanceTimersByTimeAsync(AGAIN);
    expect(work.outbox.lost).toBe("");
    const again = decisions()[1];
    expect(again?.params).toMatchObject({ decision: "none", when: null });
    if (again) again.answer(stored(again, "T1"));
    await soon();
    expect(work.outbox.waiting).toBe(0);
  });
  it("that never answers is lost, too", async () => {
    const { desk: work } = desk("1");
    work.choose(by("none"));
    await soon();
    await vi.advanceTimersByTimeAsync(PATIENCE);
    expect([work.outbox.lost, work.outbox.waiting]).toEqual(["There is no answer", 1]);
  });
  it("that refuses is shown, and the unit is open again", async () => {
    const { desk: work, decisions } = desk("1", "2");
    work.choose(by("none"));
    await soon();
    decisions()[0]?.fail(new Problem("run 'first' is gone"));
    await soon();
    expect(work.notices).toEqual([{ id: "1", text: "This decision was not stored: run 'first' is gone" }]);
    expect([work.outbox.waiting, work.disputes[0]?.state, work.counts.open, work.done.length]).toEqual([0, "open", 2, 0]);
    work.look("1");
    expect([work.now?.id, work.notices.length]).toEqual(["1", 0]);
  });
});

describe("somebody else's decision", () => {
  const theirs = { ...dispute("1"), state: "decided" as const, made: { ...by("take", "bob"), who: "dan", when: "T9" } };

  it("stands, is shown, and can be replaced with open eyes", async () => {
    const { desk: work, decisions } = desk("1", "2");
    work.choose(by("none"));
    await soon();
    decisions()[0]?.answer({ meanwhile: theirs });
    await soon();
    expect(work.disputes[0]?.made?.who).toBe("dan");
    expect([work.notices.length, work.done.length, work.now?.id, work.counts.decided]).toEqual([1, 0, "2", 1]);
    work.look("1");
    work.choose(by("none"));
    await soon();
    expect(decisions()[1]?.params.when).toBe("T9");
  });
  it("comes with a later answer, unless one's own is on its way", async () => {
    const { desk: work } = desk("1", "2");
    work.choose(by("none"));
    await soon();
    work.take([theirs]);
    expect(work.disputes[0]?.made?.who).toBe("");
    const { desk: other } = desk("1", "2");
    other.take([theirs]);
    other.take([dispute("1")]); // an older answer
    expect(other.disputes[0]?.made?.who).toBe("dan");
  });
});

describe("more disputes", () => {
  it("are asked for behind the last sample before they are needed, once", async () => {
    const { desk: work, sent } = desk("1", "2");
    work.refresh(work.queue);
    work.refresh(work.queue);
    await soon();
    expect(sent.map(({ name, params }) => [name, params.after])).toEqual([["disputes", "sample-2"]]);
    const many = Array.from({ length: LOW }, (_, number) => dispute(`more-${number}`));
    sent[0]?.answer({ disputes: many, counts: { all: 40, decided: 0, waiting: 0, open: 40 } });
    await soon();
    expect([work.disputes.length, work.counts.all, sent.length]).toEqual([2 + LOW, 40, 1]);
    expect(work.ahead(2)).toEqual(["/2.jpg", "/more-0.jpg"]);
  });
  it("come as soon as they are there where none was left", async () => {
    const { desk: work, sent } = desk("1");
    work.choose(by("none"));
    await soon();
    expect(work.now).toBeUndefined();
    sent.find(({ name }) => name === "disputes")?.answer({ disputes: [dispute("2")], counts: work.counts });
    await soon();
    expect(work.now?.id).toBe("2");
  });
  it("end, and then those that were skipped come again", async () => {
    const { desk: work, sent } = desk("1");
    work.choose(by("skip"));
    await soon();
    expect(work.now).toBeUndefined();
    sent[0]?.answer({ disputes: [], counts: work.counts });
    await soon();
    expect([work.isEnded, work.now?.id]).toEqual([true, "1"]);
  });
});

describe("beside an open sample", () => {
  it("its disputes come first, then another sample is opened; undo comes back", () => {
    const opened: string[] = [];
    const { desk: work } = desk("1");
    work.open = (sample) => opened.push(sample);
    work.isEnded = true;
    work.take([dispute("2", "b"), dispute("3", "a")]);
    work.show("a", [dispute("4", "a")]);
    expect(work.now?.id).toBe("3");
    work.choose(by("none"));
    expect([work.now?.id, opened]).toEqual(["4", []]);
    work.choose(by("none"));
    expect(work.scope).toBe(work.now?.sample);
    expect(opened).toEqual([work.scope]);
    work.undo();
    expect([work.now?.id, work.scope, opened[1]]).toEqual(["4", "a", "a"]);
    expect(work.here.map(({ id }) => id)).toEqual(["3", "4"]);
    expect([work.move(1), work.move(-1), work.now?.id]).toEqual([false, true, "3"]);
  });
});
