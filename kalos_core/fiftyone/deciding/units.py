"""The units that a run matched: who gave what, which are a whole and its parts; regions of pixels as such units."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings
from kalos_core.annotations import Annotations
from kalos_core.decisions import joined_units
from kalos_core.drawing import Drawing
from kalos_core.errors import InputError, KalosWarning
from kalos_core.fiftyone.dataset.database import collection
from kalos_core.fiftyone.dataset.masks import Stacks, open_masks
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.kinds.agreement.kind import AGREEMENT
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun, draw_unit, read_sample, units_on
from kalos_core.fiftyone.kinds.agreement.settings import matching
from kalos_core.fiftyone.kinds.agreement.stored import stored_units
from kalos_core.fiftyone.kinds.pixels.kind import PIXELS, has_regions
from kalos_core.fiftyone.kinds.pixels.regions import region_table
from kalos_core.fiftyone.runs.stored import list_runs, load_metrics
from kalos_core.fiftyone.runs.table import Run
from kalos_core.pairs import Pairs
from kalos_core.reliability import NOT_ASSIGNED, Units, build_units
from kalos_core.similarity import get_similarity
from kalos_core.variation import variations
from kalos_core.variation.reports import Findings, ImageReport, image_report

DecidableRun = Run[Any, Any, Any, Any]
"""A run with units in dispute: of matched annotations, or regions of pixels."""


def decidable_runs(samples: Any) -> list[DecidableRun]:
    """All of them, the newest first."""
    found: list[DecidableRun] = list_runs(samples, (AGREEMENT.name, PIXELS.name), info=True)
    return [run for run in found if is_decidable(run)]


def is_decidable(run: DecidableRun) -> bool:
    """Whether a run has units in dispute to decide about."""
    return run.kind == AGREEMENT.name or (run.kind == PIXELS.name and has_regions(run))


def load_decidable(samples: Any, key: str) -> DecidableRun:
    """An agreement, or a run on pixels that wrote its regions in dispute."""
    run: DecidableRun = load_metrics(samples, key, (AGREEMENT.name, PIXELS.name))
    if run.kind == PIXELS.name and not has_regions(run):
        raise InputError(f"run key: expected a run with units in dispute, got {run.key!r}; make it anew with regions")
    return run


def order_field(run: DecidableRun) -> str:
    """The sample field by which the queue is ordered, the lowest first."""
    return run.names.f1 if run.kind == PIXELS.name else run.names.alpha


def unit_paths(samples: Any, run: DecidableRun) -> dict[str, str]:
    """Label field -> path of its list of labels, where labels of units are."""
    if run.kind == PIXELS.name:
        there = samples.has_field(run.names.regions)
        return {run.names.regions: f"{run.names.regions}.detections"} if there else {}
    paths = label_fields(samples)
    return {field: paths[field] for field in run.label_fields if field in paths}


@dataclass(frozen=True, eq=False)
class MatchedUnits:
    """N annotations in U units, of one image or of many.

    Parameters
    ----------
    annotations : Annotations
    unit_of : (N,) int
        0 to U - 1.
    number : (U,) int
        What the run calls each unit.
    configuration : AgreementSettings, optional
        How the run compares annotations; None of regions of pixels, which are no wholes and no parts.
    pairs : Pairs, optional
        Their similarities, where these are known.
    """

    annotations: Annotations
    unit_of: NDArray[np.intp]
    number: NDArray[np.intp]
    configuration: AgreementSettings | None
    pairs: Pairs | None = None

    @classmethod
    def of_sample(cls, samples: Any, run: DecidableRun, sample_id: str) -> MatchedUnits:
        """Those of one sample; labels that came after the run are in none."""
        if run.kind == PIXELS.name:
            return cls(*region_table(samples, run.names, sample_id), None)
        return cls.of_labels(read_sample(samples, run.key, sample_id), run)

    @classmethod
    def of_labels(cls, labels: Labels, run: DecidableRun) -> MatchedUnits:
        """Those of the labels of one sample, as they were read."""
        stored = units_on(labels, run.key)
        rows = [row for row, unit in enumerate(stored) if unit is not None]
        annotations = labels.annotations.select(rows=np.array(rows, dtype=np.intp))
        number, unit_of = np.unique(np.array([stored[row] for row in rows], dtype=np.intp), return_inverse=True)
        return cls(annotations, unit_of, number, matching(run.settings))

    @classmethod
    def stored(cls, samples: Any, run: DecidableRun) -> MatchedUnits:
        """Those of all samples as the run stored them, without shapes; no label of a rater is read."""
        if run.kind == PIXELS.name:
            return cls(*region_table(samples, run.names), None)
        annotations, unit_of = stored_units(run.arrays)
        return cls(annotations, unit_of, np.arange(unit_of.max(initial=-1) + 1), matching(run.settings))

    @classmethod
    def of_run(cls, agreement: Agreement) -> MatchedUnits:
        """Those of all samples of a run."""
        number = np.arange(len(agreement.units))
        return cls(agreement.annotations, agreement.unit_of, number, agreement.configuration, agreement.pairs)

    @cached_property
    def units(self) -> Units:
        """Who gave what."""
        return build_units(self.annotations, self.unit_of)

    @cached_property
    def rows_of(self) -> dict[str, list[int]]:
        """Id of a label -> its rows, several where a field was cloned."""
        rows: dict[str, list[int]] = {}
        for row, key in enumerate(self.annotations.id.tolist()):
            rows.setdefault(key, []).append(row)
        return rows

    @cached_property
    def group(self) -> NDArray[np.intp]:
        """(U,) number of the whole with its parts that a unit belongs to; a unit of no such finding is alone in one."""
        count, how = len(self.number), self.configuration
        if how is None:
            return np.arange(count)
        found = variations(self.annotations, get_similarity(how.measure), how.threshold, pairs=self.pairs)
        return joined_units(found, self.unit_of, count)

    def together(self, units: Iterable[int]) -> list[int]:
        """All units of the wholes and parts that some units belong to."""
        return np.flatnonzero(np.isin(self.group, self.group[sorted(units)])).tolist()

    def units_of(self, labels: Iterable[str]) -> set[int]:
        """Units of some labels; those that are not there are in none."""
        return {int(self.unit_of[row]) for key in labels for row in self.rows_of.get(key, ())}

    @cached_property
    def _rows(self) -> list[NDArray[np.intp]]:
        order = np.argsort(self.unit_of, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.unit_of, minlength=len(self.number)))[:-1])

    def labels(self, units: Iterable[int]) -> list[str]:
        """Ids of all labels of some units."""
        return list(dict.fromkeys(key for unit in sorted(units) for key in self.annotations.id[self._rows[unit]]))

    def are_units(self, labels: Collection[str]) -> bool:
        """Whether some labels are all labels of some units."""
        return set(labels) == set(self.labels(self.units_of(labels)))

    def values(self, units: Iterable[int]) -> dict[str, tuple[str, ...]]:
        """Rater who was assigned -> the classes of what they annotated in some units; none for no object."""
        chosen, table = sorted(units), self.annotations
        given: dict[str, tuple[str, ...]] = {}
        inside = np.isin(self.unit_of, chosen)
        for rater, name in enumerate(table.raters.tolist()):
            if (self.units.values[chosen, rater] != NOT_ASSIGNED).any():
                own = table.category[inside & (table.rater == rater)]
                given[name] = tuple(table.categories[own].tolist())
        return given


def draw_together(samples: Any, key: str, label_id: str, sample_id: str | None = None, **options: Any) -> Drawing:
    """The unit of a label with the wholes and parts that it belongs to, so that the legend counts all of them.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Of an agreement.
    label_id : str
    sample_id : str, optional
        Of its sample, which is looked for without it.
    **options
        As in `draw_unit`.

    Raises
    ------
    InputError
        For a label that the run did not match; `NotInRun` for a sample that is not part of it.
    """
    run = load_decidable(samples, key)
    found = sample_id or next(iter(run.view.match_labels(ids=[label_id]).values("id")), "")
    matched = MatchedUnits.of_sample(samples, run, found)
    together = matched.labels(matched.together(matched.units_of([label_id])))
    return draw_unit(samples, run.key, together or label_id, found, **options)


MARGIN = 0.5
"""Around a region that is shown, as a share of its longer side."""


def region_report(samples: Any, sample_id: str, key: str) -> ImageReport:
    """Regions x raters of one sample, as `sample_report` has units x raters; its alpha is the mean F1 of the image.

    Raises
    ------
    NotInRun
        If the sample is not part of the run.
    """
    run = load_decidable(samples, key)
    names = run.names
    where = {"_id": ObjectId(sample_id) if ObjectId.is_valid(sample_id) else None}
    found = collection(samples).find_one(where, {names.f1: True, names.queue: True})
    if found is None or found.get(names.queue) is None:
        raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
    annotations, unit_of, number = region_table(samples, names, sample_id)
    findings = [Findings(unit=int(number[unit]), field=names.regions) for unit in unit_of]
    return image_report(annotations, findings, found[names.f1])


def region_marks(samples: Any, run: DecidableRun, sample_id: str) -> dict[str, Annotations]:
    """Id of each region in dispute of a sample -> what each rater marked around it; the masks are read once.

    None of a sample without masks any more.
    """
    path = f"{run.names.regions}.detections"
    place = {"_id": ObjectId(sample_id)}, {f"{path}.mask": False}
    stored = (collection(samples).find_one(*place) or {}).get(run.names.regions) or {"detections": []}
    boxes = {str(label["_id"]): label["bounding_box"] for label in stored["detections"]}
    if not boxes:
        return {}
    view = run.view.select(sample_id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # what there is to say was said when the run was made
        try:
            read = [found.stacks for found in open_masks(view, run.selection, run.settings["ignore_value"])]
        except InputError:  # all masks of the sample are gone: what was decided about its regions can still be seen
            return {}
    return {label: _annotations(sample_id, box, stacks) for stacks in read[:1] for label, box in boxes.items()}


def _annotations(sample_id: str, box: Sequence[float], stacks: Stacks) -> Annotations:
    """What each rater marked around a box (fractions of the image), an annotation for each class."""
    rows = []
    height, width = next(iter(stacks.values())).masks.shape[1:]
    window = _window(np.array(box) * [width, height, width, height])
    for name, stack in stacks.items():
        for rater, mask in zip(stack.raters.tolist(), stack.masks, strict=True):
            part = np.zeros_like(mask)
            part[window] = mask[window]
            if part.any():
                rows.append({"image": sample_id, "rater": rater, "category": name, "mask": part})
    raters = list(dict.fromkeys(rater for stack in stacks.values() for rater in stack.raters.tolist()))
    return Annotations.from_rows(
        rows, images=[sample_id], raters=raters, image_size={sample_id: (width, height)}, assigned="all"
    )


def _window(box: Any) -> tuple[slice, slice]:
    """Rows and columns of a box in pixels and what is around it."""
    x, y, across, down = box.round().astype(int).tolist()
    around = int(np.ceil(MARGIN * max(across, down)))
    return slice(max(y - around, 0), y + down + around), slice(max(x - around, 0), x + across + around)
