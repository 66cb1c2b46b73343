"""From disagreement to decision: the queue of units in dispute, what was decided about them, and what follows.

* `units`: the units of one sample as a run matched them · `kinds`: what kinds of runs answer to whoever decides
* `decide`: decisions written and read · `queue`: what is next
* `shown`: disputes with the outlines of every rater
* `results`: training list, questions to the guideline, tags, open cases to others
"""
