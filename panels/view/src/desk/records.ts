/** `panels/data/disputes.py` */
import type { Maybe } from "../format";
import type { Ring } from "../look/crop";

export type State = "open" | "waiting" | "decided";
export type Given = { rater: string; text: string; found: string; is_against: boolean };
export type Wanted = { decision: string; rater: string | null; note: string; who: string };
export type Made = Wanted & { when: string | null };
export type DisputeOutline = { label: string; rater: string; rings: Ring[]; points: Ring };
export type Dispute = {
  id: string;
  sample: string;
  labels: string[];
  units: number;
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
export type Queue = {
  run: string;
  kind: string;
  unit: string;
  measure: string;
  variations: string | null;
  category: string | null;
  rater: string | null;
  raters: [string, string][];
  words: Record<string, string>;
  counts: Counts;
  disputes: Dispute[];
};

/** What stands after a decision, or what somebody else has decided meanwhile. */
export type Answer = { made: Made } | { meanwhile: Dispute | null };
