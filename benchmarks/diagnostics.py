"""All diagnostics vs. the peer: class difficulty, collaboration, and sensitivity over ten thresholds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from benchmarks.agreement import BOXES, POLYGONS, SAME, THRESHOLD, SharedAnnotations, largest_difference, without_cache
from benchmarks.tables import Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import Agreement, Annotations, agreement, class_difficulty, collaboration, sensitivity
from kalos_core.pairs import compute_pairs

THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
AT_LEAST = {BOXES: 10.0, POLYGONS: 60.0}
"""Claimed speedup over the peer."""


def against_peer(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure two raters, so without vitality. The peer compares all shapes again per threshold and pair of raters."""
    shared = SharedAnnotations(coco)
    boxes, peer_boxes = alternate(
        [_ours(shared, BOXES), Subject(lambda _: shared.peer_agreement(BOXES, diagnostics=True))], repeats
    )
    polygons, peer_polygons = alternate(
        [_ours(shared, POLYGONS, sweep=True), _peer_sweep(shared)], repeats, warm_up=False
    )
    return Table(
        f"diagnostics, {name}: {len(shared.annotations):,} annotations, threshold {THRESHOLD}, "
        "greedy, soft, no bootstrap",
        (
            Row("boxes: all diagnostics", boxes.took, peer_boxes.took, AT_LEAST[BOXES], "all diagnostics on boxes"),
            Row(
                f"polygons: all diagnostics, and alpha at {len(THRESHOLDS)} thresholds",
                polygons.took,
                peer_polygons.took,
                AT_LEAST[POLYGONS],
                f"all diagnostics on polygons, and alpha at {len(THRESHOLDS)} thresholds",
            ),
        ),
        notes=(
            "boxes: " + _same_work(boxes.answer, peer_boxes.answer),
            "polygons: " + _same_work(polygons.answer, peer_polygons.answer[THRESHOLD]),
            "polygons: " + _same_curve(polygons.answer, peer_polygons.answer, shared.annotations),
        ),
    )


def _ours(shared: SharedAnnotations, similarity: str, sweep: bool = False) -> Subject:
    """Return the subject with new columns each time, so that no geometry is cached."""
    return Subject(lambda given: _all_diagnostics(given, similarity, sweep), lambda: without_cache(shared.annotations))


def _all_diagnostics(annotations: Annotations, similarity: str, sweep: bool) -> dict[str, Any]:
    pairs = compute_pairs(annotations, similarity, min(THRESHOLDS) if sweep else THRESHOLD)
    result = agreement(annotations, similarity, THRESHOLD, bootstrap=0, pairs=pairs)
    curve = sensitivity(annotations, THRESHOLDS, similarity=similarity, bootstrap=0, pairs=pairs) if sweep else None
    return {
        "agreement": result,
        "classes": class_difficulty(result),
        "pairs": collaboration(result),
        "curve": curve,
    }


def _peer_sweep(shared: SharedAnnotations) -> Subject:
    def work(_: None) -> dict[float, Any]:
        return {
            threshold: shared.peer_agreement(POLYGONS, threshold, diagnostics=threshold == THRESHOLD)
            for threshold in THRESHOLDS
        }

    return Subject(work)


def _same_work(ours: Mapping[str, Any], peer_answer: Any) -> str:
    """Compare image alphas, alpha of every class over all units, and alpha of the two raters."""
    result: Agreement = ours["agreement"]
    classes = dict(zip(ours["classes"].category, ours["classes"].global_alpha, strict=True))
    theirs = {name: figures["alpha"] for name, figures in peer_answer[5].items()}
    defined = [name for name, value in classes.items() if np.isfinite(value)]
    first, second = result.annotations.raters
    differences = {
        "image": largest_difference(result, peer_answer),
        "class": max(abs(classes[name] - theirs[name]) for name in defined),
        "pair of raters": abs(ours["pairs"].global_alpha[0, 1] - peer_answer[8][first][second]),
    }
    verdict = "same work" if max(differences.values()) <= SAME else "NOT THE SAME WORK"
    listed = ", ".join(f"{value:.1e} per {what}" for what, value in differences.items())
    return f"{verdict}: largest difference {listed}"


def _same_curve(ours: Mapping[str, Any], peer_answers: Mapping[float, Any], annotations: Annotations) -> str:
    """Compare alpha over all units at every threshold, which does not depend on how undefined images are treated."""
    theirs = np.array([peer_answers[threshold][1] for threshold in THRESHOLDS])
    difference = float(np.abs(ours["curve"].global_alpha - theirs).max())
    verdict = "same curve" if difference <= SAME else "NOT THE SAME CURVE"
    return f"{verdict} over {len(THRESHOLDS)} thresholds and {len(annotations.images)} images, largest {difference:.1e}"
