import sys, types as t
from collections import defaultdict
from dataclasses import dataclass, field
import kalos_core.fiftyone as kf, kalos_core.display as d
if not hasattr(kf, "Analysis"):
    @dataclass
    class Analysis:
        key: str
        runs: dict
    def list_analyses(ds):
        keys = kf.list_runs(ds, "agreement", info=True)
        return [find_analysis(ds, r.key) for r in keys]
    def find_analysis(ds, key):
        runs = {k: kf.list_runs(ds, k, info=True) for k in kf.KINDS}
        runs = {k: v[0] for k, v in runs.items() if v}
        import datetime
        for r in runs.values(): object.__setattr__(r, "made_at", r.read_at)
        return Analysis(key, runs)
    @dataclass(frozen=True)
    class Lens:
        category: str = None; rater: str = None; tag: str = None; samples: list = None
    kf.Analysis, kf.list_analyses, kf.find_analysis, kf.Lens = Analysis, list_analyses, find_analysis, Lens
    kf.narrowed_metrics = lambda ds, k, l: kf.filtered_metrics(ds, k, category=l.category, rater=l.rater)
    ww = kf.worst_images
    kf.worst_images = lambda ds, k, n, lens: ww(ds, k, n, category=lens.category, rater=lens.rater)
    kf.classes_of = lambda ds, k: kf.load_details(ds, k).details.class_difficulty.category.tolist()
if not hasattr(d, "shown"):
    d.shown = str; d.count_text = lambda n: f"{n:,}"; d.alpha_text = lambda v, n=2: f"{v:.{n}f}"
    @dataclass
    class C:
        read: str = "How to read this figure, in a line of text that explains it in words of practice."
        formula: str = "alpha = 1 - D_o / D_e"
    m = t.ModuleType("kalos_core.figures.captions"); m.CAPTIONS = defaultdict(C)
    sys.modules["kalos_core.figures.captions"] = m
