import { describe, expect, it } from "vitest";
import { makeAsk } from "../src/ask";
import type { Trigger } from "../src/ask";
import type { Answered } from "@fiftyone/operators";

type Sent = { address: string; params?: object; done: (answered: Answered) => unknown };

function asking() {
  const sent: Sent[] = [];
  const trigger: Trigger = (address, params, _prompt, done) => {
    sent.push({ address, params, done: done ?? (() => undefined) });
  };
  return { sent, ask: makeAsk(() => trigger, { section: "raters#section", decide: "raters#decide" }) };
}

const soon = () => new Promise((resolve) => setTimeout(resolve));

describe("a question", () => {
  it("is sent to its address and answered with what the method returns", async () => {
    const { sent, ask } = asking();
    const answer = ask("section", { name: "Overview" });
    expect(sent.map(({ address, params }) => [address, params])).toEqual([["raters#section", { name: "Overview" }]]);
    expect(sent[0]?.done({ result: { alpha: 0.5 } })).toBe(false);
    expect(await answer).toEqual({ alpha: 0.5 });
  });
  it("fails in the words of Python, and never throws at the App", async () => {
    const { sent, ask } = asking();
    const refused = ask("section");
    expect(sent[0]?.done({ result: { problem: "run 'a': its result is gone" } })).toBe(false);
    await expect(refused).rejects.toThrow("run 'a': its result is gone");
    const lost = ask("section");
    expect(sent[1]?.done({ error: "Failed to fetch" })).toBe(false);
    await expect(lost).rejects.toThrow("Failed to fetch");
    await expect(ask("other")).rejects.toThrow("no answer to other");
  });
  it("waits for the one before it of the same unit, whatever becomes of that, and for no other", async () => {
    const { sent, ask } = asking();
    const first = ask("decide", { n: 1 }, "unit");
    const second = ask("decide", { n: 2 }, "unit");
    void ask("decide", { n: 3 }, "another");
    await soon();
    expect(sent.map(({ params }) => params)).toEqual([{ n: 1 }, { n: 3 }]);
    sent[0]?.done({ error: "lost" });
    await expect(first).rejects.toThrow("lost");
    await soon();
    expect(sent[2]?.params).toEqual({ n: 2 });
    sent[2]?.done({ result: 2 });
    expect(await second).toBe(2);
  });
});
