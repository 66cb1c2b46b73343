"""Events of generation, and the annotations they changed, as flat tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core.annotations import Annotations
from kalos_core.display import number_of, percent_text
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

EVENTS = ("deletion", "addition", "split", "merge", "wrong_class", "shift")
"""Kinds of event."""

DELETION, ADDITION, SPLIT, MERGE, WRONG_CLASS, SHIFT = range(6)

STAGES = ("unmatched", "topology", "category", "localization")
"""Stages of generation, in order (KαLOS §9.4)."""

STAGE_OF_EVENT = np.array([0, 0, 1, 1, 2, 3])

OUTCOMES = ("done", "lost", "impossible")
"""Lost: an earlier event consumed the annotation. Impossible: nothing to delete, add, merge with or change into."""

DONE, LOST, IMPOSSIBLE = range(3)


@dataclass(frozen=True, eq=False, repr=False)
class Events(Result):
    """E events of generation, rater by rater, in the order in which they were drawn.

    Figures: ``"kinds"``.

    Parameters
    ----------
    annotations : Annotations
        Annotations of the synthetic raters.
    reference : Annotations
        Annotations that the raters were generated from.
    rater, image : (E,) int
        Codes.
    stage, event, outcome : (E,) str
        Names from `STAGES`, `EVENTS` and `OUTCOMES`.
    reference_rows : (E, 2) int
        Rows of `reference` that the event concerns, -1 where fewer than two.
    rows : (E, 2) int
        Rows of the resulting annotations in `annotations`, -1 where fewer than two.
    category_from, category_to : (E,) int
        Codes, -1 if there is none: class of an annotation before and after. For an addition: the class of the image
        that it was mistaken for, and its own class.
    shift : (E, 2) float64
        Displacement of the centre, in widths and heights of the image; for a split, that of its first fragment. NaN
        where nothing moved.
    scale : (E, 2) float64
        Width and height divided by those before the event; NaN as in `shift`.
    redrawn : (E,) int
        Number of times the change was drawn again because it separated the annotation from its reference.
    """

    _call = "NoiseModel.default().generate(annotations).events"

    annotations: Annotations
    reference: Annotations
    rater: NDArray[np.intp]
    image: NDArray[np.intp]
    stage: NDArray[np.str_]
    event: NDArray[np.str_]
    outcome: NDArray[np.str_]
    reference_rows: NDArray[np.intp]
    rows: NDArray[np.intp]
    category_from: NDArray[np.intp]
    category_to: NDArray[np.intp]
    shift: NDArray[np.float64]
    scale: NDArray[np.float64]
    redrawn: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.rater)

    def tally(self, owner: NDArray[np.intp], count: int) -> NDArray[np.intp]:
        """Return (count, 6, 3) events per owner, kind and outcome. `owner`: (E,), such as `rater` or `image`."""
        found = np.zeros((count, len(EVENTS), len(OUTCOMES)), np.intp)
        np.add.at(found, (owner, codes_of(self.event, EVENTS), codes_of(self.outcome, OUTCOMES)), 1)
        return found

    def counts(self) -> dict[str, dict[str, int]]:
        """Return the number of events by kind and outcome."""
        return _by_kind(self.tally(np.zeros(len(self), np.intp), 1)[0])

    def signal_loss(self) -> SignalLoss:
        """Count by stage the events lost because an earlier one changed their annotation (KαLOS §9.4, Table 3)."""
        table = np.array(
            [[((self.stage == stage) & (self.outcome == ended)).sum() for ended in OUTCOMES] for stage in STAGES]
        )
        first_three = table[:3].sum(axis=0)
        table = np.concatenate([table[:3], first_three[None], table[3:]])
        return SignalLoss((*STAGES[:3], "first three", STAGES[3]), *table.T)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(len(self.event), 'event')} of {number_of(len(self.annotations.raters), 'generated rater')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per event, with names and ids instead of codes and rows; missing where there is none."""
        import pandas as pd

        names, ids = self.annotations.categories, (self.reference.id, self.annotations.id)
        return pd.DataFrame(
            {
                "rater": self.annotations.raters[self.rater],
                "image": self.annotations.images[self.image],
                "stage": self.stage,
                "event": self.event,
                "outcome": self.outcome,
                "reference_a": _named(ids[0], self.reference_rows[:, 0]),
                "reference_b": _named(ids[0], self.reference_rows[:, 1]),
                "id_a": _named(ids[1], self.rows[:, 0]),
                "id_b": _named(ids[1], self.rows[:, 1]),
                "category_from": _named(names, self.category_from),
                "category_to": _named(names, self.category_to),
                "shift_x": self.shift[:, 0],
                "shift_y": self.shift[:, 1],
                "scale_x": self.scale[:, 0],
                "scale_y": self.scale[:, 1],
                "redrawn": self.redrawn,
            }
        )


def codes_of(given: NDArray[np.str_], names: Sequence[str]) -> NDArray[np.intp]:
    """Return the index of each string in `names`.

    Examples
    --------
    >>> codes_of(np.array(["lost", "done"]), OUTCOMES).tolist()
    [1, 0]
    """
    return np.asarray(np.argmax(given[:, None] == np.array(names), axis=1))


def _by_kind(counts: NDArray[np.intp]) -> dict[str, dict[str, int]]:
    """Convert counts (6, 3) to nested dicts by kind and outcome."""
    return {name: dict(zip(OUTCOMES, own, strict=True)) for name, own in zip(EVENTS, counts.tolist(), strict=True)}


def _named(names: NDArray[np.generic], codes: NDArray[np.intp]) -> NDArray[np.object_]:
    """Return the names of codes, None for -1."""
    found = np.full(len(codes), None, dtype=object)
    known = codes >= 0
    found[known] = names[codes[known]]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class RaterEvents(Result):
    """Events of each generated rater: R raters, `EVENTS` x `OUTCOMES`.

    Figures: ``"raters"``.

    Parameters
    ----------
    rater, reference : (R,) names
        The synthetic raters, and the rater each was generated from: a school, if there are schools.
    original : (S,) names
        The raters that all others were generated from.
    magnitude : (R,) float64
    given, annotations : (R,) int
        Number of annotations in each rater's reference, and number of annotations of the rater.
    counts : (R, 6, 3) int
        Number of events by kind and outcome.

    Examples
    --------
    >>> from kalos_core import Annotations, NoiseModel
    >>> rows = [{"image": 1, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]} for x in (10, 40, 70)]
    >>> reference = Annotations.from_rows(rows, image_size={1: (100, 100)})
    >>> found = NoiseModel.default().generate(reference, raters=["r1", "r2"], magnitude=0).by_rater()
    >>> found.rater.tolist(), found.given.tolist(), found.changed, found.by_kind()["shift"]
    (['r1', 'r2'], [3, 3], 0, {'done': 0, 'lost': 0, 'impossible': 0})
    """

    _call = "NoiseModel.default().generate(annotations).by_rater()"

    rater: NDArray[np.object_]
    reference: NDArray[np.object_]
    original: NDArray[np.object_]
    magnitude: NDArray[np.float64]
    given: NDArray[np.intp]
    annotations: NDArray[np.intp]
    counts: NDArray[np.intp]

    @property
    def changed(self) -> int:
        """Number of events done, without shifts."""
        return int(self.counts[:, :SHIFT, DONE].sum())

    def by_kind(self) -> dict[str, dict[str, int]]:
        """Return the number of events by kind and outcome, summed over raters."""
        return _by_kind(self.counts.sum(axis=0))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(int(self.counts.sum()), 'event')} of {number_of(len(self.rater), 'generated rater')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per rater: the events done by kind, and all events that were lost."""
        import pandas as pd

        about = {name: getattr(self, name) for name in ("rater", "reference", "magnitude", "annotations")}
        done = dict(zip(EVENTS, self.counts[:, :, DONE].T, strict=True))
        return pd.DataFrame({**about, **done, "lost": self.counts[:, :, LOST].sum(axis=1)})


@dataclass(frozen=True, eq=False, repr=False)
class SignalLoss(Result):
    """Events lost because an earlier one changed their annotation: one row per stage, one for the first three together.

    Localization attempts every annotation, so the paper's ratio leaves it out.

    Figures: ``"stages"``.

    Parameters
    ----------
    stage : names
    done, lost, impossible : (S,) int
        Number of events by outcome; an event is lost if an earlier one consumed its annotation.

    Examples
    --------
    >>> one = np.array([1])
    >>> SignalLoss(("first three",), done=3 * one, lost=one, impossible=0 * one).ratio
    0.25
    """

    _call = "NoiseModel.default().generate(annotations).signal_loss()"
    _columns = "stage attempted done lost impossible share_lost:share"

    stage: tuple[str, ...]
    done: NDArray[np.intp]
    lost: NDArray[np.intp]
    impossible: NDArray[np.intp]

    @property
    def attempted(self) -> NDArray[np.intp]:
        """(S,) number of all events."""
        return self.done + self.lost + self.impossible

    @property
    def share(self) -> NDArray[np.float64]:
        """(S,) lost / attempted; NaN if nothing was attempted."""
        return np.where(self.attempted > 0, self.lost / np.maximum(self.attempted, 1), np.nan)

    @property
    def ratio(self) -> float:
        """Share lost in the first three stages together: the signal-loss ratio of the paper."""
        return float(self.share[self.stage.index("first three")])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Signal loss {percent_text(self.ratio)} of the events of the first three stages"
