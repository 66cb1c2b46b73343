"""Joint estimation of existence and class of units and of the skill of raters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, check_agreement
from kalos_core.annotations import object_array
from kalos_core.diagnostics.rematching import refuse_local_raters
from kalos_core.display import number_of, percent_text
from kalos_core.nominal.skill import ROUNDING, LabelTruth, SkillSettings, dawid_skene
from kalos_core.options import takes
from kalos_core.reliability import NO_OBJECT, NOT_ASSIGNED, Units
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

NOTHING = "no object"
"""Name of the answer `NO_OBJECT` among classes."""


@dataclass(frozen=True, eq=False, repr=False)
class UnitTruth(Result):
    """The result of `unit_truth`. U units, R raters, L distinct answers.

    Figures: ``"skill"``, ``"confusion"``, ``"existence"``.

    Parameters
    ----------
    estimate : LabelTruth
        Estimate with units as items. Its classes are the L answers by name, including "no object". Its skills,
        intervals and confusions are those of the raters.
    code : (L,) int
        Code of each answer, as in `units`: `NO_OBJECT` or a category.
    units : Units
        Answer of each rater to each unit.
    images : (I,) object
        Ids of the images.
    categories : (K,) object
        Names of all categories.

    Examples
    --------
    >>> from kalos_core import Annotations, agreement
    >>> rows = [
    ...     {"image": i, "rater": r, "category": "cat", "box": [x, 0, 9, 9]}
    ...     for i in range(8)
    ...     for r, x in [("ann", 0), ("bob", 0), ("cid", 0), ("cid", 50)]
    ... ]
    >>> found = unit_truth(agreement(Annotations.from_rows(rows), bootstrap=0))
    >>> found.to_pandas().iloc[:2, :6].round(2).to_dict("list")["existence"]
    [0.99, 0.0]
    >>> dict(zip(found.estimate.raters, found.estimate.skill.round(2).tolist()))
    {'ann': 0.99, 'bob': 0.99, 'cid': 0.49}
    """

    _call = "unit_truth(agreement(annotations))"

    estimate: LabelTruth
    code: NDArray[np.intp]
    units: Units
    images: NDArray[np.object_]
    categories: NDArray[np.object_]

    @property
    def existence(self) -> NDArray[np.float64]:
        """(U,) probability that the unit is an object of any class."""
        return np.asarray(1 - self.estimate.probability[:, self.code == NO_OBJECT].sum(axis=1))

    @property
    def category(self) -> NDArray[np.intp]:
        """(U,) likeliest class if the unit is an object, as a code into `categories`; the first if tied."""
        known = self._of_objects
        return self.code[self.code != NO_OBJECT][known.argmax(axis=1)] if known.size else np.zeros(len(known), np.intp)

    @property
    def confidence(self) -> NDArray[np.float64]:
        """(U,) probability that the unit is an object of the class in `category`."""
        return np.asarray(self._of_objects.max(axis=1, initial=0))

    @property
    def tied(self) -> NDArray[np.bool_]:
        """(U,) whether several classes are equally likely."""
        return np.asarray((self._of_objects >= self.confidence[:, None] - ROUNDING).sum(axis=1) > 1)

    @property
    def overruled(self) -> NDArray[np.bool_]:
        """(U,) whether the likeliest answer differs from that of most raters; False if votes are tied."""
        votes = np.zeros(self.estimate.probability.shape, np.intp)
        unit, rater = np.nonzero(self.units.values != NOT_ASSIGNED)
        np.add.at(votes, (unit, np.searchsorted(self.code, self.units.values[unit, rater])), 1)
        most = votes.max(axis=1, initial=0)
        likeliest = self.estimate.label_codes
        own = np.take_along_axis(votes, np.maximum(likeliest, 0)[:, None], axis=1)[:, 0] if votes.size else most
        return np.asarray(((votes == most[:, None]).sum(axis=1) == 1) & (likeliest >= 0) & (own < most))

    @property
    def _of_objects(self) -> NDArray[np.float64]:
        """(U, L or L - 1) probabilities of the classes, without "no object"."""
        return np.asarray(self.estimate.probability[:, self.code != NO_OBJECT])

    @property
    def headline(self) -> str:
        """Summary of the result in one line."""
        sure = self.estimate.confidence
        of = f"of {number_of(len(self.units), 'unit')}"
        text = (
            f"{number_of(int((self.existence >= 0.5).sum()), f'{of} is an object', f'{of} are objects')} by "
            f"{number_of(len(self.estimate.raters), 'rater')}, "
            f"mean posterior {percent_text(float(sure.mean())) if len(sure) else 'undefined'}"
            f"; {int(self.overruled.sum()):,} against most of their raters"
        )
        return text + self.estimate.doubts

    def to_pandas(self) -> pd.DataFrame:
        """Return one row for each unit: image, likeliest class and its probability, existence, and votes."""
        values = self.units.values
        about = "image:images[units.image] category:categories[category] confidence existence tied overruled"
        counts = {"annotated": (values >= 0).sum(axis=1), "assigned": (values != NOT_ASSIGNED).sum(axis=1)}
        return self._frame(about).assign(**counts)


@takes(SkillSettings)
def unit_truth(agreement: Agreement, settings: SkillSettings) -> UnitTruth:
    """Estimate whether each unit is an object, its class, and the confusions of each rater.

    Applies `dawid_skene` to units. A rater's answer to a unit is the class they gave it, or "no object" if they were
    assigned and annotated nothing. A rater with many false positives thus counts little where they are alone, and one
    who misses many objects counts little where they annotated nothing. `instance_consensus` turns the result into
    annotations.

    **Assumptions, and when not to use it.** Those of `dawid_skene`: one true class, raters who err independently, most
    of them better than chance. In addition:

    * *Raters differ.* For synthetic raters of very different skill, it finds objects that the majority does not. For
      three raters of equal skill the majority is right more often, for five as often. With three raters or fewer, use
      votes.
    * *Units are right.* Annotations of one object that were not matched are two units, and look like an error of all
      raters at both. Choose the threshold first (`calibrate`).
    * *A unit exists because a rater annotated it.* Objects that all raters missed are no units, so common misses are
      underestimated. Every false positive was annotated by some rater, so raters are not quite independent there.
    * *Objects are alike.* Small objects that only the best rater sees are estimated to be no objects.

    `LabelTruth.overturned` counts units to which all of their raters, two or more, gave one class but which got another
    answer, such as no object. If it is above 0, the headline says DOUBTFUL; prefer votes (`instance_consensus` without
    a truth).

    Parameters
    ----------
    agreement : Agreement
        Agreement that groups the annotations into units.

    Returns
    -------
    UnitTruth

    Raises
    ------
    InputError
        If raters are local to their image, the model is unknown, or there are more raters and classes than confusion
        matrices may have cells.

    Examples
    --------
    ann and bob agree on ten cats. cid finds five of them, and sees five more where ann and bob see nothing:

    >>> from kalos_core import Annotations, agreement
    >>> rows = [
    ...     {"image": i, "rater": r, "category": "cat", "box": [x, 0, 9, 9]}
    ...     for i in range(10)
    ...     for r, x in [("ann", 0), ("bob", 0), ("cid", 50 * (i % 2))]
    ... ]
    >>> found = unit_truth(agreement(Annotations.from_rows(rows), bootstrap=0))
    >>> found.headline.partition(",")[0], int(found.overruled.sum())
    ('10 of 15 units are objects by 3 raters', 0)
    >>> found.estimate.classes.tolist(), found.estimate.skill.round(2).tolist()
    (['no object', 'cat'], [0.99, 0.99, 0.33])
    """
    check_agreement(agreement)
    source, units = agreement.annotations, agreement.units
    refuse_local_raters(source, "who is right")
    found = dawid_skene(units.values, **settings.record())
    code = found.classes.astype(np.intp)
    names = np.append(source.categories, NOTHING)  # NO_OBJECT counts from the end
    estimate = replace(found, raters=source.raters, classes=object_array(names[code].tolist()))
    return UnitTruth(estimate, code, units, source.images, source.categories)
