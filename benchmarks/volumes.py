"""Agreement on volumes vs. the peer: nodules of LIDC-IDRI, exact and on the paper's grid."""

from __future__ import annotations

import copy
import gzip
import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from benchmarks.agreement import SAME, THRESHOLD, no_progress_bar
from benchmarks.tables import Row, Table
from benchmarks.timing import Subject, alternate
from kalos_core import Agreement, Annotations, KalosWarning, agreement, read_lidc
from kalos_core.shapes import Volumes

EXACT, GRID = "volume_iou", "volume_iou_128"
AT_LEAST = 30.0
"""Claimed speedup over the peer."""


def against_peer(path: Path, repeats: int) -> Table:
    """Measure with new columns each time, so that no geometry and no voxels are cached."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # contours that enclose nothing do not matter here
        annotations = read_lidc(path)
    exact, grid, peer = alternate(
        [_ours(annotations, EXACT), _ours(annotations, GRID), _peer(path)], repeats, warm_up=False
    )
    return Table(
        f"volumes, {path.name}: {len(annotations):,} nodules in {len(annotations.images):,} scans, threshold "
        f"{THRESHOLD}, greedy, soft, no bootstrap",
        (
            Row("exact slices", exact.took, peer.took, AT_LEAST, "volumes of CT scans, exact"),
            Row(
                "the paper's grid of 128 x 128 x 128",
                grid.took,
                peer.took,
                AT_LEAST,
                "volumes of CT scans, on the paper's grid",
            ),
        ),
        notes=(
            "grid: " + _same_work(grid.answer, peer.answer),
            f"alpha: exact {exact.answer.alpha:.4f}, on the grid {grid.answer.alpha:.4f}, peer {peer.answer[0]:.4f}",
        ),
    )


def _ours(annotations: Annotations, similarity: str) -> Subject:
    def fresh() -> Annotations:
        column = annotations.shapes["volume"]
        return replace(annotations, shapes={"volume": _without_cache(column)})

    return Subject(lambda given: agreement(given, similarity, THRESHOLD, bootstrap=0), fresh)


def _without_cache(column: Any) -> Volumes:
    """Return the same volumes in a new column."""
    return Volumes(**{name: getattr(column, name) for name in Volumes.__dataclass_fields__})


def _peer(path: Path) -> Subject:
    from kalos.iaa import core
    from kalos.utils.data_loading import preprocess_data

    studies = peer_studies(json.loads(gzip.decompress(path.read_bytes())))
    data = preprocess_data(copy.deepcopy(studies))  # the peer modifies its input
    raters = sorted({name for scan in data.values() for name in scan["rater_list"]})

    def work(_: None) -> Any:
        with mock.patch.object(core, "tqdm", no_progress_bar):  # it would slow down the peer
            return core.calculate_iaa(
                processed_data=data,
                categories={1: "nodule"},
                method="greedy",
                threshold_func="3D_IoU_similarity",
                cost_func="category_lenient",
                similarity_threshold=THRESHOLD,
                calculate_vitality=False,
                calculate_difficulty=False,
                collaboration_clusters=False,
                all_raters=raters,
            )

    return Subject(work)


def peer_studies(content: dict[str, Any]) -> dict[str, Any]:
    """Return the scans of the file in the format of the peer's loader, which has no exclusions; those are left out."""
    return {
        scan["series_uid"]: {
            "study_instance_uid": scan["series_uid"],
            "file_paths": [scan["series_uid"]],
            "width": scan["width"],
            "height": scan["height"],
            "depth": len(scan["slice_z"]),
            "annotators": {
                f"session {session['session']}": [
                    {
                        "contours": [
                            {"z_position": contour["z"], "points": contour["pts"]}
                            for contour in nodule["contours"]
                            if contour["incl"]
                        ]
                    }
                    for nodule in session["nodules"]
                ]
                for session in scan["sessions"]
            },
        }
        for scan in content["scans"]
    }


def _same_work(ours: Agreement, peer_answer: Any) -> str:
    """Compare alphas; scans without a nodule are 1 for both, because four sessions agree on absence there."""
    mine = np.sort(ours.image_alpha)
    theirs = np.sort(np.array(list(peer_answer[6].values())))
    difference = np.abs(mine - theirs)
    verdict = "same alpha" if difference.max() <= SAME else f"other alpha on {(difference > SAME).sum()} scans"
    return f"{verdict} of {len(mine):,} scans, largest difference {difference.max():.1e}"
