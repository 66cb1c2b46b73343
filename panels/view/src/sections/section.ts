/** What a section gets that the view draws, and where its clicks go. */
import type { FC } from "react";
import type { Filter, Frame, SectionAnswer } from "../records";

/** What is chosen on the pages of a section, by name: the page itself, and whatever Python calls so. */
export type Choice = Record<string, string | number | boolean | null>;

/** What was chosen last on the pages of each section, with the answer, which stands there when it is opened again. */
export type Pages = Map<string, { given: Choice; answer: SectionAnswer }>;

export type SectionProps<Sent> = {
  /** What `send` of its module in `panels/data` answered. */
  record: Sent;
  frame: Frame;
  filter: Filter;
  /** A click that Python carries out: the method `click` of that module; what it leads to appears by itself. */
  act: (click: string, given?: object, done?: () => void) => void;
  /** Another section, with a part of the filter set. */
  go: (section: string, filter?: Partial<Filter>) => void;
  pages: Pages;
};

export type SectionView = FC<SectionProps<never>>;
