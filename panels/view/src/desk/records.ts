/** What `panels/data/disputes.py` sends. */
import type { Maybe } from "../format";
import type { Ring } from "../look/crop";

export type State = "open" | "waiting" | "decided";
/** What a rater gave, in words, and what that is towards the others; `is_against` most of them, or a tie. */
export type Given = { rater: string; text: string; found: string; is_against: boolean };
/** `category` is the label that is right where none of the raters gave it. */
export type Wanted = { decision: string; rater: string | null; category: string | null; note: string; who: string };
export type Made = Wanted & { when: string | null };
export type DisputeOutline = { label: string; rater: string; rings: Ring[]; points: Ring };
/** A unit in dispute; without `labels` where all of them were deleted since; `fits`: in the part gone through. */
export type Dispute = {
  id: string;
  sample: string;
  labels: string[];
  units: number;
  /** What was asked, of image-level labels. */
  question: string;
  file: string;
  path: string;
  size: [number, number];
  alpha: Maybe;
  given: Given[];
  outlines: DisputeOutline[];
  decisions: string[];
  state: State;
  made: Made | null;
  fits: boolean;
};
export type Counts = { all: number; decided: number; waiting: number; open: number };
/** `unit` is what is in dispute, `measure` what images are ordered by; `variations` the run that says what is found. */
export type Queue = {
  run: string;
  kind: string;
  unit: string;
  measure: string;
  variations: string | null;
  category: string | null;
  rater: string | null;
  raters: [string, string][];
  /** Decisions as buttons say them. */
  words: Record<string, string>;
  /** Labels that can be chosen, by the question that they answer. */
  options: Record<string, string[]>;
  /** How many questions there are: one need not be named. */
  questions: number;
  counts: Counts;
  disputes: Dispute[];
};

/** What stands after a decision, or what somebody else has decided meanwhile. */
export type Answer = { made: Made } | { meanwhile: Dispute | null };
