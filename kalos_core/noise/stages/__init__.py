"""The four stages of generation, a module each (KαLOS §9.4).

Each draws its targets from all reference annotations; one that an earlier event has consumed is lost and not replaced.
"""

from kalos_core.noise.stages.category import mistake_categories
from kalos_core.noise.stages.localization import shift_rest
from kalos_core.noise.stages.topology import split_and_merge
from kalos_core.noise.stages.unmatched import miss_and_add

__all__ = ["miss_and_add", "mistake_categories", "shift_rest", "split_and_merge"]
