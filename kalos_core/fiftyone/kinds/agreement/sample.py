"""Reports on one sample of a run: a table of units x raters, and drawings of the sample and of its units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bson import ObjectId

from kalos_core.drawing import Drawing
from kalos_core.drawing.draw import draw_image, draw_members
from kalos_core.errors import InputError, check_iterable, check_name
from kalos_core.fiftyone.dataset.database import collection, stream
from kalos_core.fiftyone.dataset.objects import Labels, read_labels
from kalos_core.fiftyone.dataset.raters import label_fields
from kalos_core.fiftyone.runs.analyses import AnyRun
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.stored import load_metrics
from kalos_core.variation.reports import Finding, Findings, ImageReport, image_report


class NotInRun(InputError):
    """Error for a sample that a run did not read."""


def sample_report(samples: Any, sample_id: str, agreement_key: str, variations_key: str | None = None) -> ImageReport:
    """Return the table of units x raters of one image, from what two runs wrote on its labels; one sample is read.

    Raises
    ------
    NotInRun
        If the image is not part of the run.
    """
    return report_of_labels(samples, read_sample(samples, agreement_key, sample_id), agreement_key, variations_key)


def report_of_labels(
    samples: Any, labels: Labels, agreement_key: str, variations_key: str | None = None
) -> ImageReport:
    """Return the same as `sample_report`, for the labels of one sample that are already read."""
    compared = set()
    if variations_key:
        (sample_id,) = labels.view.values("id")
        named = load_metrics(samples, variations_key, "variations")
        variations_key = named.key
        compared = set(named.metrics["raters"] if len(_one_sample(named.view, sample_id)) else ())
    (alpha,) = labels.view.values(RunNames(agreement_key).alpha)
    return image_report(labels.annotations, _findings(labels, agreement_key, variations_key), alpha, compared)


def draw_sample(samples: Any, run_key: str, sample_id: str, **options: Any) -> Drawing:
    """Draw a sample with the outlines of the raters of an agreement, each rater in one colour.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of an agreement run.
    sample_id : str
    **options
        As in `kalos_core.draw_image`: ``raters``, ``shape``, ``longest_side``.

    Returns
    -------
    Drawing
        Drawn on a blank canvas if the file of the sample does not exist.

    Raises
    ------
    NotInRun
        If the sample is not part of the run.
    """
    labels = read_sample(samples, run_key, sample_id)
    return draw_image(labels.annotations, sample_id, *labels.view.values("filepath"), **options)


def draw_unit(
    samples: Any, run_key: str, label_id: str | Sequence[str], sample_id: str | None = None, **options: Any
) -> Drawing:
    """Draw the part of a sample around the unit of a label, with the outline and the class of each rater.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    run_key : str
        Key of an agreement run.
    label_id : str or sequence of str
        Id of one label of the unit. Ids of labels of several units of one sample, such as a whole and its parts, are
        drawn together.
    sample_id : str, optional
        Id of the sample; without it, the sample is searched by the label.
    **options
        As in `kalos_core.draw_unit`: ``shape``, ``margin``, ``others``, ``longest_side``.

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        If the run did not match the label; `NotInRun` if the sample is not part of the run.
    """
    given = [label_id] if isinstance(label_id, str) else check_iterable(label_id, "label_id", "ids of labels")
    wanted = [check_name(of, "label_id") for of in given]
    run = load_metrics(samples, run_key, "agreement")
    labels = labels_of(run, sample_of(run, wanted[:1]) or "" if sample_id is None else sample_id)
    ids, units = labels.annotations.id.tolist(), units_on(labels, run_key)
    chosen = {key: units[ids.index(key)] if key in ids else None for key in wanted}
    for key, unit in chosen.items():
        if unit is None:
            raise InputError(f"label: expected one that the run {run_key!r} matched, got {key!r}")
    rows = [row for row, other in enumerate(units) if other is not None and other in chosen.values()]
    if not rows:
        raise InputError("label: expected at least one, got none")
    return draw_members(labels.annotations, rows, *labels.view.values("filepath"), **options)


def read_sample(samples: Any, run_key: str, sample_id: str) -> Labels:
    """Read the labels of one sample with the settings of an agreement, and the unit of each as an attribute."""
    return labels_of(load_metrics(samples, run_key, "agreement"), sample_id)


def labels_of(run: AnyRun, sample_id: str) -> Labels:
    """Return the same as `read_sample`, for a run that is already loaded."""
    view = _one_sample(run.view, check_name(sample_id, "sample_id"))
    unit = RunNames(run.key).unit
    found = read_labels(view, run.selection, [run.settings["similarity"]], again=True, attributes=[unit])
    if not len(found.annotations.images):
        raise NotInRun(f"sample {sample_id}: not part of the run {run.key!r}")
    return found


def units_on(labels: Labels, run_key: str) -> list[int | None]:
    """Return the unit of each label of `read_sample` as the run stored it; None for a label that was added later."""
    units = labels.annotations.attributes.get(RunNames(run_key).unit)
    return [None] * len(labels.annotations) if units is None else units.tolist()


def sample_of(run: AnyRun, label_ids: Sequence[str]) -> str | None:
    """Return the id of a sample with one of some labels of a run; None if there is none.

    FiftyOne's ``match_labels`` takes seconds if there are many raters.
    """
    ids, known = [ObjectId(key) for key in label_ids if ObjectId.is_valid(key)], label_fields(run.dataset)
    places = [{f"{known[field]}._id": {"$in": ids}} for field in run.label_fields if field in known]
    found = collection(run.dataset).find_one({"$or": places}, {"_id": True}) if ids and places else None
    return None if found is None else str(found["_id"])


def _one_sample(view: Any, sample_id: str) -> Any:
    return view.select(sample_id) if ObjectId.is_valid(sample_id) else view.limit(0)


def _findings(labels: Labels, agreement_key: str, variations_key: str | None) -> list[Findings]:
    fields = [labels.fields[number] for number in labels.path_of]
    told = [((), ())] * len(fields) if variations_key is None else _told(labels, RunNames(variations_key))
    entries = zip(units_on(labels, agreement_key), told, fields, strict=True)
    return [Findings(unit, matches, own, field) for unit, (matches, own), field in entries]


def _told(labels: Labels, written: RunNames) -> list[tuple[Sequence[Any], tuple[Finding, ...]]]:
    """Return what variations stored on each label: its matches, and the findings of its own."""
    names = ["id", written.match, written.all, written.raters, written.similarities]
    (columns,) = stream(labels.view, [f"{path}.{name}" for path in labels.paths for name in names])
    found: dict[tuple[int, str], tuple[Sequence[Any], tuple[Finding, ...]]] = {}
    for number, path in enumerate(labels.paths):
        stored_there = (columns[f"{path}.{name}"][0] or [] for name in names)
        for label_id, matches, *stored in zip(*stored_there, strict=True):
            towards = zip(*(entry or () for entry in stored), strict=True)
            found[number, label_id] = matches or (), tuple(Finding(_seen_by_owner(kind), *of) for kind, *of in towards)
    return [found[key] for key in zip(labels.path_of.tolist(), labels.annotations.id, strict=True)]


def _seen_by_owner(variation: str) -> str:
    """Return the variation from the owner's side: an annotation that another rater misses is additional."""
    return "additional" if variation == "missing" else variation
