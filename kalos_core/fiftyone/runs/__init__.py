"""Runs: one computation with its configuration, under a key, and everything it wrote.

* `keys`: every name a key gives rise to · `table`: the kinds of runs · `life`: writing, complete, deleting
* `stored`: listed, loaded, renamed, deleted · `changes`: what has changed since · `arrays`, `thresholds`
"""
