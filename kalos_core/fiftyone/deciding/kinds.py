"""Kinds of runs with units in dispute, each with what it answers to whoever decides: `DECIDABLE` is the table."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from bson import ObjectId
from numpy.typing import NDArray

from kalos_core._agreement import band
from kalos_core.annotations import Annotations
from kalos_core.decisions import DECISIONS, LABEL_DECISIONS, Decision
from kalos_core.display import alpha_text, number_of
from kalos_core.errors import InputError, KalosWarning, index_of, lookup
from kalos_core.fiftyone.dataset.database import collection
from kalos_core.fiftyone.dataset.masks import Stacks, open_masks
from kalos_core.fiftyone.dataset.raters import class_names, label_fields
from kalos_core.fiftyone.deciding.units import MatchedUnits, raters_in
from kalos_core.fiftyone.kinds.agreement.kind import AGREEMENT
from kalos_core.fiftyone.kinds.agreement.sample import NotInRun, labels_of, report_of_labels
from kalos_core.fiftyone.kinds.image_labels.kind import LABEL_AGREEMENT
from kalos_core.fiftyone.kinds.pixels.kind import PIXELS, has_regions
from kalos_core.fiftyone.runs.kept import kept
from kalos_core.fiftyone.runs.stored import list_runs, load_details, load_metrics
from kalos_core.fiftyone.runs.table import Run
from kalos_core.text import plain
from kalos_core.variation.reports import Cell, ImageReport

DecidableRun = Run[Any, Any, Any, Any]
"""A run with units in dispute: of matched annotations, of regions of pixels, or of image-level labels."""

SPLIT = ("whole", "parts")
"""Decisions that are of a whole and its parts."""

Entry = Mapping[str, Any]
"""A unit in the queue of a sample, as its run wrote it."""


@dataclass(frozen=True)
class SeenSample:
    """A sample as a run left it.

    Parameters
    ----------
    path : str
    size : (2,) float
        Width and height; NaN where nobody knows.
    report : ImageReport
        Units x raters, with the measure that the queue is ordered by.
    matched : MatchedUnits
    marks : list of (Annotations, sequence of str)
        What raters drew, with the label of the unit that each annotation is to be shown with.
    """

    path: str
    size: NDArray[np.float64]
    report: ImageReport
    matched: MatchedUnits
    marks: Sequence[tuple[Annotations, Sequence[str]]] = ()


@dataclass(frozen=True, eq=False)
class Decidable(ABC):
    """How the units in dispute of a run are named, read and decided; a subclass for each kind of run.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run : Run
    """

    samples: Any
    run: DecidableRun

    KIND: ClassVar[str]
    UNIT: ClassVar[str] = "unit"
    """What is in dispute."""
    MEASURE: ClassVar[str] = "alpha"
    """What images are ordered by, the least first."""
    NOTHING: ClassVar[str] = "no object"
    """What a rater gave who gave nothing, where one decides."""
    LISTED: ClassVar[str] = "no object"
    """The same in lists of what was decided."""
    DECISIONS: ClassVar[Mapping[str, str]] = DECISIONS
    """What can be decided -> how a button says it."""
    IS_RESOLVED: ClassVar[bool] = True
    """Whether `resolved` makes labels of it."""

    @property
    def is_ready(self) -> bool:
        """Whether the run wrote its units in dispute."""
        return True

    @property
    @abstractmethod
    def measure(self) -> str:
        """The sample field by which the queue is ordered, the lowest first."""

    @property
    def paths(self) -> dict[str, str]:
        """Label field -> path of its list of labels, where labels of units are."""
        return {}

    @property
    def options(self) -> dict[str, tuple[str, ...]]:
        """Question -> the labels that can be chosen."""
        return {}

    @property
    def classes(self) -> dict[str, Any]:
        """Arguments of FiftyOne's ``annotate`` that say which classes there are."""
        return {"classes": class_names(self.samples)}

    @abstractmethod
    def places(self, labels: Sequence[str]) -> list[dict[str, Any]]:
        """Queries, any of which finds the sample of some labels."""

    @abstractmethod
    def of_sample(self, sample_id: str) -> MatchedUnits:
        """The units of one sample."""

    @abstractmethod
    def of_all(self) -> MatchedUnits:
        """The units of all samples, as the run stored them; no label of a rater is read."""

    @abstractmethod
    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:
        """A sample as it is shown to whoever decides; it is read once.

        Raises
        ------
        NotInRun
            If the sample is not part of the run.
        """

    @abstractmethod
    def headline(self, report: ImageReport, disputes: int) -> str:
        """What is said of a sample: how far raters agree there, and about how many units."""

    def offered(self, question: str = "", is_split: bool = False) -> tuple[str, ...]:  # noqa: ARG002 - of image-level labels
        """What can be decided about a unit of a question, or a whole and its parts."""
        return tuple(name for name in self.DECISIONS if name not in SPLIT or is_split)

    def said(self, entry: Entry) -> dict[str, str]:  # noqa: ARG002 - of image-level labels
        """Rater -> what their answer is towards the others, where the run wrote it with the unit."""
        return {}

    def check(self, asked: Decision, question: str) -> None:  # noqa: ARG002 - of image-level labels
        """Refuse what cannot be decided about a unit of a question."""
        lookup(self.DECISIONS, asked.decision, "decision")


class _OfObjects(Decidable):
    """Matched annotations."""

    KIND = AGREEMENT.name

    @property
    def measure(self) -> str:
        return self.run.names.alpha

    @property
    def paths(self) -> dict[str, str]:
        known = label_fields(self.samples)
        return {field: known[field] for field in self.run.label_fields if field in known}

    def places(self, labels: Sequence[str]) -> list[dict[str, Any]]:
        ids = [ObjectId(key) for key in labels if ObjectId.is_valid(key)]
        return [{f"{path}._id": {"$in": ids}} for path in self.paths.values()]

    def of_sample(self, sample_id: str) -> MatchedUnits:
        return MatchedUnits.of_labels(labels_of(self.run, sample_id), self.run)

    def of_all(self) -> MatchedUnits:
        return kept(self.samples, self.run, "matched", lambda: MatchedUnits.of_arrays(self.run))

    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:
        labels = labels_of(self.run, sample_id)
        report = report_of_labels(self.samples, labels, self.run.key, variations_key)
        (path,) = labels.view.values("filepath")
        table, matched = labels.annotations, MatchedUnits.of_labels(labels, self.run)
        return SeenSample(path, table.image_size[0], report, matched, [(table, table.id.tolist())])

    def headline(self, report: ImageReport, disputes: int) -> str:  # noqa: ARG002 - all units are counted
        alpha, count = report.alpha, len(report.units)
        if alpha is None:
            return f"No alpha for this image: fewer than two raters can be compared. {number_of(count, 'unit')}."
        if not count:
            return "α 1: the raters agree that there is nothing here."
        return f"α {alpha_text(alpha)} ({band(alpha)}), {number_of(count, 'unit')}"


class _OfQueue(Decidable):
    """Units of which the queue says all: an id, what was asked, who was assigned, and what each gave."""

    def places(self, labels: Sequence[str]) -> list[dict[str, Any]]:
        return [{f"{self.run.names.queue}.label": {"$in": list(labels)}}]

    def of_sample(self, sample_id: str) -> MatchedUnits:
        return self._matched(self._document(sample_id)[self.run.names.queue])

    def of_all(self) -> MatchedUnits:
        queue = self.run.names.queue
        found = collection(self.samples).find({f"{queue}.0": {"$exists": True}}, {queue: True})
        return self._matched([entry for document in found for entry in document[queue]])

    def seen(self, sample_id: str, variations_key: str | None) -> SeenSample:  # noqa: ARG002 - there are none of these
        document = self._document(sample_id)
        entries = document[self.run.names.queue]
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
        wanted = dict.fromkeys((self.measure, self.run.names.queue, "filepath", "metadata"), True)
        where = {"_id": ObjectId(sample_id) if ObjectId.is_valid(sample_id) else None}
        found: dict[str, Any] = collection(self.samples).find_one(where, wanted) or {}
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
        """Of a label that excludes no other somebody has it and somebody has not: each is the answer of a rater."""
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
"""Kind of run -> how its units in dispute are decided; in the order in which an analysis offers them."""


def deciding_of(samples: Any, run: DecidableRun) -> Decidable:
    """How the units in dispute of a run are decided."""
    return DECIDABLE[run.kind](samples, run)


def is_decidable(run: DecidableRun) -> bool:
    """Whether a run has units in dispute to decide about."""
    return run.kind in DECIDABLE and deciding_of(run.dataset, run).is_ready


def decidable_runs(samples: Any) -> list[DecidableRun]:
    """All runs with units in dispute, the newest first."""
    found: list[DecidableRun] = list_runs(samples, tuple(DECIDABLE), info=True)
    return [run for run in found if is_decidable(run)]


def load_decidable(samples: Any, key: str) -> DecidableRun:
    """A run with units in dispute, with its summary."""
    run: DecidableRun = load_metrics(samples, key, tuple(DECIDABLE))
    if not is_decidable(run):
        raise InputError(f"run key: expected a run with units in dispute, got {run.key!r}; make it anew with regions")
    return run


# ---- what raters marked around regions ----


MARGIN = 0.5
"""Around a region that is shown, as a share of its longer side."""


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
