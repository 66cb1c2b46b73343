"""Runs, changes since a run, and the table of all kinds of runs with their properties."""

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

from kalos_core.errors import InputError, Undefined
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
"""Arrays of a run by name; stored arrays are fetched on first access."""


class Read(Protocol):
    """Interface to the input of a run, for labels of any family."""

    @property
    def view(self) -> Any:
        """Samples that were read."""

    @property
    def selection(self) -> Selection:
        """Selection of their labels."""

    @property
    def fields(self) -> tuple[str, ...]:
        """Fields of these labels."""

    @property
    def images(self) -> NDArray[np.object_]:
        """Sample ids (I,)."""

    @property
    def hashes(self) -> NDArray[np.object_]:
        """Digest (I,) of the labels of each image."""

    @property
    def facts(self) -> list[RaterRecord]:
        """Stored facts about each rater."""

    @property
    def read_at(self) -> datetime:
        """Time of reading."""


@dataclass(frozen=True, eq=False)
class Run(Generic[Settings, Metrics, Details, Result]):
    """A stored run.

    Parameters
    ----------
    key : str
    kind : str
        A name in `KINDS`.
    settings : dict
        Similarity, threshold and other settings of the analysis.
    selection : Selection
        Selection of the labels it read.
    metrics : dict
        Numbers of the summary, as plain values.
    label_fields : tuple of str
        Fields it read.
    images : int
        Number of samples it read.
    read_at : datetime
        Time of reading, in UTC.
    made_at : datetime
        Start of the run, as listed by FiftyOne, in UTC.
    details : dataclass
        All other numbers; empty if only the summary was loaded.
    result : optional
        The result itself; None if only the numbers were loaded.
    stale : tuple of str
        Ids of samples whose labels have changed since the run; known only if the result was loaded.
    analysis : str, optional
        Key of the analysis it was made for; None: it was made separately.
    note, status : str
        Note and status set by users, see `describe_run`.
    fields : tuple of str
        Sample fields and label attributes that it wrote.
    dataset : fiftyone.core.dataset.Dataset
        Its data set.
    arrays : mapping
        Arrays for later computations; each is fetched on first access.
    stages : list of str, optional
        Stages of the view it was computed on, as stored; None: the whole data set.
    unreadable : str
        The reason why it cannot be read, with the version that wrote it; "" if it can. An unreadable run can only be
        listed and deleted, and has no kind, settings or metrics.
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
        """Return a stored run of a data set, with settings and metrics only."""
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
        """Samples that it was computed on.

        Raises
        ------
        InputError
            If this version of FiftyOne does not know its stages.
        """
        if self.stages is None:
            return self.dataset
        try:
            return view_of(self.dataset, list(map(json_util.loads, self.stages)))
        except (AttributeError, LookupError, TypeError, ValueError) as error:  # as FiftyOne builds a stage by its class
            expected = "expected a view of stages that FiftyOne knows"
            raise InputError(f"run {self.key!r}: {expected}, got {error}; compute the run again") from error

    @property
    def title(self) -> str:
        """Title of its kind."""
        return "Unreadable run" if self.unreadable else KINDS[self.kind].title

    @property
    def names(self) -> RunNames:
        """Names derived from its key."""
        return RunNames(self.key)

    @property
    def written(self) -> str:
        """Description of what it wrote on samples and labels."""
        on_labels = dict.fromkeys(path.rpartition(".")[2] for path in self.fields if "." in path)
        places = {"samples": [path for path in self.fields if "." not in path], "labels": list(on_labels)}
        found = [f"{', '.join(map(repr, names))} on {of}" for of, names in places.items() if names]
        return " and ".join(found) or NOTHING


@dataclass(frozen=True, eq=False)
class Changes:
    """Comparison of a stored run with the current labels of its view, which has I images.

    Parameters
    ----------
    run : Run
    config : object
        Stored record of the run.
    """

    run: Run[Any, Any, Any, Any]
    config: Any

    @property
    def arrays(self) -> Arrays:
        """Arrays of the run."""
        return self.run.arrays

    @property
    def view(self) -> Any:
        """View that the run was computed on."""
        return self.run.view

    @cached_property
    def images(self) -> list[str]:
        """Ids (I,) of the samples of the view, in its order."""
        found: list[str] = self.view.values("id")
        return found

    @cached_property
    def hash_of(self) -> dict[str, str]:
        """Image -> digest of its labels, as the run read them."""
        ids, hashes = (np.char.decode(self.arrays[name], "ascii").tolist() for name in ("image_ids", "hashes"))
        return dict(zip(ids, hashes, strict=True))

    @cached_property
    def fresh(self) -> Read | None:
        """Current labels of the samples that may have changed; None if there are none. No others are read."""
        kind, view = KINDS[self.run.kind], self._edited
        known = self.hash_of
        extra = [key for key in self.images if key not in known]
        extra += [] if kind.newer is None else kind.newer(self.view, self.run)
        if extra:
            view = self.view.select([*extra, *view.values("id")])
        return kind.read(view, self.run) if len(view) else None

    @property
    def _edited(self) -> Any:
        """Samples edited since the run; all samples if the stored facts about the raters have changed."""
        known = facts_of(self.view, self.run.selection.raters or ())
        return self.view if known != list(self.config.rater_facts) else edited_since(self.view, self.run.read_at)

    @cached_property
    def is_stale(self) -> NDArray[np.bool_]:
        """Whether each of the F fresh images (F,) differs from what the run read."""
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
        """Ids of the samples that the run read but its view no longer has."""
        return sorted(set(self.hash_of) - set(self.images))

    @property
    def all(self) -> tuple[str, ...]:
        """Ids of all samples that changed or were removed."""
        return (*self.stale, *self.gone)


NOTHING = "nothing on samples or labels"
"""Description of what a run wrote if it only stores numbers."""


@dataclass(frozen=True, eq=False)
class Demo:
    """Settings of the demo for a kind of run; the demo's raters annotated objects.

    Parameters
    ----------
    headline : callable
        ``headline(run)`` returns the finding of the run on one line.
    settings : dict
        Settings of the run that differ from the defaults.
    """

    headline: Callable[[Any], str]
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Kind(Generic[Settings, Metrics, Details, Result]):
    """A kind of run.

    Parameters
    ----------
    name, title : str
        Name for storage, and title for users.
    operator, section : str
        The operator that makes such a run, and the section of the panel that shows it.
    read : callable
        ``read(view, run)`` reads the labels of some samples as the run did.
    restore : callable, optional
        ``restore(changes)`` returns the result of a stored run, updated with later changes. None: the details are the
        result, as stored.
    details : type
        Dataclass of `Run.details`.
    views : dict
        Name -> ``view(samples, run_key, ...)``, the view that a click opens.
    newer : callable, optional
        ``newer(view, run, slack)`` returns the ids of samples that changed outside the database, such as mask files.
        It includes changes up to `slack` seconds before the run, as clocks may differ.
    fixed_because : str
        The reason why runs of this kind cannot be renamed; "" if they can.
    demo : Demo, optional
        Settings of the demo; None: the demo does not show this kind.
    family : Family
        Family of the labels it reads.
    suffix : str
        Suffix of its run key in an analysis, unless it leads the analysis; "": it is not part of analyses.
    in_analysis : callable, optional
        ``in_analysis(samples, selection)`` returns default arguments of its run in an analysis.
    again : callable, optional
        ``again(run)`` returns the arguments, besides the selection, that repeat a run, which is given with its details.
        None: the settings of the run.
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
        """Function that computes such a run; it has the name of the operator."""
        found: Callable[..., Run[Settings, Metrics, Details, Result]]
        found = getattr(import_module(f"kalos_core.fiftyone.kinds.{self.name}.compute"), self.operator)
        return found

    def key_in(self, analysis: str) -> str:
        """Return the key of its run in an analysis that another kind leads."""
        return f"{analysis}_{self.suffix}"

    @property
    def figures(self) -> str:
        """Name of the module with ``figures(run, ...)``, which returns the figures of a run: name -> `Part`.

        The module is imported only when something is shown, as it imports plotly.
        """
        return f"kalos_core.fiftyone.kinds.{self.name}.figures"


@dataclass(frozen=True)
class Part:
    """Figure of a run: a title with the finding, a plotly figure (None: the title gives the reason), and a note."""

    title: str
    figure: Any = None
    note: str = ""

    @classmethod
    def of(cls, found: Any, plot: str | Callable[..., Any] | None = None, note: str = "", **options: Any) -> Part:
        """Plot a result by the name of a plot (None: the default plot) or by a function, titled with its finding.

        If the result is undefined, the title gives the reason.
        """
        from kalos_core.figures.common import untitled  # imports plotly, which is needed only to show figures

        if isinstance(found, Undefined):
            return cls(found.reason)
        drawn = plot(found, **options) if callable(plot) else found.plot(plot, **options)
        return cls(*untitled(drawn), note)


Maker: TypeAlias = Callable[[], Part]


class Parts(Mapping[str, Part]):
    """Figures of a run by name; each is drawn on first access, as drawing takes longer than computing its numbers."""

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
"""``carry(dataset, key, new_key)`` copies additions by users, such as decisions, from a run to its repetition."""

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
"""Names of the kinds in the order of lists; the first kind in an analysis leads it."""

KINDS: dict[str, Kind[Any, Any, Any, Any]] = {}
"""Name -> kind, in the order of `ORDER`. Importing `kalos_core.fiftyone` fills it."""


def register(kind: Kind[Settings, Metrics, Details, Result]) -> Kind[Settings, Metrics, Details, Result]:
    """Add a kind to the table."""
    KINDS[kind.name] = kind
    in_order = {name: KINDS[name] for name in sorted(KINDS, key=ORDER.index)}
    KINDS.clear()
    KINDS.update(in_order)
    return kind
