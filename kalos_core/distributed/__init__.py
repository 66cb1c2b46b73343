"""Data sets too large for one machine: shards that workers read one by one, in place of a table.

`write_shards` writes annotations, or image-level labels, once as shards of whole images. `open_shards` opens them,
and functions of `kalos_core` take them in place of a table. They compute a part for each shard, either on Dask workers
or locally, one shard after the other. The merged parts give the same result as one table. Numbers depend neither on
the number of shards nor on their order. `docs/distributed.md` documents the schema.

* `write_shards`, `open_shards` -> `Shards`, of `Shard`, each with its `ShardFiles`
"""

from kalos_core.distributed.shards import Shard as Shard
from kalos_core.distributed.shards import ShardFiles as ShardFiles
from kalos_core.distributed.shards import Shards as Shards
from kalos_core.distributed.shards import open_shards as open_shards
from kalos_core.distributed.writing import write_shards as write_shards
from kalos_core.names import public_names

__all__ = public_names(vars())
