"""Stands in for what is being written."""

import sys
import types as t
from collections import defaultdict
from dataclasses import dataclass

import kalos_core.display as d
import kalos_core.fiftyone as kf

if not hasattr(kf, "Lens"):

    @dataclass(frozen=True)
    class Lens:
        category: str = None
        rater: str = None
        tag: str = None
        samples: list = None

    kf.Lens = Lens
    kf.narrowed_metrics = lambda ds, k, l: kf.filtered_metrics(ds, k, category=l.category, rater=l.rater)
    ww = kf.worst_images
    kf.worst_images = lambda ds, k, n, lens: ww(ds, k, n, category=lens.category, rater=lens.rater)
if not hasattr(kf, "classes_of"):
    kf.classes_of = lambda ds, k: kf.load_details(ds, k).details.class_difficulty.category.tolist()
if not hasattr(d, "shown"):
    d.shown = str
try:
    import kalos_core.figures.captions
except ImportError:

    @dataclass
    class C:
        read: str = "How to read this figure, in a line of text that explains it in words of practice."
        formula: str = "alpha = 1 - D_o / D_e"

    m = t.ModuleType("kalos_core.figures.captions")
    m.CAPTIONS = defaultdict(C)
    sys.modules["kalos_core.figures.captions"] = m
