/** Records of `panels/data/disputes.py`. */
import type { Maybe } from "../format";
import type { Ring } from "../look/crop";

export type State = "open" | "waiting" | "decided";
/** The label of a rater, and its differences from the others; `is_against`: contradicts the majority, or is tied. */
export type Given = { rater: string; text: string; found: string; is_against: boolean };
/** A decision; `category` is the right label if no rater gave it. */
export type Wanted = { decision: string; rater: string | null; category: string | null; note: string; who: string };
export type Made = Wanted & { when: string | null };
export type DisputeOutline = { label: string; rater: string; rings: Ring[]; points: Ring };
/** A unit in dispute; `labels` is empty if all were deleted; `fits`: is in the filtered part. */
export type Dispute = {
  id: string;
  sample: string;
  labels: string[];
  units: number;
  /** Question of image-level labels. */
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
/** `unit` names what is in dispute, `measure` the order of images, and `variations` the run of the findings. */
export type Queue = {
  run: string;
  kind: string;
  unit: string;
  measure: string;
  variations: string | null;
  category: string | null;
  rater: string | null;
  raters: [string, string][];
  /** Labels of the buttons of decisions. */
  words: Record<string, string>;
  /** Labels to choose from, by question. */
  options: Record<string, string[]>;
  /** Number of questions; a single question is not named. */
  questions: number;
  counts: Counts;
  disputes: Dispute[];
};

/** The stored decision, or the dispute as someone else has decided it in the meantime. */
export type Answer = { made: Made } | { meanwhile: Dispute | null };
