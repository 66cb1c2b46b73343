"""Calibration of the threshold vs. the peer: observed and expected distances, KS and tau*."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.agreement import BOXES, PEER_NAMES, POLYGONS, SAME, SharedAnnotations, no_progress_bar, without_cache
from benchmarks.tables import Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import calibrate

AT_LEAST = {BOXES: None, POLYGONS: 10.0}
"""Claimed speedup over the peer."""

REPAIRED = 1e-5
"""Maximum difference of distances for self-intersecting outlines, which each side repairs differently."""


def against_peer(coco: Mapping[str, Any], name: str, repeats: int) -> Table:
    """Measure one draw of expected distances, no bootstrap."""
    shared = SharedAnnotations(coco)
    rows, notes = [], []
    for what, similarity in (("boxes", BOXES), ("polygons", POLYGONS)):
        mine, peer = alternate([_ours(shared, similarity), _peer(shared, similarity)], repeats)
        rows.append(Row(what, mine.took, peer.took, AT_LEAST[similarity], f"calibration on {what}"))
        notes.append(f"{what}: {_same_work(mine.answer[similarity], *peer.answer)}")
    return Table(
        f"calibration, {name}: {len(shared.annotations):,} annotations, one draw", tuple(rows), notes=tuple(notes)
    )


def _ours(shared: SharedAnnotations, similarity: str) -> Subject:
    return Subject(lambda given: calibrate(given, [similarity]), lambda: without_cache(shared.annotations))


def _peer(shared: SharedAnnotations, similarity: str) -> Subject:
    from kalos.iaa import empirical_disagreement as distances
    from kalos.iaa import principled_configuration as configuration
    from kalos.iaa.similarity_functions import SIMILARITY_FUNCTIONS

    function = SIMILARITY_FUNCTIONS[PEER_NAMES[similarity]]

    def work(_: None) -> tuple[dict[str, Any], float, float]:
        random.seed(0)
        with mock.patch.object(distances, "tqdm", no_progress_bar):  # it would slow down the peer
            found = distances.calculate_do_de(shared.peer_data, function)
        observed, expected = np.array(found["d_o"]), np.array(found["d_e"])
        boundary = configuration.find_bayesian_boundary(observed, expected)
        return found, configuration.calculate_ks_statistic(observed, expected), float(boundary)

    return Subject(work)


def _same_work(ours: Any, peer: Mapping[str, Any], peer_ks: float, peer_tau: float) -> str:
    """Compare results: observed distances are equal except for self-intersecting outlines; expected ones are random."""
    mine, theirs = np.sort(ours.observed), np.sort(peer["d_o"])
    difference = np.abs(mine - theirs) if mine.shape == theirs.shape else np.array([np.inf])
    verdict = "same" if difference.max() <= REPAIRED else "NOT THE SAME"
    return (
        f"{verdict} {len(mine):,} observed distances, {(difference > SAME).sum():,} of them to {difference.max():.1e}; "
        f"KS {ours.ks:.3f} and {peer_ks:.3f}, tau* {ours.tau:.3f} and {peer_tau:.3f} (each its own draw, both in "
        "coordinates relative to each image)"
    )
