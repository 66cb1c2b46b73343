/** What a section gets that the view draws, and where its clicks go. */
import type { FC } from "react";
import type { Filter, Frame } from "../records";

export type SectionProps<Sent> = {
  /** What `send` of its module in `panels/data` answered. */
  record: Sent;
  frame: Frame;
  filter: Filter;
  /** A click that Python carries out: the method `click` of that module; what it leads to appears by itself. */
  act: (click: string, given?: object, done?: () => void) => void;
  /** Another section, with a part of the filter set. */
  go: (section: string, filter?: Partial<Filter>) => void;
};

export type SectionView = FC<SectionProps<never>>;
