"""What stands in a data set: who its raters are, which labels are read and how, and how values get back to them.

* `selection`, `raters`, `assignment`: which labels of which raters, and who was assigned to a sample
* `objects`, `image_labels`, `masks`: labels of each family, read a block of samples at a time
* `similarities`, `coordinates`, `encoding`, `digests`: shapes of labels, in FiftyOne's fractions and in pixels
* `database`, `writing`, `expressions`, `info`, `names`, `samples`: what passes between us and FiftyOne's database
"""
