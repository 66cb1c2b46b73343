/** Name of a section, as in `panels/table.py`, and what draws it. */
import { Classes } from "./classes";
import { Images } from "./images";
import { Overview } from "./overview";
import { Published } from "./published";
import { Raters } from "./raters";
import type { SectionView } from "./section";
import { Differences } from "./variations";

export const VIEWS: Record<string, SectionView> = {
  Overview,
  Published,
  Variations: Differences,
  Images,
  Classes,
  Raters,
};
