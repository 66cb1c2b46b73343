"""Runs: one computation with its configuration, under a key, and everything it wrote.

* `keys`: names derived from a run key · `table`: the kinds of runs · `life`: writing runs · `analyses`: groups of runs
* `stored`: list, load, rename and delete runs · `upkeep`: cleanup after dead processes · `arrays`, `records`: storage
"""
