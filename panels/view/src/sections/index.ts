/** Name of a section, as in `panels/table.py` -> its component. */
import { Ceiling } from "./ceiling";
import { Classes } from "./classes";
import { Decide, Guideline, Results, Training } from "./decide";
import { Images } from "./images";
import { Masks } from "./masks";
import { Noise } from "./noise";
import { Overview } from "./overview";
import { Published } from "./published";
import { Questions } from "./questions";
import { Ranking } from "./ranking";
import { Raters } from "./raters";
import { Runs } from "./runs";
import type { SectionView } from "./section";
import { Teams } from "./teams";
import { Threshold } from "./threshold";
import { Truth } from "./truth";
import { Differences } from "./variations";

export const VIEWS: Record<string, SectionView> = {
  Ceiling, Classes, Decide, Guideline, Images, Masks, Noise, Overview, Published, Questions, Ranking, Raters, Results,
  Runs, Teams, Threshold, Truth,
  "Training list": Training,
  Variations: Differences,
};
