"""Ground truth of label maps: each class against all others, and one map of the likeliest class."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.consensus.methods import JOINTLY, MethodName, estimate_truth
from kalos_core.consensus.multiclass import BACKGROUND, staple_classes
from kalos_core.consensus.truth import ROUNDING, Truth
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, repr_of
from kalos_core.options import checked
from kalos_core.pixels.classes import check_classes, check_values
from kalos_core.pixels.stack import LabelStack
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ClassTruth(Result):
    """Ground truth of several classes. K classes.

    Figures: ``"classes"``.

    Parameters
    ----------
    values : (K,) int
        Values of the classes in label maps.
    by_class : dict of K Truth
        Name -> ground truth of the class against all others.

    Examples
    --------
    One rater sees a road where the other sees a car:

    >>> found = class_truth({"ann": [[0, 1]], "bob": [[0, 2]]}, {1: "road", 2: "car"}, "0.5")
    >>> found.labels.tolist(), found.tied.tolist()
    ([[0, 1]], [[False, True]])
    """

    _call = "class_truth(labels, classes)"

    values: NDArray[np.int64]
    by_class: dict[str, Truth]

    @cached_property
    def _probability(self) -> NDArray[np.float64]:
        """(K, H, W) probability of each class; 0 outside its estimated mask."""
        return np.stack([np.where(truth.mask, truth.probability, 0) for truth in self.by_class.values()])

    @property
    def labels(self) -> NDArray[np.int64]:
        """(H, W) likeliest of the classes estimated at each pixel; the first if `tied`, 0 if there is none."""
        likeliest = (self._probability >= self._probability.max(axis=0) - ROUNDING).argmax(axis=0)
        return np.where(self._probability.max(axis=0) > 0, self.values[likeliest], 0)

    @property
    def tied(self) -> NDArray[np.bool_]:
        """(H, W) True where several classes are equally likely."""
        highest = self._probability.max(axis=0)
        return np.asarray(((self._probability >= highest - ROUNDING).sum(axis=0) > 1) & (highest > 0))

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        return f"Reference of {number_of(len(self.by_class), 'class')}; {number_of(int(self.tied.sum()), 'pixel')} tied"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each class: its value, number of pixels, and notes."""
        import pandas as pd

        rows = [
            {"value": value, "class": name, "method": found.method, "pixels": int(found.mask.sum()), "note": found.note}
            for value, (name, found) in zip(self.values.tolist(), self.by_class.items(), strict=True)
        ]
        return pd.DataFrame(rows, columns=["value", "class", "method", "pixels", "note"])


@checked
def class_truth(
    labels: LabelStack | Mapping[str, ArrayLike | None],
    classes: Mapping[int, str],
    method: MethodName = "staple",
    outliers: Mapping[str, Iterable[str]] | None = None,
) -> ClassTruth:
    """Estimate the ground truth of label maps, class by class or, with ``"staple-classes"``, all classes at once.

    Parameters
    ----------
    labels : LabelStack
    classes : mapping of int to str
        Value -> name; 0 is no class.
    method : name in `TRUTH_METHODS`
    outliers : mapping of str to iterable of str, optional
        Class -> its outliers over the study, see `study_outliers`; used only by ``"excl-0.5"``.

    Raises
    ------
    InputError
        If a value is not in `classes`, 0 is in `classes`, the method is unknown, or a class lacks its outliers.

    Examples
    --------
    >>> found = class_truth({"ann": [[0, 1, 2]], "bob": [[0, 1, 2]], "cid": [[0, 2, 1]]}, {1: "road", 2: "car"}, "0.5")
    >>> found.labels.tolist(), found.tied.any().item()
    ([[0, 1, 2]], False)
    """
    check_classes(classes)
    if 0 in classes:
        raise InputError(f"classes: expected values other than 0 and their names, got {repr_of(dict(classes))}")
    stack = labels if isinstance(labels, LabelStack) else LabelStack.of(labels)
    check_values(stack, classes)
    if outliers is not None and set(outliers) != set(classes.values()):
        actual = listed(outliers, 20) or "none"
        raise InputError(f"outliers: expected those of the classes {listed(classes.values(), 20)}, got {actual}")
    values = np.array(list(classes), dtype=np.int64)
    if method == JOINTLY:
        found = staple_classes(stack, {0: BACKGROUND, **classes})
        return ClassTruth(values, {name: found.truth_of(name) for name in classes.values()})
    return ClassTruth(
        values,
        {
            name: estimate_truth(stack.of_class(value), method, None if outliers is None else outliers[name])
            for value, name in classes.items()
        },
    )
