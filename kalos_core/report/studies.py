"""Study of the agreement of raters with all diagnostics, in one call."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kalos_core._agreement import Agreement, AgreementSettings, agreement
from kalos_core.annotations import Annotations, overview
from kalos_core.calibration import Calibration, ThresholdAdvice, calibrate, threshold_advice
from kalos_core.calibration.compute import Similarities
from kalos_core.convergence import ConvergenceStudy, convergence_study, label_convergence
from kalos_core.convergence.interval import Share, Subsets
from kalos_core.decisions import disputes
from kalos_core.diagnostics import Diagnosis, NarrowedAgreement, diagnose, narrowed
from kalos_core.display import number_of
from kalos_core.drawing import Drawing, draw_members
from kalos_core.drawing.outlines import FLAT
from kalos_core.errors import InputError, KalosWarning, Undefined, or_reason
from kalos_core.nominal import GradeAgreement, attribute_agreement, attributes_table, least_agreed_first
from kalos_core.options import no_progress, takes
from kalos_core.results import Parts, Result
from kalos_core.similarity import SIMILARITIES
from kalos_core.similarity.fitting import fitting_similarities
from kalos_core.statements import Statement, statements
from kalos_core.variation import (
    NarrowedVariations,
    Scorecard,
    VariationShares,
    narrowed_variations,
    rater_scorecards,
    variation_shares,
    variations,
)

if TYPE_CHECKING:
    import pandas as pd

WORST = 8
"""Number of disputed units that are drawn."""

DIVIDED = ("merged", "merged_wrong_class")
"""Variation types for which a unit alone does not show the other raters' annotations."""

MOST_EXAMPLES = 60
"""Maximum number of example drawings in a study, of about 20 kB each."""

SIDE = 300
"""Longest side of a drawing in pixels."""

MOST_DRAWS = 200
"""Replicates of the calibration: enough for its intervals, and fast (2 s for 200 images)."""

Folder: TypeAlias = str | PathLike[str] | None

Examples: TypeAlias = Mapping[str, Mapping[str, Drawing]]
"""Rater -> variation type -> drawing."""

LOCAL = (
    "There are no results per rater: a rater's name stands for different people on different images (as with the "
    "reading sessions of LIDC), and a number for it would mix them."
)
"""Reason why there is no table, page or matrix of raters."""


@dataclass(frozen=True)
class Advised:
    """Alpha at the recommended threshold, or at the nearest one computed."""

    threshold: float
    alpha: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False, repr=False)
class Study(Parts):
    """The result of `study`; parts that the labels do not allow are `Undefined`.

    Figures: ``"agreement"``, ``"class_difficulty"``, ``"cards"``, ``"variations"``, ``"sensitivity"``,
    ``"collaboration"``, ``"vitality"``, ``"shares"``, ``"calibration"``, ``"convergence"``, ``"intra_rater"``,
    ``"team_agreement"``, if they are defined.

    Parameters
    ----------
    agreement : NarrowedAgreement
    diagnosis : Diagnosis
    variations : NarrowedVariations or Undefined
    shares : VariationShares or Undefined
    calibration : Calibration or Undefined
    convergence : ConvergenceStudy or Undefined
    said : sequence of Statement
    worst : sequence of Drawing
        Disputed units, in the recommended order of decisions.
    examples : mapping
        Rater -> variation type -> drawing.
    advice : ThresholdAdvice, optional
        Advice of the calibration on the threshold in use.
    advised : Advised, optional
        Alpha with the recommended settings; None if no change is recommended, or it was not computed.
    open_disputes : int, optional
        Open decisions about disputed objects; None if they were not counted.
    doubts : sequence of str
        Warnings raised during the computation.
    decided : mapping of str to rows
        Title -> rows of a table of decisions so far, each a mapping of columns.
    names : (I,) str
        Display names of images.
    attributes : mapping
        Name -> agreement on an attribute of the annotations.

    Examples
    --------
    >>> rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in (1, 2) for r in "abc"]
    >>> found = study(Annotations.from_rows(rows))
    >>> found.agreement.alpha, len(found.cards), sorted(found.tables())
    (1.0, 3, ['calibration', 'classes', 'data', 'images', 'pairs', 'raters', 'sensitivity', 'variations'])
    >>> print(str(found).splitlines()[-1])
    No two raters differ in any finding.
    """

    _call = "study(annotations)"

    agreement: NarrowedAgreement
    diagnosis: Diagnosis
    variations: NarrowedVariations | Undefined
    shares: VariationShares | Undefined
    calibration: Calibration | Undefined
    convergence: ConvergenceStudy | Undefined
    said: Sequence[Statement]
    worst: Sequence[Drawing] = ()
    examples: Examples = field(default_factory=dict)
    advice: ThresholdAdvice | None = None
    advised: Advised | None = None
    open_disputes: int | None = None
    doubts: Sequence[str] = ()
    decided: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    names: Sequence[str] = ()
    attributes: Mapping[str, GradeAgreement | Undefined] = field(default_factory=dict)

    @property
    def headline(self) -> str:
        """All statements, one a line."""
        return "\n".join(entry.text for entry in self.said)

    def parts(self) -> dict[str, Result | Undefined]:
        """Return results by name, or reasons why they are undefined."""
        names = "agreement class_difficulty cards variations sensitivity collaboration vitality shares calibration"
        rest = "convergence intra_rater team_agreement"
        found = {**super().parts(), **self.diagnosis.parts(), "cards": self.cards}
        return {name: found[name] for name in f"{names} {rest}".split()}

    @property
    def annotations(self) -> Annotations:
        """Annotations behind the agreement; shapes may be missing."""
        return self.agreement.annotations

    @property
    def raters_are_local(self) -> bool:
        """Whether a rater name stands for different people on different images, so results by rater are undefined."""
        return self.annotations.raters_are_local

    @cached_property
    def cards(self) -> Scorecard:
        """Scorecard of each rater."""
        found = None if isinstance(self.variations, Undefined) else self.variations
        return rater_scorecards(self.agreement, found, self.diagnosis.intra_rater)

    @property
    def graded(self) -> list[GradeAgreement]:
        """The `attributes` that could be compared, lowest agreement first."""
        return least_agreed_first(of for of in self.attributes.values() if isinstance(of, GradeAgreement))

    def summary(self) -> dict[str, Any]:
        """Return notation, alphas with intervals, and counts; None for undefined values."""
        whole, sums = self.agreement, self.agreement.sums
        values = {
            "alpha": whole.alpha,
            "alpha_low": whole.alpha_interval[0],
            "alpha_high": whole.alpha_interval[1],
            "global_alpha": whole.global_alpha,
            "global_alpha_low": whole.global_alpha_interval[0],
            "global_alpha_high": whole.global_alpha_interval[1],
        }
        return {
            "notation": sums.configuration.notation,
            **{name: None if np.isnan(value) else float(value) for name, value in values.items()},
            "images": len(whole.image_alpha),
            "defined_images": whole.images,
            "units": whole.units,
        }

    def tables(self) -> dict[str, pd.DataFrame]:
        """Return all defined tables by name.

        ``data``, ``images``, ``classes``, ``raters``, ``pairs``, ``sensitivity``, ``variations`` (findings of each
        rater), ``calibration``, ``ceiling`` (label convergence by subset size), ``attributes``. If raters are local to
        their image, there are no ``raters``, ``pairs`` and ``variations``.
        """
        import pandas as pd

        found: dict[str, Any] = {
            "data": overview(self.annotations),
            "images": pd.DataFrame({"image": self.names, "alpha": self.agreement.image_alpha}),
            "classes": self.diagnosis.class_difficulty,
            "raters": self.cards,
            "pairs": self.diagnosis.collaboration,
            "sensitivity": self.diagnosis.sensitivity,
            "variations": self.variations,
            "calibration": self.calibration,
            "ceiling": self.convergence,
        }
        if self.raters_are_local:
            for name in ("raters", "pairs", "variations"):
                found[name] = Undefined(LOCAL)
        elif isinstance(self.variations, NarrowedVariations):
            by_rater = self.variations.by_rater
            found["variations"] = pd.DataFrame({"rater": name, **counts} for name, counts in by_rater.items())
        if isinstance(self.convergence, ConvergenceStudy):
            found["ceiling"] = pd.DataFrame([vars(size) for size in self.convergence.sizes])
        if self.attributes:
            found["attributes"] = attributes_table(self.graded)
        return {
            name: table if isinstance(table, pd.DataFrame) else table.to_pandas()
            for name, table in found.items()
            if not isinstance(table, Undefined)
        }


@dataclass(frozen=True)
class StudyArguments(AgreementSettings):
    """Arguments of `study`: settings of the agreement and of further analyses."""

    _: KW_ONLY
    similarities: Similarities = None
    samples: Subsets = 1000
    fraction: Share = 0.1
    images: Folder = None
    progress: Callable[[float, str], None] | None = None


@takes(StudyArguments)
def study(annotations: Annotations, settings: StudyArguments) -> Study:
    """Compute agreement with all diagnostics, variations, calibration and label convergence of annotations.

    By default, all similarities that fit the shapes are calibrated.

    Parameters
    ----------
    annotations : Annotations
    images : path, optional
        Folder of the images for drawings; without it, outlines are drawn on an empty canvas.
    progress : callable, optional
        Called as ``progress(share, label)``.

    Returns
    -------
    Study
        Parts that the labels do not allow are `Undefined` with the reason; warnings are in `doubts`.

    Raises
    ------
    InputError
        As `kalos_core.agreement`.
    """
    tell, images = settings.progress or no_progress, settings.images
    _check_images(images)
    measure, chosen = settings.for_kinds(annotations)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tell(0.0, "Matching raters")
        found = agreement(annotations, **{**chosen.record(), "similarity": measure})
        tell(0.2, "Computing diagnostics")
        diagnosis = diagnose(found)
        part, on_attribute = (
            narrowed(found),
            partial(attribute_agreement, found, bootstrap=chosen.bootstrap, seed=chosen.seed),
        )
        attributes = {name: or_reason(on_attribute, name) for name in annotations.attributes}
        tell(0.4, "Classifying differences")
        differing = or_reason(lambda: narrowed_variations(variations(annotations, measure, chosen.threshold)))
        shares = or_reason(lambda: variation_shares(annotations, similarity=measure))
        tell(0.5, "Calibrating similarities")
        fitting = [name for name in fitting_similarities(annotations) if SIMILARITIES[name].kind]
        compared = fitting if settings.similarities is None else settings.similarities
        draws = min(chosen.bootstrap, MOST_DRAWS)
        calibration = or_reason(
            lambda: calibrate(annotations, compared, bootstrap=draws, seed=chosen.seed).without_distances()
        )
        advice, advised = _advice(annotations, calibration, chosen)
        tell(0.6, "Computing label convergence")
        ceiling = or_reason(
            lambda: convergence_study(
                annotations,
                label_convergence(annotations, settings.samples, settings.fraction, chosen.seed, similarity=measure),
            )
        )
        tell(0.9, "Drawing examples")
        whole = None if isinstance(ceiling, Undefined) else ceiling.whole.whole_convergence
        how = "" if isinstance(ceiling, Undefined) else ceiling.whole.how
        findings = None if isinstance(differing, Undefined) else differing
        said = statements(part, findings, whole, ceiling_how=how, advice=advice)
    for entry in caught:
        if not issubclass(entry.category, KalosWarning):
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
    doubts = list(dict.fromkeys(str(entry.message) for entry in caught if issubclass(entry.category, KalosWarning)))
    made = Study(
        part,
        diagnosis,
        differing,
        shares,
        calibration,
        ceiling,
        said,
        advice=advice,
        advised=advised,
        open_disputes=len(disputes(found)),
        doubts=[*doubts, *_images_found(annotations, images)],
        names=_names(annotations),
        attributes=attributes,
    )
    if not any(kind in FLAT for kind in annotations.shapes):  # volumes and cuboids are not drawn
        return made
    row_of = {str(name): row for row, name in enumerate(annotations.id.tolist())}

    def draw(label: str, others: bool) -> Drawing:
        rows = np.array([row_of[label]])
        if others and isinstance(differing, NarrowedVariations):
            rows = differing.found.divided_with(rows)
        return _members(found, np.isin(found.unit_of, found.unit_of[rows]), images)

    examples = {} if made.raters_are_local else examples_of(made.cards, draw)
    return replace(made, worst=_worst(found, images), examples=examples)


def _advice(
    annotations: Annotations, calibration: Calibration | Undefined, chosen: AgreementSettings
) -> tuple[ThresholdAdvice | None, Advised | None]:
    """Advice of the calibration on the settings in use, and alpha with the recommended ones."""
    if isinstance(calibration, Undefined) or chosen.similarity not in calibration.names:
        return None, None
    advice = threshold_advice(calibration, chosen.similarity, chosen.threshold)
    if advice.settings is None:
        return advice, None
    other = agreement(annotations, **{**chosen.record(), **advice.settings})
    low, high = other.alpha_interval.tolist()
    return advice, Advised(float(advice.settings["threshold"]), other.alpha, (low, high))


def _check_images(folder: Folder) -> None:
    """Check early that a folder exists."""
    if folder is not None and not Path(folder).is_dir():
        raise InputError(f"images: expected an existing folder, got {os.fspath(folder)!r}")


def _images_found(annotations: Annotations, folder: Folder) -> list[str]:
    """Note on the number of images found in the folder; empty if all are there."""
    if folder is None:
        return []
    files = [str(name) for name in annotations.files if name]
    found = sum(Path(folder, name).is_file() for name in files)
    if found == len(annotations.images):
        return []
    every = number_of(len(annotations.images), "image")
    return [f"images: {found:,} of {every} are in the folder; the others are drawn as outlines"]


def _names(annotations: Annotations) -> list[str]:
    """File name of each image, or its id."""
    return [
        without_folder(str(file or image)) for file, image in zip(annotations.files, annotations.images, strict=True)
    ]


def without_folder(name: str) -> str:
    """Remove local paths from a file name.

    Examples
    --------
    >>> without_folder("/home/ann/a.jpg"), without_folder("street/a.jpg")
    ('a.jpg', 'street/a.jpg')
    """
    path = PurePath(name)
    return path.name if path.is_absolute() else name


def _worst(found: Agreement, images: Folder) -> list[Drawing]:
    """Draw disputed units, one for each image."""
    queue = disputes(found)
    _, first = np.unique(queue.image, return_index=True)
    units = queue.unit[np.sort(first)[:WORST]].tolist()
    return [_members(found, found.unit_of == unit, images) for unit in units]


def examples_of(cards: Scorecard, draw: Callable[[str, bool], Drawing | None]) -> Examples:
    """Draw the clearest example of each variation type of each rater, up to a limit.

    `draw` is called with the id of an annotation, and whether to draw the wholes and parts of its unit too. It may
    return None.
    """
    made: dict[str, dict[str, Drawing]] = {}
    left = MOST_EXAMPLES
    for card in cards:
        for kind, ids in card.examples.items():
            drawing = draw(str(ids[0]), kind in DIVIDED) if ids and left else None
            if drawing is not None:
                made.setdefault(card.rater, {})[kind] = drawing
                left -= 1
    return made


def _members(found: Agreement, chosen: NDArray[np.bool_], images: Folder) -> Drawing:
    drawing = draw_members(found.annotations, np.flatnonzero(chosen), images, longest_side=SIDE)
    return replace(drawing, title=without_folder(drawing.title))
