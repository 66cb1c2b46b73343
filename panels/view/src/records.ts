/** Records that Python sends for all sections: `Frame` and the answers of `panels/workbench.py`. */
export type Filter = { category: string | null; rater: string | null; tag: string | null; follow: boolean };
export const WHOLE: Filter = { category: null, rater: null, tag: null, follow: false };

export type Part = "category" | "rater" | "tag";
export type Listed = { name: string; title: string; group: string; follows: (Part | "view")[] };

export type Invitation = { title: string; text: string; operator: string; label: string };
export type SectionAnswer = {
  name: string;
  /** Number of images that were edited or deleted since the run. */
  changed: number;
  record?: unknown;
  invitation?: Invitation;
};

export type Start = { found: string[]; given: object; unreadable: { key: string; reason: string }[] };
export type Frame = {
  dataset: string;
  analyses: [string, string][];
  analysis: string | null;
  section: string | null;
  filter: Filter;
  sections: Listed[];
  choices: Partial<Record<Part, string[]>>;
  colours: { variations: Record<string, string>; raters: Record<string, string> };
  start: Start | null;
  first: SectionAnswer | null;
};

/** Description of what the grid shows, and the stages of the previous view. */
export type Grid = { text: string; before: object[] };

/** Result of a click. */
export type Led = { grid: Grid | null; said: string };
