/** Name of a section, as in `panels/table.py`, and what draws it. */
import { Ceiling } from "./ceiling";
import { Masks } from "./masks";
import { Noise } from "./noise";
import { Overview } from "./overview";
import { Published } from "./published";
import { Questions } from "./questions";
import { Ranking } from "./ranking";
import { Runs } from "./runs";
import type { SectionView } from "./section";
import { Teams } from "./teams";
import { Threshold } from "./threshold";
import { Truth } from "./truth";

export const VIEWS: Record<string, SectionView> = { Ceiling, Masks, Noise, Overview, Published, Questions, Ranking, Runs, Teams, Threshold, Truth };
