"""The events of generation, and which annotations they changed, as flat tables."""

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
"""What can happen to an annotation."""

DELETION, ADDITION, SPLIT, MERGE, WRONG_CLASS, SHIFT = range(6)

STAGES = ("unmatched", "topology", "category", "localization")
"""The stages in their order (KαLOS §9.4)."""

STAGE_OF_EVENT = np.array([0, 0, 1, 1, 2, 3])

OUTCOMES = ("done", "lost", "impossible")
"""Lost: an earlier event had consumed the annotation. Impossible: nothing to delete, add, merge with or become."""

DONE, LOST, IMPOSSIBLE = range(3)


@dataclass(frozen=True, eq=False, repr=False)
class Events(Result):
    """E events of generation, in the order in which they were drawn, rater by rater.

    Figures: ``"kinds"``.

    Parameters
    ----------
    annotations : Annotations
        Of the synthetic raters.
    reference : Annotations
        What they were generated from.
    rater, image : (E,) int
        Codes.
    stage, event, outcome : (E,) str
        Of `STAGES`, `EVENTS` and `OUTCOMES`.
    reference_rows : (E, 2) int
        Rows of the reference that the event was about, -1 where fewer than two.
    rows : (E, 2) int
        Rows of the resulting annotations, -1 where fewer than two.
    category_from, category_to : (E,) int
        Codes, -1 without any: the class of an annotation before and after; of an addition, the class of the image
        that it was mistaken for, and its own.
    shift : (E, 2) float64
        How far the centre moved, in widths and heights of the image; of a split, to its first fragment. NaN where
        nothing moved.
    scale : (E, 2) float64
        Width and height over those before, as `shift`.
    redrawn : (E,) int
        How often the change was drawn again, because it parted the annotation from its reference.
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
        """(count, 6, 3) events of each owner by kind and outcome. `owner`: (E,), such as `rater` or `image`."""
        found = np.zeros((count, len(EVENTS), len(OUTCOMES)), np.intp)
        np.add.at(found, (owner, codes_of(self.event, EVENTS), codes_of(self.outcome, OUTCOMES)), 1)
        return found

    def counts(self) -> dict[str, dict[str, int]]:
        """How many events of each kind had each outcome."""
        return _by_kind(self.tally(np.zeros(len(self), np.intp), 1)[0])

    def signal_loss(self) -> SignalLoss:
        """How many events came too late for their annotation, by stage (KαLOS §9.4, Table 3)."""
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
        """One row an event, with names and ids instead of codes and rows; missing where there is none."""
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
    """The number of each text among the names.

    Examples
    --------
    >>> codes_of(np.array(["lost", "done"]), OUTCOMES).tolist()
    [1, 0]
    """
    return np.asarray(np.argmax(given[:, None] == np.array(names), axis=1))


def _by_kind(counts: NDArray[np.intp]) -> dict[str, dict[str, int]]:
    """Counts (6, 3) by their names."""
    return {name: dict(zip(OUTCOMES, own, strict=True)) for name, own in zip(EVENTS, counts.tolist(), strict=True)}


def _named(names: NDArray[np.generic], codes: NDArray[np.intp]) -> NDArray[np.object_]:
    """The names of codes, None for -1."""
    found = np.full(len(codes), None, dtype=object)
    known = codes >= 0
    found[known] = names[codes[known]]
    return found


@dataclass(frozen=True, eq=False, repr=False)
class RaterEvents(Result):
    """What happened in each rater's name. R raters, `EVENTS` x `OUTCOMES` events.

    Figures: ``"raters"``.

    Parameters
    ----------
    rater, reference : (R,) names
        The synthetic raters, and whom each was generated from: a school where there are any.
    original : (S,) names
        The raters that everything was generated from.
    magnitude : (R,) float64
    given, annotations : (R,) int
        Annotations that each was generated from, and those they have.
    counts : (R, 6, 3) int
        Events by kind and outcome.

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
        """Events other than shifts that were done."""
        return int(self.counts[:, :SHIFT, DONE].sum())

    def by_kind(self) -> dict[str, dict[str, int]]:
        """How many events of each kind had each outcome, of all raters together."""
        return _by_kind(self.counts.sum(axis=0))

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"{number_of(int(self.counts.sum()), 'event')} of {number_of(len(self.rater), 'generated rater')}"

    def to_pandas(self) -> pd.DataFrame:
        """One row a rater: the events of each kind that were done, and all that were lost."""
        import pandas as pd

        about = {name: getattr(self, name) for name in ("rater", "reference", "magnitude", "annotations")}
        done = dict(zip(EVENTS, self.counts[:, :, DONE].T, strict=True))
        return pd.DataFrame({**about, **done, "lost": self.counts[:, :, LOST].sum(axis=1)})


@dataclass(frozen=True, eq=False, repr=False)
class SignalLoss(Result):
    """How many events came too late for their annotation: rows for each stage and for the first three together.

    Localization attempts every annotation, so it is no part of the ratio the paper prints.

    Figures: ``"stages"``.

    Parameters
    ----------
    stage : names
    done, lost, impossible : (S,) int
        What became of the events: a lost one found its annotation consumed by an earlier one.

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
        """(S,) all events."""
        return self.done + self.lost + self.impossible

    @property
    def share(self) -> NDArray[np.float64]:
        """(S,) lost / attempted; NaN where nothing was attempted."""
        return np.where(self.attempted > 0, self.lost / np.maximum(self.attempted, 1), np.nan)

    @property
    def ratio(self) -> float:
        """The share of the first three stages together: the paper's signal-loss ratio."""
        return float(self.share[self.stage.index("first three")])

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Signal loss {percent_text(self.ratio)} of the events of the first three stages"
