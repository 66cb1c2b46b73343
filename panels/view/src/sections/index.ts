/** Name of a section, as in `panels/table.py`, and what draws it. */
import { Ceiling } from "./ceiling";
import { Classes } from "./classes";
import { Decide, Guideline, Results, Training } from "./decide";
import { Images } from "./images";
import { Overview } from "./overview";
import { Published } from "./published";
import { Raters } from "./raters";
import { Runs } from "./runs";
import type { SectionView } from "./section";
import { Threshold } from "./threshold";
import { Differences } from "./variations";

export const VIEWS: Record<string, SectionView> = {
  Ceiling, Classes, Decide, Guideline, Images, Overview, Published, Raters, Results, Runs, Threshold,
  "Training list": Training,
  Variations: Differences,
};
