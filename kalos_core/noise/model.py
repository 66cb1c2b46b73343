"""Noise model: all distributions with their provenance; to fit, generate raters, test, and convert to and from JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kalos_core.annotations import Annotations
from kalos_core.display import number_of
from kalos_core.errors import InputError, listed, lookup, repr_of
from kalos_core.files import load_json
from kalos_core.noise.fidelity import Fidelity, FidelitySettings, measure_fidelity
from kalos_core.noise.fit.distributions import CONSTANTS, Estimate, estimate_distributions
from kalos_core.noise.fit.goodness import PERMUTATIONS, FitTests, Permutations, goodness_of_fit, rate_of_fit
from kalos_core.noise.fit.observations import THRESHOLD, Observations, observe
from kalos_core.noise.generated import GeneratedRaters
from kalos_core.noise.generation import generate_raters
from kalos_core.noise.parameters import (
    DISTRIBUTIONS,
    GROUPS,
    NoiseParameters,
    Overlap,
    Parameters,
    Provenance,
    SourceName,
)
from kalos_core.noise.settings import FitSettings, GenerationSettings
from kalos_core.options import Seed, Settings, checked, takes
from kalos_core.results import Result, plain_values

if TYPE_CHECKING:
    import pandas as pd

OVERLAPS = {
    "matched": (
        Overlap(THRESHOLD),
        "shifts that part annotations are drawn again: the rate counts those unmatched at .5",
    ),
    "free": (Overlap(0.0), "shifts may part annotations, as in the paper"),
}
"""Treatments of a shift that separates an annotation from its reference."""

FORMAT = "kalos noise model"
VERSION = 3
"""Version of the layout of the JSON document; files of other versions are rejected."""

AS_IS = FitSettings()

DEFAULTS = Path(__file__).with_name("defaults.json")
"""Parameters that are shipped; `scripts/noise_defaults.py` regenerates them."""


@dataclass(frozen=True, repr=False)
class NoiseModel(Result, NoiseParameters):
    """Model of how raters differ from a reference, in four kinds of difference (KαLOS §9).

    `NoiseModel.default()` is the shipped model; `NoiseModel.fit(annotations)` is fitted to your own raters.

    Figures: ``"observations"``, ``"residuals"``, ``"angles"``, ``"opposition"``, ``"sizes"``, ``"areas"``,
    ``"confusions"``.

    Parameters
    ----------
    localization : Localization
    category : Category
    unmatched : Unmatched
    topology : Topology
    provenance : mapping distribution -> Provenance
        Source of each of `DISTRIBUTIONS`.
    observations : Observations, optional
        Data that it was fitted to, for tests and plots of the fit; not part of the JSON.

    Examples
    --------
    >>> model = NoiseModel.default()
    >>> model.category.occurrence.probability, model.provenance["category.occurrence"].source
    (0.0014286, 'fitted')
    >>> NoiseModel.from_json(model.to_json()) == model
    True
    >>> NoiseModel.from_json('{"format": "kalos noise model", "version": 0}')
    Traceback (most recent call last):
    kalos_core.errors.InputError: noise model: expected version 3, got 0
    """

    _call = "NoiseModel.fit(annotations)"

    provenance: Mapping[str, Provenance] = field(hash=False)
    observations: Observations | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        missing = [distribution for distribution in DISTRIBUTIONS if distribution not in self.provenance]
        strange = [distribution for distribution in self.provenance if distribution not in DISTRIBUTIONS]
        if missing or strange:
            actual = f"without {listed(missing)}" if missing else f"with {listed(strange)}"
            raise InputError(f"provenance: expected the origin of each distribution, got one {actual}")
        for distribution, origin in self.provenance.items():
            count = len(self._with_interval(distribution))
            if len(origin.interval) not in (0, count):
                raise InputError(
                    f"provenance of {distribution}: expected {count} intervals, got {len(origin.interval)}"
                )
        object.__setattr__(
            self,
            "provenance",
            MappingProxyType({distribution: self.provenance[distribution] for distribution in DISTRIBUTIONS}),
        )

    @classmethod
    def default(cls) -> NoiseModel:
        """Return the shipped model: fitted on 200 images of LVIS, with values of the paper where these are too few."""
        return _default()

    @classmethod
    @takes(FitSettings)
    def fit(cls, annotations: Annotations, settings: FitSettings) -> NoiseModel:
        """Fit a model to the raters of a data set; with more than two raters, to all pairs of them.

        The fit is by maximum likelihood, on ``variations(annotations, max_merge=2, threshold=0.5)``. A distribution
        with fewer than 30 observations keeps its default; see `provenance`. The frequency of an event is fitted if it
        could have happened at least 30 times, and is 0 if it never did. Directions of shifts point from the rater of a
        pair who comes first in the table to the other. Use `fidelity` to check whether generated raters differ from
        their reference as the raters differ from one another.

        Parameters
        ----------
        annotations : Annotations
            Annotations with boxes and image sizes.

        Raises
        ------
        InputError
            For fewer than two raters, no boxes, images of unknown size, or an unknown name.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> rows = [
        ...     {"image": image, "rater": rater, "category": "cat", "box": [9 + 20 * x + rng.uniform(), 20, 9, 9]}
        ...     for image in range(30)
        ...     for x in range(image % 4 + 1)
        ...     for rater in ("ann", "bob")
        ...     if rng.random() < 0.9
        ... ]
        >>> size = {image: (100, 100) for image in range(30)}
        >>> annotations = Annotations.from_rows(rows, image_size=size, assigned="all")
        >>> model = NoiseModel.fit(annotations, rate="power")
        >>> model.unmatched.rate.form, model.shifts
        ('power', 'matched')
        """
        seen = observe(annotations)
        fragmented = cls.default().topology.susceptibility
        found = estimate_distributions(seen, settings.chosen_rate, paper=settings.is_paper, fragmented=fragmented)
        sourced = {name: _sourced(name, found, settings.chosen_shifts) for name in DISTRIBUTIONS}
        distributions = {name: distribution for name, (distribution, _) in sourced.items()}
        provenance = {name: origin for name, (_, origin) in sourced.items()}
        return cls.of(distributions, provenance=provenance, observations=seen)

    @property
    def shifts(self) -> str:
        """``"matched"`` if changes of position and size keep an overlap, else ``"free"``."""
        return "matched" if self.localization.overlap.least > 0 else "free"

    def with_shifts(self, shifts: str) -> NoiseModel:
        """Return the same model with other shifts, ``"matched"`` or ``"free"``.

        Examples
        --------
        >>> NoiseModel.default().with_shifts("free").shifts
        'free'
        """
        overlap, reason = lookup(OVERLAPS, shifts, "shifts")
        return replace(
            self,
            localization=replace(self.localization, overlap=overlap),
            provenance={**self.provenance, "localization.overlap": Provenance("chosen", reason)},
        )

    @takes(GenerationSettings)
    def generate(self, annotations: Annotations, settings: GenerationSettings) -> GeneratedRaters:
        """Generate raters who differ from a reference as this model describes (KαLOS §9.4).

        Each rater is generated in four stages. Annotations are missed and added, split and merged, and given another
        class; all that are left are moved and scaled. Only one stage changes an annotation. The annotations of a rater
        depend on the seed, the rater's number and the order of the table, but not on how many raters follow.

        Parameters
        ----------
        annotations : Annotations
            Annotations with boxes and image sizes. Polygons and masks follow their boxes: they are moved and scaled,
            cut across the longer side by a split, and joined by a merge. Other shapes are left out with a warning.
        class_source : ClassSource, optional
            Which classes are confused with one another. Default: the confusions among the raters of `annotations`,
            smoothed by class frequency.
        false_positive_source : FalsePositiveSource, optional
            Where annotations are added. Default: where other images have annotations.

        Returns
        -------
        GeneratedRaters

        Raises
        ------
        InputError
            For negative magnitudes, or not one for each rater; annotations without a box; images of unknown size; no
            annotations at all; schools that do not add up to the raters; or a source without classes of the reference.

        Examples
        --------
        >>> rows = [
        ...     {"image": image, "rater": "ann", "category": "cat", "box": [x, 20, 9, 9]}
        ...     for image in range(20)
        ...     for x in (10, 40, 70)
        ... ]
        >>> reference = Annotations.from_rows(rows, image_size={image: (100, 100) for image in range(20)})
        >>> noisy = NoiseModel.default().generate(reference, raters=3, magnitude=[0.5, 1, 2], seed=1)
        >>> list(noisy.annotations.raters)
        ['synthetic 1', 'synthetic 2', 'synthetic 3']
        >>> noisy.events.to_pandas().columns[:5].tolist()
        ['rater', 'image', 'stage', 'event', 'outcome']
        """
        model = self if settings.shifts is None else self.with_shifts(settings.shifts)
        return generate_raters(model, annotations, settings)

    @checked
    def tests(
        self, similarity: ArrayLike | None = None, permutations: Permutations = PERMUTATIONS, seed: Seed = 0
    ) -> FitTests:
        """Test how well a fitted model describes the data it was fitted to, as one table.

        Parameters
        ----------
        similarity : (K, K) float64, optional
            Similarity of each two classes, such as the cosine of their mean embeddings. Without it, Mantel's test is
            not applicable.
        permutations : int, at least 1
            Number of permutations of Mantel's test and of the test of independence.
        seed : int

        Raises
        ------
        InputError
            For a model without observations, or a matrix of another shape or with values that are not finite.

        Examples
        --------
        >>> NoiseModel.default().tests()
        Traceback (most recent call last):
        kalos_core.errors.InputError: model: expected one from NoiseModel.fit, got one without observations
        """
        return goodness_of_fit(
            observations_of(self), self.topology.opposition, self.unmatched.rate, similarity, permutations, seed
        )

    @checked
    def rate_tests(self, permutations: Permutations = PERMUTATIONS, seed: Seed = 0) -> FitTests:
        """Run only the `tests` of the number of unmatched annotations, which are fast.

        Parameters
        ----------
        permutations : int, at least 1
            Number of draws that Pearson's chi-squared is compared with.
        seed : int

        Raises
        ------
        InputError
            For a model without observations.

        Examples
        --------
        >>> rows = [
        ...     {"image": image, "rater": rater, "category": "cat", "box": [20 * x, 20, 9, 9]}
        ...     for image in range(40)
        ...     for rater, extra in (("ann", image % 3 == 0), ("bob", image % 5 == 0))
        ...     for x in range(image % 4 + extra)
        ... ]
        >>> size = {image: (100, 100) for image in range(40)}
        >>> model = NoiseModel.fit(Annotations.from_rows(rows, image_size=size, assigned="all"))
        >>> sorted(set(model.rate_tests(99).test))
        ['AIC', 'Pearson chi-squared / df']
        """
        return rate_of_fit(observations_of(self), self.unmatched.rate, permutations, seed)

    @takes(FidelitySettings)
    def fidelity(self, annotations: Annotations, settings: FidelitySettings) -> Fidelity:
        """Check whether a generated rater differs from its reference as the real raters differ from one another.

        Each rater with annotations is the reference in turn, at magnitude 1 and with the default sources. (reference,
        generated) is compared with (reference, another rater), for each pair of raters and each image that both are
        assigned to. If there are more than 50 pairs, a sample of them is used.

        Parameters
        ----------
        annotations : Annotations
            Annotations of at least two raters, with boxes and image sizes; those the model was fitted to, or others.

        Returns
        -------
        Fidelity
            One row per quantity, with the interval of the real data.

        Raises
        ------
        InputError
            For the reasons of `fit` and `generate`, or if no two raters share an image.

        Examples
        --------
        >>> rows = [
        ...     {"image": image, "rater": rater, "category": "cat", "box": [20 * x, 20, 9, 9]}
        ...     for image in range(8)
        ...     for x in range(3)
        ...     for rater in ("ann", "bob")
        ... ]
        >>> annotations = Annotations.from_rows(rows, image_size={image: (100, 100) for image in range(8)})
        >>> found = NoiseModel.default().fidelity(annotations, draws=2)
        >>> found.to_pandas().columns.tolist()
        ['quantity', 'real', 'synthetic', 'low', 'high', 'inside']
        >>> found["alpha"].real, found["alpha"].inside
        (1.0, False)
        """
        return measure_fidelity(self, annotations, settings)

    def _values(self, name: str) -> dict[str, float]:
        """Return the numbers of a distribution by name; those of a list are numbered from 1."""
        values = {}
        for parameter, value in plain_values(self.distribution(name)).items():
            if isinstance(value, list):
                values.update({f"{parameter} {number}": part for number, part in enumerate(value, start=1)})
            elif value is not None and not isinstance(value, str):
                values[parameter] = value
        return values

    def _with_interval(self, name: str) -> list[str]:
        """Return the names of the numbers for which a fit gives an interval."""
        chosen = self.distribution(name).with_interval
        return [value for value in self._values(name) if chosen is None or value in chosen]

    @property
    def headline(self) -> str:
        """The finding, in words."""
        sources = [origin.source for origin in self.provenance.values()]
        counts = ", ".join(f"{sources.count(name)} {name}" for name in dict.fromkeys(sources))
        return f"Noise model of {number_of(len(sources), 'distribution')}: {counts}; shifts {self.shifts}"

    def to_pandas(self) -> pd.DataFrame:
        """Return one row per number, with its 95 % interval, if any, and its provenance; names are in the reasons."""
        import pandas as pd

        rows = []
        for name, origin in self.provenance.items():
            values = self._values(name)
            ends = dict(zip(self._with_interval(name), origin.interval, strict=False))
            for parameter, value in values.items():
                low, high = ends.get(parameter, (np.nan, np.nan))
                rows.append((name, parameter, value, low, high, origin.source, origin.rows, origin.reason))
        columns = ["distribution", "parameter", "value", "low", "high", "source", "rows", "reason"]
        return pd.DataFrame(rows, columns=columns)

    def to_json(self) -> str:
        """Return all parameters and their provenance as JSON text."""
        content = {"format": FORMAT, "version": VERSION}
        content |= {part: plain_values(getattr(self, part)) for part in (*GROUPS, "provenance")}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> NoiseModel:
        """Load a model from the output of `to_json`.

        Parameters
        ----------
        source : text of JSON, a path, or parsed JSON

        Raises
        ------
        InputError
            For another version, or parts that are missing, unknown, or out of range; names the file and every such
            part.
        """
        from cattrs.errors import BaseValidationError

        name, content = _content(source)
        try:
            found: NoiseModel = _converter().structure(content, cls)
        except BaseValidationError as error:
            raise InputError("\n".join(f"{name}: {message}" for message in _faults(error))) from error
        return found


def choose_model(
    model: NoiseModel | str | os.PathLike[str], annotations: Annotations, settings: FitSettings = AS_IS
) -> tuple[NoiseModel, str]:
    """Return a noise model by its name, and its title.

    Parameters
    ----------
    model : "default", "fit", path, JSON text or NoiseModel
        The shipped model, one fitted to the raters of `annotations`, or a saved one.
    annotations : Annotations
    settings : FitSettings
        Settings of the fit; for other models only the shifts, which replace the model's own.

    Raises
    ------
    InputError
        For any other model, for too few raters to fit, and for `rate` or `preset` if nothing is fitted.

    Examples
    --------
    >>> row = {"image": 1, "rater": "ann", "category": "cat", "box": [10, 20, 30, 40]}
    >>> one_rater = Annotations.from_rows([row])
    >>> choose_model("default", one_rater)[1]
    'default'
    >>> choose_model("fit", one_rater)
    Traceback (most recent call last):
    kalos_core.errors.InputError: model: expected two real raters or more to fit one, got ann
    """
    if model == "fit":
        raters = annotations.raters
        if len(raters) < 2:
            raise InputError(f"model: expected two real raters or more to fit one, got {listed(raters)}")
        return NoiseModel.fit(annotations, **settings.record()), f"fitted on {listed(raters, 20)}"
    for name in ("rate", "preset"):
        value, usual = getattr(settings, name), getattr(FitSettings, name)
        if value != usual:
            raise InputError(
                f"{name}: expected {usual!r} unless the model is fitted (model='fit'), got {repr_of(value)}"
            )
    if isinstance(model, NoiseModel):
        chosen, title = model, "a model of your own"
    elif model == "default":
        chosen, title = NoiseModel.default(), "default"
    elif isinstance(model, str) and model.lstrip().startswith("{"):
        chosen, title = NoiseModel.from_json(model), "JSON"
    elif isinstance(model, (str, os.PathLike)):
        chosen, title = NoiseModel.from_json(Path(model)), Path(model).name
    else:
        raise InputError(f"model: expected 'default', 'fit', a NoiseModel or a path of its JSON, got {repr_of(model)}")
    return (chosen if settings.shifts is None else chosen.with_shifts(settings.shifts)), title


def observations_of(model: NoiseModel) -> Observations:
    """Return the data that a model was fitted to; raise an error if it has none."""
    if model.observations is None:
        raise InputError("model: expected one from NoiseModel.fit, got one without observations")
    return model.observations


@cache
def _default() -> NoiseModel:
    return NoiseModel.from_json(DEFAULTS)


def _sourced(name: str, estimates: Mapping[str, Estimate], shifts: str) -> tuple[Parameters, Provenance]:
    """Return a distribution and its provenance: chosen, printed, estimated, or taken from the shipped model."""
    if name == "localization.overlap":
        overlap, reason = OVERLAPS[shifts]
        return overlap, Provenance("chosen", reason)
    if name in CONSTANTS:
        constant, reason = CONSTANTS[name]
        return constant, Provenance("paper", reason)
    found = estimates[name]
    if found.distribution is None:
        return _default().distribution(name), Provenance("default", found.reason, found.rows)
    source: SourceName = "fitted" if found.rows else "paper"
    return found.distribution, Provenance(source, found.reason, found.rows, found.interval)


def _content(source: object) -> tuple[str, dict[str, Any]]:
    """Return the name of a document for messages, and the parameters in it."""
    name, content = "noise model", source
    if isinstance(source, str) and source.lstrip().startswith("{"):
        try:
            content = json.loads(source)
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}: expected JSON, got {error}") from error
    elif isinstance(source, (str, os.PathLike)):
        name = os.fsdecode(source)
        content = load_json(Path(name), "noise model")
    if not isinstance(content, Mapping):
        raise InputError(f"{name}: expected an object with the parameters, got {type(content).__name__}")
    parts = dict(content)
    for part, expected in (("format", FORMAT), ("version", VERSION)):
        if (actual := parts.pop(part, None)) != expected:
            raise InputError(f"{name}: expected {part} {expected!r}, got {repr_of(actual)}")
    return name, parts


@cache
def _converter() -> Any:
    """Return the converter of parameters from JSON; each record checks its own values."""
    from cattrs import Converter
    from cattrs.gen import make_dict_structure_fn, override

    def own(kind: Any) -> Any:
        given: dict[str, Any] = {entry.name: override(struct_hook=lambda value, _: value) for entry in fields(kind)}
        return make_dict_structure_fn(kind, made, **given)

    made = Converter(forbid_extra_keys=True)
    made.register_structure_hook_factory(lambda kind: isinstance(kind, type) and issubclass(kind, Settings), own)
    without = make_dict_structure_fn(NoiseModel, made, observations=override(omit=True))
    made.register_structure_hook(NoiseModel, without)
    return made


def _faults(error: Exception) -> list[str]:
    """Return all faults of a document, each with its location."""
    from cattrs import transform_error
    from cattrs.v import format_exception

    def said(cause: BaseException, kind: Any) -> str:
        return str(cause) if isinstance(cause, InputError) else format_exception(cause, kind)

    return transform_error(error, format_exception=said)
