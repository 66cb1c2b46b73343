"""Access to the labels of a data set: who the raters are, how labels are read, and how values are written to them.

* `selection`, `raters`, `found`, `opened`: which labels of which raters, and who was assigned to a sample
* `objects`, `image_labels`, `masks`: labels of each family, read a block of samples at a time
* `coordinates`, `encoding`, `digests`: shapes of labels, in FiftyOne's fractions and in pixels
* `database`, `document`, `formats`, `writing`, `expressions`, `filter`, `samples`: access to FiftyOne's database
"""
