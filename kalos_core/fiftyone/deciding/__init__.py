"""Decisions about disagreements: the queue of units in dispute, the decisions about them, and their results.

* `units`: the units of a sample, as a run matched them · `kinds`: kinds of runs with units in dispute
* `decide`: writing and reading decisions · `queue`: samples and units in dispute, in order
* `shown`: disputes with the outlines of every rater
* `results`: training list, questions for the guideline, tags, handing over open disputes
"""
