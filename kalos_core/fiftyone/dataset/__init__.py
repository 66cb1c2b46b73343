"""Access to the labels of a data set: who the raters are, how labels are read, and how values are written to them.

* `selection`, `raters`, `found`, `opened`: the labels of each rater, and the assigned raters of each sample
* `objects`, `image_labels`, `masks`: labels of each family, read a block of samples at a time
* `coordinates`, `encoding`, `digests`: shapes of labels, in FiftyOne's fractions and in pixels
* `database`, `document`, `formats`, `writing`, `expressions`, `filter`, `samples`: access to FiftyOne's database
"""
