"""Fit of the noise model to real raters, and its goodness-of-fit tests, vs. time limits."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

from benchmarks.agreement import without_cache
from benchmarks.tables import Measured, Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import NoiseModel, read_coco
from kalos_core.noise.experiments import run_experiments

MOST_SECONDS = 10.0
"""Maximum seconds of a fit, without a model that embeds images."""

MOST_FOR_EXPERIMENTS = 15 * 60.0


def fit(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure the fit of all parameters on one data set, and every goodness-of-fit test, without class similarity."""
    annotations = read_coco(coco)
    fitted = NoiseModel.fit(annotations)
    model, tests = alternate(
        [Subject(NoiseModel.fit, lambda: without_cache(annotations)), Subject(lambda _: fitted.tests())], repeats
    )
    sources = [origin.source for origin in model.answer.provenance.values()]
    counts = ", ".join(f"{sources.count(source)} {source}" for source in sorted(set(sources)))
    allowed = Measured((MOST_SECONDS,))
    return Table(
        f"noise model, {name}: {len(annotations):,} annotations",
        (Row("fit", model.took, allowed, 1.0), Row("tests of fit", tests.took)),
        "measured",
        "limit",
        speedup=False,
        notes=(f"distributions: {counts}; {len(tests.answer):,} lines of tests",),
    )


def experiments(coco: Mapping[str, Any], name: str) -> Table:
    """Run the paper's experiments once at their default size."""
    annotations = read_coco(coco)
    start = perf_counter()
    claims = run_experiments(annotations).claims()
    took = Measured((perf_counter() - start,))
    hold = sum(claim.holds is True for claim in claims)
    return Table(
        f"experiments on synthetic raters, {name}",
        (Row("all experiments", took, Measured((MOST_FOR_EXPERIMENTS,)), 1.0),),
        "measured",
        "limit",
        speedup=False,
        notes=(f"{hold} of {len(claims)} statements of the paper hold; `python -m kalos_core experiments` lists them",),
    )
