"""Runs, what has changed since one, and the table of all kinds: what each is called, reads, writes and leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from importlib import import_module
from typing import Any, Generic, Protocol, TypeAlias, TypeVar

import numpy as np
from bson import json_util
from numpy.typing import NDArray

from kalos_core.errors import Undefined
from kalos_core.fiftyone.dataset.database import edited_since
from kalos_core.fiftyone.dataset.document import RaterRecord, StoredRun
from kalos_core.fiftyone.dataset.raters import OBJECTS, Family, facts_of
from kalos_core.fiftyone.dataset.selection import Selection
from kalos_core.fiftyone.internals import view_of
from kalos_core.fiftyone.runs.arrays import StoredArrays
from kalos_core.fiftyone.runs.keys import RunNames
from kalos_core.fiftyone.runs.records import keyed

Settings = TypeVar("Settings", bound=Mapping[str, Any])
Metrics = TypeVar("Metrics", bound=Mapping[str, Any])
Details = TypeVar("Details")
Result = TypeVar("Result")

Arrays = Mapping[str, NDArray[Any]]
"""The arrays of a run by name; one that is stored is fetched when it is asked for."""


class Read(Protocol):
    """What a run has to know of its input, whatever labels these are."""

    @property
    def view(self) -> Any:
        """The samples."""

    @property
    def selection(self) -> Selection:
        """Which of their labels."""

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields these are in."""

    @property
    def images(self) -> NDArray[np.object_]:
        """(I,) sample ids."""

    @property
    def hashes(self) -> NDArray[np.object_]:
        """(I,) a digest of the labels of each."""

    @property
    def facts(self) -> list[RaterRecord]:
        """What is known of each rater."""

    @property
    def read_at(self) -> datetime:
        """When."""


@dataclass(frozen=True, eq=False)
class Run(Generic[Settings, Metrics, Details, Result]):
    """A stored run.

    Parameters
    ----------
    key : str
    kind : str
        A name in `KINDS`.
    settings : dict
        Similarity, threshold and what else the analysis was told.
    selection : Selection
        Which labels it read.
    metrics : dict
        The numbers of the summary, as plain values.
    label_fields : tuple of str
        Fields it read.
    images : int
        How many samples it read.
    read_at : datetime
        When.
    made_at : datetime
        When it was begun, as FiftyOne lists it; UTC, as `read_at`.
    details : dataclass
        All other numbers; empty if only the summary was loaded.
    result : optional
        The result itself; None if only the numbers were loaded.
    stale : tuple of str
        Ids of samples whose labels have changed since the run (only known when the result is loaded).
    analysis : str, optional
        The key of the analysis it was made for; None: it was made alone.
    note, status : str
        What people say of it, see `describe_run`.
    fields : tuple of str
        The sample fields and the attributes of labels that it wrote.
    dataset : fiftyone.core.dataset.Dataset
        That it is of.
    arrays : mapping
        What is computed from later; each is fetched when it is asked for.
    stages : list of str, optional
        Stages of the view it is of, as they are stored; None: of the data set.
    unreadable : str
        The reason why it cannot be read, with the version that wrote it: it can only be listed and deleted, and has no
        kind, settings or metrics. "" where it can.
    """

    key: str
    kind: str
    settings: Settings
    selection: Selection
    metrics: Metrics
    label_fields: tuple[str, ...]
    images: int
    read_at: datetime
    made_at: datetime
    details: Details
    result: Result | None = None
    stale: tuple[str, ...] = ()
    analysis: str | None = None
    note: str = ""
    status: str = ""
    fields: tuple[str, ...] = ()
    dataset: Any = field(default=None, repr=False)
    arrays: Arrays = field(default_factory=dict, repr=False)
    stages: Sequence[str] | None = field(default=None, repr=False)
    unreadable: str = ""

    @staticmethod
    def of(dataset: Any, stored: StoredRun) -> Run[Any, Any, Any, Any]:
        """A run as a data set has it, with settings and metrics only."""
        config = stored.config
        if stored.unreadable:
            return Run(
                key=stored.key,
                kind="",
                settings={},
                selection=Selection(),
                metrics={},
                label_fields=(),
                images=0,
                read_at=stored.timestamp,
                made_at=stored.timestamp,
                details={},
                analysis=config.analysis,
                fields=tuple(config.fields),
                dataset=dataset,
                unreadable=stored.unreadable,
            )
        return Run(
            key=stored.key,
            kind=stored.kind,
            settings=keyed(config.settings),
            selection=Selection.of(config.selection),
            metrics=deepcopy(stored.metrics),
            label_fields=tuple(config.label_fields),
            images=config.images,
            read_at=config.read_at,
            made_at=stored.timestamp,
            details={},
            analysis=config.analysis,
            note=config.note,
            status=config.review,
            fields=tuple(config.fields),
            dataset=dataset,
            arrays=StoredArrays(stored.key, config.arrays),
            stages=stored.view_stages,
        )

    @cached_property
    def view(self) -> Any:
        """The samples it was computed on."""
        return self.dataset if self.stages is None else view_of(self.dataset, list(map(json_util.loads, self.stages)))

    @property
    def title(self) -> str:
        """Its kind, for people."""
        return "Unreadable run" if self.unreadable else KINDS[self.kind].title

    @property
    def names(self) -> RunNames:
        """The names its key gives rise to."""
        return RunNames(self.key)

    @property
    def written(self) -> str:
        """What it wrote on samples and labels, for people."""
        on_labels = dict.fromkeys(path.rpartition(".")[2] for path in self.fields if "." in path)
        places = {"samples": [path for path in self.fields if "." not in path], "labels": list(on_labels)}
        found = [f"{', '.join(map(repr, names))} on {of}" for of, names in places.items() if names]
        return " and ".join(found) or NOTHING


@dataclass(frozen=True, eq=False)
class Changes:
    """A stored run beside the labels of its view as they are now. I images of the view now, J images it read.

    Parameters
    ----------
    run : Run
    config : object
        As FiftyOne stores it.
    """

    run: Run[Any, Any, Any, Any]
    config: Any

    @property
    def arrays(self) -> Arrays:
        """What it stored."""
        return self.run.arrays

    @property
    def view(self) -> Any:
        """What it was computed on."""
        return self.run.view

    @cached_property
    def images(self) -> list[str]:
        """(I,) ids of the samples of the view, in its order."""
        found: list[str] = self.view.values("id")
        return found

    @cached_property
    def hash_of(self) -> dict[str, str]:
        """Image -> digest of the labels that the run read."""
        ids, hashes = (np.char.decode(self.arrays[name], "ascii").tolist() for name in ("image_ids", "hashes"))
        return dict(zip(ids, hashes, strict=True))

    @cached_property
    def fresh(self) -> Read | None:
        """The labels, as they are now, of the samples that may have changed: no others are read. None without any."""
        kind, view = KINDS[self.run.kind], self._edited
        known = self.hash_of
        extra = [key for key in self.images if key not in known]
        extra += [] if kind.newer is None else kind.newer(self.view, self.run)
        if extra:
            view = self.view.select([*extra, *view.values("id")])
        return kind.read(view, self.run) if len(view) else None

    @property
    def _edited(self) -> Any:
        """Samples that somebody edited since; all, if what is known of the raters has changed."""
        known = facts_of(self.view, self.run.selection.raters or ())
        return self.view if known != list(self.config.rater_facts) else edited_since(self.view, self.run.read_at)

    @cached_property
    def is_stale(self) -> NDArray[np.bool_]:
        """(F,) which of the fresh images differ from those that the run read."""
        if self.fresh is None:
            return np.zeros(0, np.bool_)
        pairs = zip(self.fresh.images, self.fresh.hashes, strict=True)
        return np.array([self.hash_of.get(image) != digest for image, digest in pairs], dtype=np.bool_)

    @cached_property
    def stale(self) -> list[str]:
        """Ids of the samples whose labels differ."""
        return [] if self.fresh is None else self.fresh.images[self.is_stale].tolist()

    @cached_property
    def gone(self) -> list[str]:
        """Ids of the samples that the run read and that its view has no more."""
        return sorted(set(self.hash_of) - set(self.images))

    @property
    def all(self) -> tuple[str, ...]:
        """Ids of all samples that changed or are gone."""
        return (*self.stale, *self.gone)


NOTHING = "nothing on samples or labels"
"""What a run wrote that only stores numbers."""


@dataclass(frozen=True, eq=False)
class Demo:
    """How the demo, whose raters annotated objects, shows a kind of run.

    Parameters
    ----------
    headline : callable
        ``headline(run)``: what the run found, in a line.
    settings : dict
        Of the run, where they are not the defaults.
    """

    headline: Callable[[Any], str]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Kind(Generic[Settings, Metrics, Details, Result]):
    """A kind of run.

    Parameters
    ----------
    name, title : str
        As it is stored, and as people call it.
    operator, section : str
        The operator that makes one, and the section of the panel that shows it.
    read : callable
        ``read(view, run)``: the labels of some samples, as the run read them.
    restore : callable, optional
        ``restore(changes)``: the result of a stored run, with what has changed since taken up. None: the details are
        the result, as it was stored.
    details : type
        The dataclass of `Run.details`.
    views : dict
        Name -> ``view(samples, run_key, ...)``: what a click leads to.
    newer : callable, optional
        ``newer(view, run, slack)``: ids of samples that changed outside of the database, such as files of masks; also
        those of some seconds before the run, by which clocks may differ.
    fixed_because : str
        Why runs of this kind cannot be renamed; "" where they can.
    demo : Demo, optional
        How the demo shows it; None: it does not.
    family : Family
        The kind of labels it reads.
    suffix : str
        Of its run's key in an analysis, where it does not lead; "": it is no part of an analysis.
    in_analysis : callable, optional
        ``in_analysis(samples, selection)``: arguments that its run has in an analysis, unless others are given.
    again : callable, optional
        ``again(run)``: the arguments of its function, besides the selection, that stored such a run, which is given
        with its details. None: the settings as they are.
    """

    name: str
    title: str
    operator: str
    section: str
    read: Callable[[Any, Run[Settings, Metrics, Details, Result]], Read]
    restore: Callable[[Changes], Result] | None
    details: type[Details]
    views: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    newer: Callable[..., list[str]] | None = None
    fixed_because: str = ""
    demo: Demo | None = None
    family: Family = OBJECTS
    suffix: str = ""
    in_analysis: Callable[[Any, Selection], dict[str, Any]] | None = None
    again: Callable[[Run[Settings, Metrics, Details, Result]], dict[str, Any]] | None = None

    @property
    def compute(self) -> Callable[..., Run[Settings, Metrics, Details, Result]]:
        """The function that makes one, which has the name of its operator."""
        found: Callable[..., Run[Settings, Metrics, Details, Result]]
        found = getattr(import_module(f"kalos_core.fiftyone.kinds.{self.name}.compute"), self.operator)
        return found

    def key_in(self, analysis: str) -> str:
        """The key of its run in an analysis that another kind leads."""
        return f"{analysis}_{self.suffix}"

    @property
    def figures(self) -> str:
        """The module with ``figures(run, ...)``: what is shown of a run with its details, name -> `Part`.

        It is imported only when something is shown, as it draws in plotly.
        """
        return f"kalos_core.fiftyone.kinds.{self.name}.figures"


@dataclass(frozen=True)
class Part:
    """What a run shows: a title with the finding, a plotly figure (None: the title says why not), a note."""

    title: str
    figure: Any = None
    note: str = ""

    @classmethod
    def of(cls, found: Any, plot: str | Callable[..., Any] | None = None, note: str = "", **options: Any) -> Part:
        """A plot of a result by its name, the usual one if not given, or by a function; titled with its finding.

        Where there is no result, the title says why.
        """
        from kalos_core.figures.common import untitled  # draws in plotly, which is loaded when something is shown

        if isinstance(found, Undefined):
            return cls(found.reason)
        drawn = plot(found, **options) if callable(plot) else found.plot(plot, **options)
        return cls(*untitled(drawn), note)


Maker: TypeAlias = Callable[[], Part]


class Parts(Mapping[str, Part]):
    """What a run shows, by name; each is drawn when it is asked for: a figure takes plotly longer than its numbers."""

    def __init__(self, makers: Mapping[str, Maker | Part]) -> None:
        self._makers = dict(makers)

    def __getitem__(self, name: str) -> Part:
        made = self._makers[name]
        if not isinstance(made, Part):
            made = self._makers[name] = made()
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(self._makers)

    def __len__(self) -> int:
        return len(self._makers)


CARRIED: list[Callable[[Any, str, str], None]] = []
"""``carry(dataset, key, new_key)``: what people added to a run of an analysis follows it to the same run made again."""

ORDER = (
    "agreement",
    "variations",
    "calibration",
    "convergence",
    "pixels",
    "image_labels",
    "ranking",
    "truth",
    "detectors",
    "noise",
    "resolved",
)
"""Names of the kinds as they are listed; the first of an analysis leads it."""

KINDS: dict[str, Kind[Any, Any, Any, Any]] = {}
"""Name -> kind, in their order. Importing `kalos_core.fiftyone` fills it."""


def register(kind: Kind[Settings, Metrics, Details, Result]) -> Kind[Settings, Metrics, Details, Result]:
    """Enter a kind into the table."""
    KINDS[kind.name] = kind
    in_order = {name: KINDS[name] for name in sorted(KINDS, key=ORDER.index)}
    KINDS.clear()
    KINDS.update(in_order)
    return kind
