"""Kinds of runs with units in dispute, with a common interface for decisions; `DECIDABLE` lists them."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core._agreement import band
from kalos_core.annotations import Annotations
from kalos_core.decisions import DECISIONS, LABEL_DECISIONS, Decision
from kalos_core.display import alpha_text, number_of
from kalos_core.errors import InputError, KalosWarning, index_of, lookup
from kalos_core.fiftyone.dataset.database import check_columns, collection, stored_sample
from kalos_core.fiftyone.dataset.masks import Stacks, open_masks
from kalos_core.fiftyone.dataset.objects import Labels
from kalos_core.fiftyone.dataset.raters import class_names, label_fields
from kalos_core.fiftyone.deciding.stored import StoredAnswers, queue_of
from kalos_core.fiftyone.deciding.units import MatchedUnits, raters_in
from kalos_core.fiftyone.internals import changed_at
from kalos_core.fiftyone.kinds.agreement.kind import AGREEMENT
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun, labels_of, report_of_labels, sample_of
from kalos_core.fiftyone.kinds.image_labels.kind import LABEL_AGREEMENT
from kalos_core.fiftyone.kinds.pixels.kind import PIXELS, has_regions
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import list_runs, load_details, load_metrics
from kalos_core.fiftyone.runs.table import Run
from kalos_core.text import plain
from kalos_core.variation.reports import Cell, ImageReport

DecidableRun = Run[Any, Any, Any, Any]
"""Run with units in dispute: matched annotations, regions of pixels, or image-level labels."""

SPLIT = ("whole", "parts")
"""Decisions about a whole and its parts."""

Entry = Mapping[str, Any]
"""Unit in the queue of a sample, as its run wrote it."""


@dataclass(frozen=True)
class SeenSample:
    """A sample with its units, as a run stored them.

    Parameters
    ----------
    path : str
    size : (2,) float
        Width and height; NaN if unknown.
    report : ImageReport
        Units x raters, with the measure that the queue is ordered by.
    matched : MatchedUnits
    marks : list of (Annotations, sequence of str)
        Annotations of the raters, each with the id of the label that it is shown with.
    """

    path: str
    size: NDArray[np.float64]
    report: ImageReport
    matched: MatchedUnits
    marks: Sequence[tuple[Annotations, Sequence[str]]] = ()


@dataclass(frozen=True, eq=False)
class Decidable(ABC):
    """Interface to the units in dispute of a run: how they are named, read and decided. Each kind has a subclass.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run : Run
    """

    samples: Any
    run: DecidableRun

    KIND: ClassVar[str]
    UNIT: ClassVar[str] = "unit"
    """Name of a unit in dispute."""
    MEASURE: ClassVar[str] = "alpha"
    """Name of the measure that images are ordered by, lowest first."""
    NOTHING: ClassVar[str] = "no object"
    """Text for a rater without an annotation or label in the unit, while deciding."""
    LISTED: ClassVar[str] = "no object"
    """The same text in lists of decisions."""
    DECISIONS: ClassVar[Mapping[str, str]] = DECISIONS
    """Possible decision -> text of its button."""
    IS_RESOLVED: ClassVar[bool] = True
    """Whether `resolved` can make labels of the decisions."""

    @property
    def is_ready(self) -> bool:
        """Whether the run wrote its units in dispute."""
        return True

    @property
    @abstractmethod
    def measure(self) -> str:
        """Sample field by which the queue is ordered, lowest first."""

    @property
    def paths(self) -> dict[str, str]:
        """Label field -> path of its list of labels, for fields with labels of units."""
        return {}

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Question -> labels that can be chosen."""
        return {}

    @property
    def classes(self) -> dict[str, Any]:
        """Arguments of FiftyOne's ``annotate`` that define the classes."""
        return {"classes": class_names(self.samples)}

    @abstractmethod
    def sample_of(self, labels: Sequence[str]) -> str | None:
        """Return the id of a sample with one of some labels; None if there is none."""

    @abstractmethod
    def of_sample(self, sample_id: str) -> MatchedUnits:
        """Return the units of one sample."""

    @abstractmethod
    def of_all(self) -> MatchedUnits:
        """Return the units of all samples, as the run stored them; no label of a rater is read."""

    @abstractmethod
    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:
        """Return a sample as it is shown for decisions; it is read once.

        Raises
        ------
        NotInRun
            If the sample is not part of the run.
        """

    @abstractmethod
    def headline(self, report: ImageReport, disputes: int) -> str:
        """Return a sentence about a sample: how well raters agree, and the number of units."""

    def offered(self, question: str = "", is_split: bool = False) -> tuple[str, ...]:  # noqa: ARG002 - of image-level labels
        """Return the possible decisions about a unit of a question, or about a whole and its parts."""
        return tuple(name for name in self.DECISIONS if name not in SPLIT or is_split)

    def said(self, entry: Entry) -> dict[str, str]:  # noqa: ARG002 - of image-level labels
        """Return a comparison of each rater's answer with the others by rater name, if the run stored it."""
        return {}

    def check(self, asked: Decision, question: str) -> None:  # noqa: ARG002 - of image-level labels
        """Refuse a decision that is not possible for a unit of a question."""
        lookup(self.DECISIONS, asked.decision, "decision")


class _OfObjects(Decidable):
    """Matched annotations of an agreement run."""

    KIND = AGREEMENT.name

    @property
    def measure(self) -> str:
        return self.run.names.alpha

    @property
    def paths(self) -> dict[str, str]:
        known = label_fields(self.samples)
        return {field: known[field] for field in self.run.label_fields if field in known}

    def sample_of(self, labels: Sequence[str]) -> str | None:
        return sample_of(self.run, labels)

    def of_sample(self, sample_id: str) -> MatchedUnits:
        return self._kept(sample_id, lambda: labels_of(self.run, sample_id))

    def _kept(self, sample_id: str, read: Callable[[], Labels]) -> MatchedUnits:
        """Return the units of a sample; its labels are read unless they were since its last edit."""
        edited = stored_sample(self.samples, sample_id, "last_modified_at").get("last_modified_at")
        name = sample_id, edited, changed_at(self.run.dataset)
        return kept(self.samples, self.run, name, lambda: MatchedUnits.of_labels(read(), self.run), "sample")

    def of_all(self) -> MatchedUnits:
        return kept(self.samples, self.run, "matched", lambda: MatchedUnits.of_arrays(self.run))

    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:
        read = cache(lambda: labels_of(self.run, sample_id))
        matched, labels = self._kept(sample_id, read), read()
        report = report_of_labels(self.samples, labels, self.run.key, variations_key)
        (path,) = labels.view.values("filepath")
        table = labels.annotations
        return SeenSample(path, table.image_size[0], report, matched, [(table, table.id.tolist())])

    def headline(self, report: ImageReport, disputes: int) -> str:  # noqa: ARG002 - all units are counted
        alpha, count = report.alpha, len(report.units)
        if alpha is None:
            return f"No alpha for this image: fewer than two raters can be compared. {number_of(count, 'unit')}."
        if not count:
            return "α 1: the raters agree that there is nothing here."
        return f"α {alpha_text(alpha)} ({band(alpha)}), {number_of(count, 'unit')}"


class _OfQueue(Decidable):
    """Units whose queue entries are complete: id, question, assigned raters, and their answers."""

    def sample_of(self, labels: Sequence[str]) -> str | None:
        where = {f"{self.run.names.queue}.label": {"$in": list(labels)}}
        found = collection(self.samples).find_one(where, {"_id": True})
        return None if found is None else str(found["_id"])

    def of_sample(self, sample_id: str) -> MatchedUnits:
        return self._matched(queue_of(self._document(sample_id), self.run, StoredAnswers))

    def of_all(self) -> MatchedUnits:
        queue = self.run.names.queue
        found = collection(self.samples).find({f"{queue}.0": {"$exists": True}}, {queue: True})
        return self._matched([entry for document in found for entry in queue_of(document, self.run, StoredAnswers)])

    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:  # noqa: ARG002 - there are none of these
        document = self._document(sample_id)
        check_columns({"id": [sample_id], "filepath": [document["filepath"]]})
        entries = queue_of(document, self.run, StoredAnswers)
        raters = raters_in(entries, self.run.metrics["raters"])
        rows = tuple(tuple(self._cells(entry, raters)) for entry in entries)
        units = tuple(entry["unit"] for entry in entries)
        report = ImageReport(document.get(self.measure), tuple(raters), units, rows)
        of = document.get("metadata") or {}
        size = np.array([of.get(side) or np.nan for side in ("width", "height")], dtype=np.float64)
        return SeenSample(document["filepath"], size, report, self._matched(entries))

    def headline(self, report: ImageReport, disputes: int) -> str:
        measure = f"{self.MEASURE[0].upper()}{self.MEASURE[1:]}"
        known = "" if report.alpha is None else f"{measure} {alpha_text(report.alpha)}, "
        return known + number_of(disputes, self.UNIT) + " in dispute"

    def _matched(self, entries: Sequence[Entry]) -> MatchedUnits:
        return MatchedUnits.of_queue(entries, self.run.metrics["raters"])

    def _cells(self, entry: Entry, raters: Sequence[str]) -> Iterable[Cell]:
        given = dict(zip(entry["assigned"], entry["given"], strict=True))
        field = next(iter(self.paths), "")
        for rater in raters:
            if given.get(rater) is not None:
                yield Cell("annotated", given[rater], (), entry["label"], field)
            else:
                yield Cell("no object" if rater in given else "not assigned")

    def _document(self, sample_id: str) -> dict[str, Any]:
        found = stored_sample(self.samples, sample_id, self.measure, self.run.names.queue, "filepath", "metadata")
        if found.get(self.run.names.queue) is None:
            raise NotInRun(f"sample {sample_id}: not part of the run {self.run.key!r}")
        return found


class _OfRegions(_OfQueue):
    """Regions of pixels that a run on masks wrote."""

    KIND, UNIT, MEASURE, NOTHING = PIXELS.name, "region", "shared (F1)", "mostly nothing"
    IS_RESOLVED = False

    @property
    def is_ready(self) -> bool:
        return has_regions(self.run)

    @property
    def measure(self) -> str:
        return self.run.names.f1

    @property
    def paths(self) -> dict[str, str]:
        field = self.run.names.regions
        return {field: f"{field}.detections"} if self.samples.has_field(field) else {}

    @property
    def classes(self) -> dict[str, Any]:
        targets = {value: name for name, value in self.run.settings["classes"].items()}
        return {"classes": list(targets.values()), "mask_targets": targets}

    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:
        sample = super().seen(sample_id, variations_key)
        marks = region_marks(self.samples, self.run, sample_id)
        size = next((table.image_size[0] for table in marks.values()), np.full(2, np.nan))
        return replace(sample, size=size, marks=[(table, [label] * len(table)) for label, table in marks.items()])


class _OfImageLabels(_OfQueue):
    """Questions that raters answered differently for an image."""

    KIND, UNIT, MEASURE, NOTHING = LABEL_AGREEMENT.name, "question", "agreement", "no label"
    LISTED, DECISIONS = NOTHING, LABEL_DECISIONS

    @property
    def measure(self) -> str:
        return self.run.names.agreement

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        groups = self.run.settings["groups"]
        if isinstance(groups, str):
            return {groups: self._concepts}
        return {name: tuple(labels) for name, labels in (groups or {}).items()}

    @property
    def classes(self) -> dict[str, Any]:
        return {"classes": list(self._concepts)}

    @property
    def _concepts(self) -> tuple[str, ...]:
        def made() -> tuple[str, ...]:
            return tuple(map(str, load_details(self.samples, self.run.key).details.majority.concepts))

        return kept(self.samples, self.run, "concepts", made)

    def offered(self, question: str = "", is_split: bool = False) -> tuple[str, ...]:  # noqa: ARG002 - nothing is split
        """Return the possible decisions; for a non-exclusive label, `take` covers both answers, present and absent."""
        gone = () if question in self.options else ("label", "none")
        return tuple(name for name in self.DECISIONS if name not in gone)

    def said(self, entry: Entry) -> dict[str, str]:
        counts: Counter[str | None] = Counter(entry["given"])
        votes = counts.most_common(2)
        most, tied = votes[0][0], votes[0][1] == votes[-1][1]
        leading = f"most gave {self.NOTHING if most is None else plain(most)}"
        found = {}
        for rater, name, apart in zip(entry["assigned"], entry["given"], entry["apart"], strict=True):
            parts = ["no majority" if tied else "with the majority" if name == most else leading]
            if apart:
                parts.append(f"{alpha_text(abs(apart))} {'higher' if apart > 0 else 'lower'} than the others")
            found[rater] = "; ".join(parts)
        return found

    def check(self, asked: Decision, question: str) -> None:
        index_of(self.offered(question), asked.decision, "decision")
        if asked.category is not None:
            index_of(self.options[question], asked.category, "category")


DECIDABLE: Mapping[str, type[Decidable]] = {of.KIND: of for of in (_OfObjects, _OfImageLabels, _OfRegions)}
"""Kind of run -> interface to its units in dispute, in the order in which an analysis offers them."""


def deciding_of(samples: Any, run: DecidableRun) -> Decidable:
    """Return the interface to the units in dispute of a run."""
    return DECIDABLE[run.kind](samples, run)


def is_decidable(run: DecidableRun) -> bool:
    """Return whether a run has units in dispute to decide about."""
    return run.kind in DECIDABLE and deciding_of(run.dataset, run).is_ready


def decidable_runs(samples: Any) -> list[DecidableRun]:
    """Return all runs with units in dispute, the newest first."""
    found: list[DecidableRun] = list_runs(samples, tuple(DECIDABLE), info=True)
    return [run for run in found if is_decidable(run)]


def load_decidable(samples: Any, key: str) -> DecidableRun:
    """Load a run with units in dispute, with its settings and metrics."""
    run: DecidableRun = load_metrics(samples, key, tuple(DECIDABLE))
    if not is_decidable(run):
        raise InputError(f"run key: expected a run with units in dispute, got {run.key!r}; rerun it with regions=True")
    return run


# ---- masks of raters around regions ----


MARGIN = 0.5
"""Margin around a region that is shown, as a fraction of its longer side."""


def region_marks(samples: Any, run: DecidableRun, sample_id: str) -> dict[str, Annotations]:
    """Return the masks of each rater around each region in dispute of a sample, by region id; masks are read once.

    Empty if the sample no longer has masks.
    """
    path = f"{run.names.regions}.detections"
    place = {"_id": ObjectId(sample_id)}, {f"{path}.mask": False}
    stored = (collection(samples).find_one(*place) or {}).get(run.names.regions) or {"detections": []}
    boxes = {str(label["_id"]): label["bounding_box"] for label in stored["detections"]}
    if not boxes:
        return {}
    view = run.view.select(sample_id)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KalosWarning)  # the warnings were given when the run was made
        try:
            read = [found.stacks for found in open_masks(view, run.selection, run.settings["ignore_value"])]
        except InputError:  # all masks of the sample were deleted; decisions about its regions can still be shown
            return {}
    return {label: _annotations(sample_id, box, stacks) for stacks in read[:1] for label, box in boxes.items()}


def _annotations(sample_id: str, box: Sequence[float], stacks: Stacks) -> Annotations:
    """Return the masks of each rater around a box (fractions of the image), one annotation per class."""
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
    """Return the rows and columns of a box in pixels, with a margin."""
    x, y, across, down = box.round().astype(int).tolist()
    around = int(np.ceil(MARGIN * max(across, down)))
    return slice(max(y - around, 0), y + down + around), slice(max(x - around, 0), x + across + around)
