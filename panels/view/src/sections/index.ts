/** Name of a section, as in `panels/table.py`, and what draws it. */
import { Ceiling } from "./ceiling";
import { Decide, Guideline, Results, Training } from "./decide";
import { Overview } from "./overview";
import { Published } from "./published";
import { Runs } from "./runs";
import type { SectionView } from "./section";
import { Threshold } from "./threshold";

export const VIEWS: Record<string, SectionView> = {
  Ceiling, Decide, Guideline, Overview, Published, Results, Runs, Threshold, "Training list": Training,
};
