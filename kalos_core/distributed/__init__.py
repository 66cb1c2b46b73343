"""Data sets past one machine: shards that workers read one by one, in place of a table.

`write_shards` writes annotations, or image-level labels, once as shards of whole images. `open_shards` opens them:
functions of `kalos_core` take them in place of a table. They compute a part of each shard, with the workers of Dask or
here, one shard after the other, and the result of the merged parts as of those of one table. Neither the number nor
the order of shards changes a number. `docs/distributed.md` has their schema.

* `write_shards`, `open_shards` -> `Shards`, of `Shard`, each with its `ShardFiles`
"""

from kalos_core.distributed.shards import Shard as Shard
from kalos_core.distributed.shards import ShardFiles as ShardFiles
from kalos_core.distributed.shards import Shards as Shards
from kalos_core.distributed.shards import open_shards as open_shards
from kalos_core.distributed.writing import write_shards as write_shards
from kalos_core.names import public_names

__all__ = public_names(vars())
