"""Compute all kinds of runs for a set of labels at once, under one key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Any

from kalos_core.errors import InputError, listed, lookup, warn
from kalos_core.fiftyone.dataset.found import found_raters
from kalos_core.fiftyone.dataset.raters import OBJECTS, Family, rater_fields, sources_of
from kalos_core.fiftyone.dataset.samples import check_samples
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import root_of
from kalos_core.fiftyone.runs.analyses import Analysis, AnyRun
from kalos_core.fiftyone.runs.arranging import tick_instead
from kalos_core.fiftyone.runs.explaining import explained
from kalos_core.fiftyone.runs.keys import LONGEST_KEY, ROOM, check_run_key, free_run_key
from kalos_core.fiftyone.runs.life import listing_own, writing_together
from kalos_core.fiftyone.runs.progress import Progress, Report, RunArguments
from kalos_core.fiftyone.runs.stored import describe_run, find_analysis, load_details
from kalos_core.fiftyone.runs.table import CARRIED, KINDS, Kind
from kalos_core.options import Option, arguments_of, takes
from kalos_core.similarity.base import Threshold
from kalos_core.similarity.fitting import ComparedBy

AnyKind = Kind[Any, Any, Any, Any]
Calls = Sequence[tuple[AnyKind, Mapping[str, Any]]]
"""Kinds of runs, each with the arguments of its compute function."""


@dataclass(frozen=True, kw_only=True)
class AnalysisArguments(RunArguments):
    """Arguments of `analyse`."""

    kinds: Annotated[
        Sequence[str] | None,
        Option("Kinds of runs", "Names in `KINDS`; by default all kinds for which several raters have labels."),
    ] = None
    similarity: ComparedBy = "auto"
    threshold: Threshold = 0.5
    settings: Annotated[
        Mapping[str, Mapping[str, Any]] | None,
        Option(
            "Settings of each kind",
            "Kind -> further arguments of its function, such as {'convergence': {'fraction': 0.5}}.",
            type="mapping of str to mapping, optional",
        ),
    ] = None


@takes(AnalysisArguments)
def analyse(samples: Any, key: str, settings: AnalysisArguments) -> Analysis:
    """Run a complete agreement analysis: one run of each kind, all under one key.

    The leading run has the key itself, such as ``first``. The others are ``first_variations``, ``first_calibration``,
    ``first_convergence``, and ``first_labels`` and ``first_pixels`` if several raters gave image-level labels or masks.
    The runs appear together once all are complete. If one fails, or the work is cancelled, none is kept. All read the
    same labels and compare annotations in the same way.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        An unused run key; the keys derived from it for the other runs must be unused, too.
    progress
        As in `compute_agreement`.

    Returns
    -------
    Analysis

    Warns
    -----
    KalosWarning
        For each run that the labels do not allow, such as label convergence of a single image.

    Raises
    ------
    InputError
        If the input cannot be used, or the labels do not allow the leading run; nothing is stored then.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> def boxes(x):
    ...     return fo.Detections(detections=[fo.Detection(label="cat", bounding_box=[x, 0.1, 0.2, 0.3])])
    >>> def image(n):
    ...     size, x = fo.ImageMetadata(width=100, height=100), 0.05 * n
    ...     return fo.Sample(f"{n}.jpg", metadata=size, raters=["ann", "bob"], ann=boxes(x), bob=boxes(x + 0.01))
    >>> _ = dataset.add_samples([image(n) for n in range(12)], progress=False)
    >>> settings = {"convergence": {"subsets": 10, "fraction": 0.5}}
    >>> found = analyse(dataset, "first", raters=("ann", "bob"), settings=settings)
    >>> {kind: run.key for kind, run in found.runs.items() if kind in ("agreement", "variations")}
    {'agreement': 'first', 'variations': 'first_variations'}
    >>> found.run("agreement").metrics["alpha"]
    1.0
    >>> dataset.delete()
    """
    chosen, given = settings.part(Selection), settings.settings or {}
    check_samples(samples)
    shared = {"similarity": settings.similarity, "threshold": settings.threshold}
    families = {kind.family.name: kind.family for kind in _table().values()}
    of_family = {name: _selection_of(samples, chosen, family) for name, family in families.items()}
    members = _members(samples, of_family, settings.kinds)
    for name in given:
        lookup({kind.name: kind for kind in members}, name, "settings")
    calls = []
    for kind in members:
        taken = arguments_of(kind.compute)
        own = {name: value for name, value in shared.items() if name in taken}
        read = of_family[kind.family.name]
        usual = kind.in_analysis(samples, read) if kind.in_analysis else {}
        calls.append((kind, {**read.arguments(), **own, **usual, **given.get(kind.name, {})}))
    return _compute(samples, key, calls, settings.progress)


def update_analysis(
    samples: Any, key: str, new_key: str | None = None, *, progress: Progress | bool | None = None
) -> Analysis:
    """Repeat an analysis on the current labels, with the same settings, selection and view.

    Notes, the status of each run and other additions by users are carried over. In the grid, the new numbers replace
    the old ones.

    Parameters
    ----------
    samples : fiftyone.core.collections.SampleCollection
    key : str
        Key of an analysis, or of one of its runs.
    new_key : str, optional
        By default the next free key: ``first2`` after ``first``.
    progress
        As in `compute_agreement`.

    Returns
    -------
    Analysis
        The new analysis. The old one stays unchanged, so that `compare_runs` can compare the two.

    Raises
    ------
    InputError
        If there is no such analysis, or its labels no longer exist; nothing is stored then.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> cat = dict(label="cat", bounding_box=[0.1, 0.1, 0.5, 0.5])
    >>> def labels():
    ...     return fo.Detections(detections=[fo.Detection(**cat)])
    >>> _ = dataset.add_sample(fo.Sample("a.jpg", raters=["ann", "bob"], ann=labels(), bob=labels()))
    >>> _ = analyse(dataset, "first", kinds=["agreement"], raters=("ann", "bob"))
    >>> found = update_analysis(dataset, "first")
    >>> found.key, found.run("agreement").metrics["alpha"]
    ('first2', 1.0)
    >>> dataset.delete()
    """
    before = find_analysis(samples, key)
    members = [run for kind, run in before.runs.items() if KINDS[kind].suffix]
    if not members:
        raise InputError(f"analysis: expected one with a run of {', '.join(_table())}, got {before.key!r}")
    new_key = new_key or next_analysis_key(samples, before.key)
    calls = [(KINDS[run.kind], _arguments(samples, run)) for run in members]

    def carry_over(made: Analysis) -> None:
        for run in members:
            own = made.runs.get(run.kind)
            if own is not None:
                describe_run(samples, own.key, note=run.note, status=run.status)
                for carry in CARRIED:
                    carry(root_of(samples), run.key, own.key)

    made = _compute(members[0].view, new_key, calls, progress, carry_over)
    with explained(samples, f"{made.key!r} is complete, but the App may still show the fields of {before.key!r}"):
        for run in members:
            own = made.runs.get(run.kind)
            if own is not None:
                tick_instead(root_of(samples), run.key, own.key)
    return made


def _arguments(samples: Any, run: AnyRun) -> dict[str, Any]:
    again = KINDS[run.kind].again
    settings = run.settings if again is None else again(load_details(samples, run.key))
    return {**run.selection.arguments(), **settings}


def _table() -> dict[str, AnyKind]:
    return {name: kind for name, kind in KINDS.items() if kind.suffix}


def _selection_of(samples: Any, chosen: Selection, family: Family) -> Selection:
    """Return the selection to read; image-level labels and masks without stored or named raters use those found."""
    if family is OBJECTS or chosen.raters is not None or chosen.field is not None or rater_fields(samples, family):
        return chosen
    found = next((entry for entry in found_raters(samples) if entry.family == family.name), None)
    if found is None:
        return chosen
    warn(f"raters: no raters are stored, so each field of {family.name} counts as one rater: {listed(found.raters)}")
    read = found.selection
    return replace(chosen, raters=read.raters, field=read.field, rater_attribute=read.rater_attribute)


def _members(samples: Any, selections: Mapping[str, Selection], kinds: Sequence[str] | None) -> list[AnyKind]:
    """Return the kinds of runs to make: the named ones, or all for which several raters have labels."""
    table = _table()
    if kinds is not None:
        for name in kinds:
            lookup(table, name, "kinds")
        if isinstance(kinds, str) or not len(kinds):
            raise InputError(f"kinds: expected one or more of {', '.join(table)}, got {kinds!r}")
        return [kind for name, kind in table.items() if name in kinds]
    found = [kind for kind in table.values() if _is_rated(samples, selections[kind.family.name], kind.family)]
    return found or [kind for kind in table.values() if kind.family is OBJECTS]  # their error names what is missing


def _is_rated(samples: Any, selection: Selection, family: Family) -> bool:
    try:
        sources = sources_of(samples, selection, family)
    except InputError:
        return False
    return len(sources) > 1 or any(source.attribute is not None for source in sources)


def _compute(
    samples: Any,
    key: str,
    calls: Calls,
    progress: Progress | bool | None,
    then: Callable[[Analysis], None] | None = None,
) -> Analysis:
    """Make the runs of an analysis; after the first, runs that the labels do not allow are left out.

    `then` is called before others can see the runs; if it fails, none is kept.
    """
    dataset = root_of(samples)
    check_analysis_key(dataset, key)
    made = 0
    with explained(dataset), Report(progress) as report, writing_together(dataset, key):
        for number, (kind, arguments) in enumerate(calls):
            own = kind.key_in(key) if made else key
            part = report.part(number / len(calls), (number + 1) / len(calls), kind.title)
            try:
                kind.compute(samples, own, progress=part, **arguments)
                made += 1
            except InputError as error:
                check_run_key(dataset, own)  # a key taken by another user is not a problem of the labels
                if not made:
                    raise
                part(1.0, "left out")
                warn(f"{key}: no {kind.title.lower()}: {error}")
        if then is not None:
            with listing_own():
                then(find_analysis(dataset, key))
    with explained(dataset, "the analysis is complete"):
        return find_analysis(dataset, key)


# ---- keys ----


def next_analysis_key(samples: Any, key: str) -> str:
    """Return the key with the next free number.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> next_analysis_key(dataset, "first"), next_analysis_key(dataset, "v9")
    ('first2', 'v10')
    >>> dataset.delete()
    """
    base = key.rstrip("0123456789")
    first, base = int(key[len(base) :] or 1) + 1, base[: LONGEST_KEY - ROOM]
    for number in count(first):
        with suppress(InputError):
            check_analysis_key(samples, f"{base}{number}")
            break
    return f"{base}{number}"


def _keys_of(key: str) -> Iterator[str]:
    """Yield all keys that an analysis may use, its own first."""
    yield key
    yield from (kind.key_in(key) for kind in _table().values())


def check_analysis_key(samples: Any, key: str) -> None:
    """Refuse an analysis key unless it and the keys of all its runs are free."""
    for own in _keys_of(key):
        check_run_key(samples, own)


def free_analysis_key(samples: Any, base: str) -> str:
    """Return `base`, or `base` with the first number for which all keys of an analysis are free.

    Examples
    --------
    >>> import fiftyone as fo
    >>> dataset = fo.Dataset()
    >>> free_analysis_key(dataset, "raters")
    'raters'
    >>> dataset.delete()
    """
    return free_run_key(samples, base, check_analysis_key)
