/** Name of a section, as in `panels/table.py`, and what draws it. */
import { Ceiling } from "./ceiling";
import { Overview } from "./overview";
import { Published } from "./published";
import { Runs } from "./runs";
import type { SectionView } from "./section";
import { Threshold } from "./threshold";

export const VIEWS: Record<string, SectionView> = { Ceiling, Overview, Published, Runs, Threshold };
