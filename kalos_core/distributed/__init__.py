"""Data sets past one machine: shards that workers read one by one, and parts of results that merge to the same numbers.

Annotations, or image-level labels, are written once as shards of whole images; each call below then gives every shard
to a worker of Dask, or works on one shard after the other here (``client=None``), and makes the result of the parts
with the code of the call of the same name on one machine. Neither the number nor the order of shards changes a number.

* shards: `write_shards`, `open_shards` -> `Shards`, of `Shard`; of image-level labels `open_label_shards` ->
  `LabelShards`, of `LabelShard`; `docs/distributed.md` has their schema
* agreement: `agreement` -> `ShardedAgreement`
* what lies behind it: `class_difficulty`, `rater_vitality`, `collaboration`, `sensitivity`, with results of one machine
* chance: `calibrate`, likewise
* what a model can reach: `modified_map`, `label_convergence`, likewise
* variations: `variations` -> `ShardedVariations`
* image-level labels: `label_agreement`, with the result of one machine
"""

from kalos_core.distributed.agreements import ShardedAgreement, agreement
from kalos_core.distributed.ceilings import label_convergence, modified_map
from kalos_core.distributed.chance import calibrate
from kalos_core.distributed.diagnosing import class_difficulty, collaboration, rater_vitality, sensitivity
from kalos_core.distributed.findings import ShardedVariations, variations
from kalos_core.distributed.label_shards import LabelShard, LabelShards, open_label_shards
from kalos_core.distributed.labels import label_agreement
from kalos_core.distributed.shards import Shard, Shards, open_shards
from kalos_core.distributed.writing import write_shards

__all__ = [
    "LabelShard",
    "LabelShards",
    "Shard",
    "ShardedAgreement",
    "ShardedVariations",
    "Shards",
    "agreement",
    "calibrate",
    "class_difficulty",
    "collaboration",
    "label_agreement",
    "label_convergence",
    "modified_map",
    "open_label_shards",
    "open_shards",
    "rater_vitality",
    "sensitivity",
    "variations",
    "write_shards",
]
