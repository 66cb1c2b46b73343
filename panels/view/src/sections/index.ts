/** Name of a section, as in `panels/table.py`, and what draws it. */
import { Decide, Guideline, Results, Training } from "./decide";
import { Overview } from "./overview";
import { Published } from "./published";
import type { SectionView } from "./section";

export const VIEWS: Record<string, SectionView> = { Decide, Guideline, Overview, Published, Results, "Training list": Training };
