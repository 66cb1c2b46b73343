"""What lies behind an agreement, over shards: classes, raters, pairs of raters and thresholds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import AgreementSettings, check_comparable
from kalos_core._agreement import agreement as agreement_of_table
from kalos_core.annotations import Annotations
from kalos_core.calibration import Calibration, Separation
from kalos_core.diagnostics import ClassDifficulty, Collaboration, RaterVitality, Sensitivity
from kalos_core.diagnostics.classes import difficulty_of
from kalos_core.diagnostics.parts import Part
from kalos_core.diagnostics.rater_pairs import collaboration_of, pair_cells
from kalos_core.diagnostics.rematching import refuse_local_raters, taking_part
from kalos_core.diagnostics.thresholds import SensitivitySettings, plan_curve, sensitivity_of
from kalos_core.diagnostics.vitality import check_left_out, left_out_cells, vitality_of
from kalos_core.distributed.agreements import OverShards, sent, without_interval
from kalos_core.distributed.shards import Shards, open_shards
from kalos_core.distributed.work import Workers, over_shards
from kalos_core.options import takes
from kalos_core.pairs import compute_pairs
from kalos_core.resampling import Cells, join_cells
from kalos_core.similarity import Similarity, get_similarity


@dataclass(frozen=True, eq=False)
class DiagnosticTask:
    """What one diagnostic asks of the table of a shard: cells, and whole numbers that add up over shards."""

    similarity: str | Similarity
    settings: AgreementSettings
    what: str
    thresholds: tuple[float, ...] = ()

    def __call__(self, annotations: Annotations) -> tuple[list[Cells], NDArray[np.intp]]:
        """Cells of the images of a shard, by threshold if there are several, and counts of classes or raters."""
        chosen, nothing = self.settings, np.zeros(0, np.intp)
        pairs = compute_pairs(annotations, get_similarity(self.similarity), min([chosen.threshold, *self.thresholds]))

        def at(threshold: float) -> Any:
            given = {**without_interval(self.similarity, chosen), "threshold": threshold}
            return agreement_of_table(annotations, **given, pairs=pairs)

        if self.what == "thresholds":
            return [Part.of(at(threshold)).cells() for threshold in self.thresholds], nothing
        found = at(chosen.threshold)
        if self.what == "pairs":
            return [pair_cells(found)], taking_part(found.annotations).sum(axis=0)
        if self.what == "raters":
            return [left_out_cells(found)], nothing
        cells, count, codes = Part.of(found).class_cells()
        units = np.zeros(len(annotations.categories), np.intp)
        units[codes] = count
        return [replace(cells, statistic=codes[cells.statistic])], units


def _joined(shards: Shards, parts: Sequence[Cells]) -> Cells:
    """The cells of all shards with the numbers of images among all, sorted by statistic and image."""
    placed = [
        replace(part, image=part.image + files.first_image) for part, files in zip(parts, shards.files, strict=True)
    ]
    cells = join_cells(placed)
    return cells.take(np.lexsort((cells.image, cells.statistic)))


def _cells(shards: Shards, settings: OverShards, task: DiagnosticTask, label: str) -> tuple[Cells, NDArray[np.intp]]:
    """The cells of all shards for one diagnostic, and the sums of its counts."""
    parts = over_shards(shards, task, settings.client, settings.progress, label)
    return _joined(shards, [cells for (cells,), _ in parts]), np.sum([count for _, count in parts], axis=0)


@takes(OverShards)
def class_difficulty(folder: str | os.PathLike[str] | Shards, settings: OverShards) -> ClassDifficulty:
    """As `kalos_core.class_difficulty` of the agreement of a folder of shards.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    ClassDifficulty

    Raises
    ------
    InputError
        As `kalos_core.distributed.agreement`.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "ab"]
    >>> class_difficulty(write_shards(Annotations.from_rows(rows), "classes", images_per_shard=2)).units.tolist()
    [3]
    """
    shards, known = open_shards(folder), _known(folder)
    measure, chosen = settings.for_shards(shards)
    task = DiagnosticTask(sent(measure), chosen, "classes")
    cells, units = _cells(shards, settings, task, "Classes")
    codes = np.flatnonzero(units)
    cells = replace(cells, statistic=np.searchsorted(codes, cells.statistic))
    return difficulty_of(cells, units[codes], codes, known, chosen)


@takes(OverShards)
def rater_vitality(folder: str | os.PathLike[str] | Shards, settings: OverShards) -> RaterVitality:
    """As `kalos_core.rater_vitality` of the agreement of a folder of shards.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    RaterVitality

    Raises
    ------
    InputError
        As `kalos_core.distributed.agreement` and `kalos_core.rater_vitality`.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "abc"]
    >>> rater_vitality(write_shards(Annotations.from_rows(rows), "raters", images_per_shard=2)).vitality.tolist()
    [0.0, 0.0, 0.0]
    """
    shards, known = open_shards(folder), _known(folder)
    measure, chosen = settings.for_shards(shards)
    check_left_out(known)
    task = DiagnosticTask(sent(measure), chosen, "raters")
    cells, _ = _cells(shards, settings, task, "Raters")
    return vitality_of(cells, known, chosen)


@takes(OverShards)
def collaboration(folder: str | os.PathLike[str] | Shards, settings: OverShards) -> Collaboration:
    """As `kalos_core.collaboration` of the agreement of a folder of shards.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.

    Returns
    -------
    Collaboration

    Raises
    ------
    InputError
        As `kalos_core.distributed.agreement` and `kalos_core.collaboration`.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "ab"]
    >>> collaboration(write_shards(Annotations.from_rows(rows), "pairs", images_per_shard=2)).alpha.tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    shards, known = open_shards(folder), _known(folder)
    measure, chosen = settings.for_shards(shards)
    refuse_local_raters(known, "collaboration")
    task = DiagnosticTask(sent(measure), chosen, "pairs")
    cells, assigned = _cells(shards, settings, task, "Pairs of raters")
    return collaboration_of(cells, known, chosen, assigned)


@dataclass(frozen=True)
class SensitivityOverShards(SensitivitySettings, Workers):
    """What `sensitivity` of shards takes: its settings, and a calibration."""

    _: KW_ONLY
    calibration: Calibration | Separation | None = None


@takes(SensitivityOverShards)
def sensitivity(folder: str | os.PathLike[str] | Shards, settings: SensitivityOverShards) -> Sensitivity:
    """As `kalos_core.sensitivity`, of a folder of shards.

    Parameters
    ----------
    folder, client, progress
        As of `kalos_core.distributed.agreement`.
    calibration : Calibration or Separation, optional
        As of `kalos_core.sensitivity`.

    Returns
    -------
    Sensitivity

    Raises
    ------
    InputError
        As `kalos_core.sensitivity`; naming the file of a shard that cannot be used.

    Examples
    --------
    >>> from kalos_core.distributed import write_shards
    >>> rows = [{"image": 1, "rater": r, "category": "cat", "box": [0, 0, 10, h]} for r, h in [("ann", 10), ("bob", 8)]]
    >>> sensitivity(write_shards(Annotations.from_rows(rows), "thresholds"), thresholds=[0.5, 0.9]).alpha.tolist()
    [1.0, -0.5]
    """
    shards, known = open_shards(folder), _known(folder)
    measure, chosen = settings.at(0.0).for_kinds(shards.vocabulary.complete)
    plan = plan_curve(settings, measure.name, settings.calibration)
    every = tuple(plan.every.tolist())
    task = DiagnosticTask(sent(measure), replace(chosen, threshold=every[0]), "thresholds", every)
    parts = over_shards(shards, task, settings.client, settings.progress, "Thresholds")
    by_threshold = {value: _joined(shards, [cells[number] for cells, _ in parts]) for number, value in enumerate(every)}
    return sensitivity_of(plan, by_threshold.__getitem__, known, chosen.bootstrap, chosen.seed)


def _known(folder: Any) -> Annotations:
    """The images and raters of a folder, which can be compared."""
    known = open_shards(folder).without_annotations()
    check_comparable(known)
    return known
