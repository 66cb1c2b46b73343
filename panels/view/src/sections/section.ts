/** Props of a section, and its clicks. */
import type { FC } from "react";
import type { Filter, Frame, SectionAnswer } from "../records";

/** Choices on the pages of a section, by name: the page itself, and choices that Python reads. */
export type Choice = Record<string, string | number | boolean | null>;

/** Last choices on the pages of each section with the answer, to show them when the section is opened again. */
export type Pages = Map<string, { given: Choice; answer: SectionAnswer }>;

export type SectionProps<Sent> = {
  /** Result of `send` of its module in `panels/data`. */
  record: Sent;
  frame: Frame;
  filter: Filter;
  /** Let Python carry out a click by the method `click` of that module; its result appears by itself. */
  act: (click: string, given?: object, done?: () => void) => void;
  /** Go to another section, with a part of the filter set. */
  go: (section: string, filter?: Partial<Filter>) => void;
  pages: Pages;
};

export type SectionView = FC<SectionProps<never>>;
