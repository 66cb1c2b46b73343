import { describe, expect, it } from "vitest";
import { choicesOf, typedLabels } from "../src/desk/choices";
import type { Dispute, Queue } from "../src/desk/records";

const QUEUE: Queue = {
  run: "first", kind: "image_labels", unit: "question", measure: "agreement", variations: null, category: null, rater: null,
  raters: [["ann", "#000"], ["bob", "#fff"]], words: { label: "Another label is right", none: "No label is right" },
  options: { animal: ["cat", "dog", "owl"] }, questions: 1, counts: { all: 1, decided: 0, waiting: 0, open: 1 }, disputes: [],
};
const given = (rater: string, text: string) => ({ rater, text, found: "", is_against: true });
const DISPUTE: Dispute = {
  id: "0", sample: "s", labels: ["1"], units: 1, question: "animal", file: "a.jpg", path: "/a.jpg", size: [9, 9], alpha: 0,
  given: [given("ann", "cat"), given("bob", "dog")], outlines: [], decisions: ["take", "label", "none"], state: "open", made: null,
  fits: true,
};
const keys = (dispute: Dispute, queue: Queue) => choicesOf(dispute, queue).map(({ key, text, category }) => [key, text, category]);

describe("labels that no rater gave", () => {
  it("have the key of their place in the question, behind the raters", () => {
    expect(keys(DISPUTE, QUEUE)).toEqual([
      ["1", "cat", null], ["2", "dog", null], ["e", "owl", "owl"], ["n", "No label is right", null],
    ]);
    expect(typedLabels(DISPUTE, QUEUE)).toEqual([]);
  });

  it("are typed where there are many", () => {
    const many = Array.from({ length: 12 }, (_, place) => `label ${place}`);
    const queue = { ...QUEUE, options: { animal: many } };
    expect(typedLabels(DISPUTE, queue)).toEqual(many);
    expect(keys(DISPUTE, queue).map(([key]) => key)).toEqual(["1", "2", "n"]);
  });

  it("are not offered where a label excludes no other", () => {
    const dispute = { ...DISPUTE, question: "sky", given: [given("ann", "sky"), given("bob", "no label")], decisions: ["take"] };
    expect(keys(dispute, QUEUE)).toEqual([["1", "sky", null], ["2", "no label", null]]);
  });
});
