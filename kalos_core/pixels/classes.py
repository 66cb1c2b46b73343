"""Masks of several classes: metrics of each class against all others, and their mean over classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalos_core.annotations.columns import object_array
from kalos_core.arrays import mean_of_defined
from kalos_core.display import number_of
from kalos_core.errors import InputError, check_iterable, listed, repr_of
from kalos_core.options import takes
from kalos_core.pixels.agreement import PixelAccumulator, PixelAgreement, PixelSettings
from kalos_core.pixels.performance import SHARES
from kalos_core.pixels.stack import LabelStack, MaskStack, each_stack
from kalos_core.results import Result, with_ends

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class ClassPixelAgreement(Result):
    """Pixel-wise agreement per class. K classes, R raters, I images.

    Figures: ``"classes"``.

    Parameters
    ----------
    classes : (K,) object
        Names of the classes.
    by_class : tuple of K PixelAgreement

    Examples
    --------
    >>> stack = LabelStack.of({"ann": [[0, 1, 2, 2]], "bob": [[0, 1, 1, 2]]})
    >>> found = class_pixel_agreement([stack], {1: "road", 2: "car"})
    >>> found.smyth_bound, found.f1[0, 1].round(4).item()
    (0.125, 0.6667)
    """

    _call = "class_pixel_agreement(labels, classes)"

    classes: NDArray[np.object_]
    by_class: tuple[PixelAgreement, ...]

    @property
    def smyth_bound(self) -> float:
        """Mean of Smyth's bound over the classes."""
        return float(np.mean([each.smyth_bound for each in self.by_class]))

    @property
    def ratio(self) -> NDArray[np.float64]:
        """(R,) mean over the classes that any rater marked."""
        return mean_of_defined(np.array([each.ratio for each in self.by_class]))

    @property
    def f1(self) -> NDArray[np.float64]:
        """(R, R) mean over the classes that either rater marked; NaN if there are none."""
        marked = [each.sums.marked + each.sums.marked.T > 0 for each in self.by_class]
        return mean_of_defined(
            np.array([np.where(used, each.f1, np.nan) for used, each in zip(marked, self.by_class, strict=True)])
        )

    @property
    def mean_f1(self) -> float:
        """Mean of `f1` over the pairs of raters; without names, mean over the classes that any rater marked."""
        if self.by_class[0].raters_are_local:
            marked = [each for each in self.by_class if each.image_marked.any()]
            return float(mean_of_defined(np.array([each.mean_f1 for each in marked])))
        return float(mean_of_defined(self.f1[np.triu_indices(len(self.f1), 1)]))

    @property
    def performance(self) -> dict[str, NDArray[np.float64]]:
        """(R,) sensitivity, specificity, ppv, npv and kappa: means over the classes where they are defined."""
        tables = [each.performance for each in self.by_class]
        return {name: mean_of_defined(np.array([getattr(table, name) for table in tables])) for name in SHARES}

    @cached_property
    def images(self) -> NDArray[np.object_]:
        """(I,) images with at least two raters, of any class."""
        return object_array(list(dict.fromkeys(image for each in self.by_class for image in each.images)))

    @property
    def image_f1(self) -> NDArray[np.float64]:
        """(I,) mean F1 of the pairs of raters of each image, averaged over the classes."""
        return self._over_classes([each.image_f1 for each in self.by_class])

    @property
    def image_bound(self) -> NDArray[np.float64]:
        """(I,) Smyth's bound of each image, averaged over the classes."""
        return self._over_classes([each.image_bound for each in self.by_class])

    def _over_classes(self, values: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
        """Average values of the images of each class over the classes (I,)."""
        row_of = {image: row for row, image in enumerate(self.images)}
        columns = np.full((len(values), len(row_of)), np.nan)
        for column, own, each in zip(columns, values, self.by_class, strict=True):
            column[[row_of[image] for image in each.images]] = own
        return mean_of_defined(columns)

    @property
    def headline(self) -> str:
        """The finding, in words."""
        return f"Agreement about pixels of {number_of(len(self.classes), 'class')}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per class."""
        import pandas as pd

        return pd.DataFrame(
            {
                "class": self.classes,
                "smyth_bound": [each.smyth_bound for each in self.by_class],
                "mean_f1": [each.mean_f1 for each in self.by_class],
                **with_ends(
                    {
                        "smyth_bound_interval": np.array([each.smyth_interval for each in self.by_class]),
                        "mean_f1_interval": np.array([each.mean_f1_interval for each in self.by_class]),
                    }
                ),
                "marked": [int(each.image_marked.sum()) for each in self.by_class],
            }
        )


@takes(PixelSettings)
def class_pixel_agreement(
    stacks: Iterable[LabelStack | Mapping[str, ArrayLike | None]], classes: Mapping[int, str], settings: PixelSettings
) -> ClassPixelAgreement:
    """Compute the pixel-wise agreement of each class against all others; all classes use the same bootstrap draws.

    Parameters
    ----------
    stacks : iterable of LabelStack
        One per image, read one at a time.
    classes : mapping of int to str
        Value in the label maps -> name. 0 is the background, which is a class only if it is named; any other value must
        be named.

    Raises
    ------
    InputError
        For a value without a class, and for the reasons of `pixel_agreement`.

    Examples
    --------
    >>> labels = {"ann": [[0, 1, 2, 2]], "bob": [[0, 1, 1, 2]]}
    >>> found = class_pixel_agreement([LabelStack.of(labels)], {1: "road", 2: "car"})
    >>> found.to_pandas()[["class", "smyth_bound"]].values.tolist()
    [['road', 0.125], ['car', 0.125]]
    """
    check_classes(classes)
    accumulators: list[PixelAccumulator] = []
    for entry in stacks:
        stack = entry if isinstance(entry, LabelStack) else LabelStack.of(entry)
        check_values(stack, classes)
        accumulators = accumulators or [
            PixelAccumulator(settings.raters, settings.channels, settings.raters_are_local) for _ in classes
        ]
        for value, accumulator in zip(classes, accumulators, strict=True):
            accumulator.add(stack.of_class(value))
    if not accumulators:
        raise InputError("stacks: expected at least one image, got none")
    found = tuple(each.result(settings.bootstrap, settings.seed) for each in accumulators)
    return ClassPixelAgreement(object_array(list(classes.values())), found)


def check_classes(classes: Mapping[Any, Any]) -> None:
    """Check that there is at least one class, each with a different name.

    Examples
    --------
    >>> check_classes({1: "car", 2: "car"})
    Traceback (most recent call last):
    kalos_core.errors.InputError: classes: expected a different name for each value, got {1: 'car', 2: 'car'}
    """
    if not classes:
        raise InputError("classes: expected at least one value and its name, got none")
    if not all(isinstance(value, (int, np.integer)) and isinstance(name, str) for value, name in classes.items()):
        raise InputError(f"classes: expected whole numbers and their names, got {repr_of(dict(classes))}")
    if len(set(classes.values())) < len(classes):
        raise InputError(f"classes: expected a different name for each value, got {repr_of(dict(classes))}")


def check_values(stack: LabelStack, classes: Mapping[int, str]) -> None:
    """Check that every value outside the ignored region is a class or 0."""
    labels = stack.labels if stack.ignore is None else stack.labels[:, ~stack.ignore]
    strange = sorted(set(np.unique(labels).tolist()) - set(classes) - {0})
    if strange:
        known = listed(sorted(classes), 20)
        raise InputError(f"image {stack.image!r}: expected 0 or the values of classes {known}, got {listed(strange)}")


def masks_of_classes(
    stacks: Any, classes: Mapping[int, str] | None
) -> Iterator[tuple[MaskStack | LabelStack, Iterable[NDArray[np.bool_]]]]:
    """Yield the stacks of a study with the masks (N, H, W) of each class; without classes, of marked pixels.

    Examples
    --------
    >>> [[mask.tolist() for mask in masks] for _, masks in masks_of_classes([{"ann": [[0, 2]]}], {2: "car"})]
    [[[[[False, True]]]]]
    """
    if classes is None:
        for masks in each_stack(stacks, least=1):
            yield masks, (masks.masks,)
        return
    check_classes(classes)
    given = stacks() if callable(stacks) else stacks
    given = [given] if isinstance(given, (LabelStack, Mapping)) else given
    for entry in check_iterable(
        given, "stacks", "label maps of one image or more, such as read_mask_folders(path).label_stacks"
    ):
        labels = entry if isinstance(entry, LabelStack) else LabelStack.of(entry)
        check_values(labels, classes)
        yield labels, (labels.labels == value for value in classes)
