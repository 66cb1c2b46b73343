"""Data sets past one machine: shards that workers read one by one, and parts of results that merge to the same numbers.

Annotations are written once as shards of whole images; each call below then gives every shard to a worker of Dask, or
works on one shard after the other here (``client=None``), and makes the result of the parts with the code of the call
of the same name on one machine. Neither the number nor the order of shards changes a number.

* shards: `write_shards`, `open_shards` -> `Shards`, of `Shard`; `docs/distributed.md` has their schema
* agreement: `agreement` -> `ShardedAgreement`
* variations: `variations` -> `ShardedVariations`
"""

from kalos_core.distributed.agreements import ShardedAgreement, agreement
from kalos_core.distributed.findings import ShardedVariations, variations
from kalos_core.distributed.shards import Shard, Shards, open_shards
from kalos_core.distributed.writing import write_shards

__all__ = [
    "Shard",
    "ShardedAgreement",
    "ShardedVariations",
    "Shards",
    "agreement",
    "open_shards",
    "variations",
    "write_shards",
]
