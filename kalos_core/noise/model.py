"""The noise model: all distributions with where they are from, fitted, put to use, tested, to and from JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np
from numpy.typing import ArrayLike

from kalos_core.annotations import Annotations
from kalos_core.arguments import check_arguments
from kalos_core.display import number_of
from kalos_core.errors import InputError, Problems, listed, lookup, repr_of
from kalos_core.files import load_json
from kalos_core.noise.fidelity import Fidelity, measure_fidelity
from kalos_core.noise.fit.distributions import CONSTANTS, estimate_distributions
from kalos_core.noise.fit.goodness import PERMUTATIONS, FitTests, goodness_of_fit, rate_of_fit
from kalos_core.noise.fit.observations import THRESHOLD, Observations, observe
from kalos_core.noise.generated import GeneratedRaters
from kalos_core.noise.generation import generate_raters
from kalos_core.noise.parameters import (
    DISTRIBUTIONS,
    FORMS,
    GROUPS,
    NoiseParameters,
    Overlap,
    Parameters,
    Provenance,
    to_plain,
)
from kalos_core.noise.sources import ClassSource, FalsePositiveSource
from kalos_core.results import Result

if TYPE_CHECKING:
    import pandas as pd

PRESETS = ("faithful", "paper")
"""Families of distributions that a model may be fitted with."""

OVERLAPS = {
    "matched": (
        Overlap(THRESHOLD),
        "shifts that part annotations are drawn again: the rate counts those unmatched at .5",
    ),
    "free": (Overlap(0.0), "shifts may part annotations, as in the paper"),
}
SHIFTS = tuple(OVERLAPS)
"""What may become of a shift that parts an annotation from its reference."""

FORMAT = "kalos noise model"
VERSION = 2
"""Of the layout of the JSON document; a file of another version is refused."""

DEFAULTS = Path(__file__).with_name("defaults.json")
"""The parameters that are shipped; `kalos-core noise-defaults` writes them anew."""


@dataclass(frozen=True, repr=False)
class NoiseModel(Result, NoiseParameters):
    """How raters differ from a reference, in four kinds of difference (KαLOS §9).

    `NoiseModel.default()` is the shipped one, `NoiseModel.fit(annotations)` one of your own raters.

    Figures: ``"observations"``, ``"residuals"``, ``"angles"``, ``"sizes"``, ``"areas"``, ``"confusions"``.

    Parameters
    ----------
    localization : Localization
    category : Category
    unmatched : Unmatched
    topology : Topology
    provenance : mapping distribution -> Provenance
        Where each of `DISTRIBUTIONS` is from.
    observations : Observations, optional
        What it was fitted to, for tests and plots of the fit; not part of the JSON.

    Examples
    --------
    >>> model = NoiseModel.default()
    >>> model.category.occurrence.probability, model.provenance["category.occurrence"].source
    (0.0014286, 'fitted')
    >>> NoiseModel.from_json(model.to_json()) == model
    True
    >>> NoiseModel.from_json('{"format": "kalos noise model", "version": 0}')
    Traceback (most recent call last):
    kalos_core.errors.InputError: noise model: expected version 2, got 0
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
        """The shipped model: fitted on 200 images of LVIS, with what the paper prints where these say too little."""
        return _default()

    @classmethod
    def fit(
        cls, annotations: Annotations, rate: str = "auto", *, shifts: str | None = None, preset: str = "faithful"
    ) -> NoiseModel:
        """The model of the raters of a data set; more than two raters: of all pairs of them.

        It is fitted to ``variations(annotations, max_merge=2, threshold=0.5)`` by maximum likelihood. A distribution
        with fewer than 30 observations keeps its default; see `provenance`. How often something happens is fitted
        wherever it could have happened 30 times, and is 0 where it never did. Directions of shifts lead from the
        rater of a pair who comes first in the table to the other. `fidelity` says whether generated raters differ
        from their reference as the raters differ from one another.

        Parameters
        ----------
        annotations : Annotations
            With boxes and sizes of images.
        rate : str
            How the number of unmatched annotations grows with that of a rater's annotations: ``"exponential"`` (the
            paper's Eq. 16), ``"power"``, or ``"auto"``: the one with the lower AIC; `provenance` says which and why.
        shifts : str, optional
            One of `SHIFTS`: ``"matched"``: a shift that parts an annotation from its reference is drawn again, since
            the rate counts such annotations; ``"free"``, the paper's. By default as the preset has it.
        preset : str
            One of `PRESETS`: ``"paper"`` keeps to the paper's families of distributions, with free shifts and the
            exponential rate unless asked otherwise. ``"faithful"`` lets changes of position and size grow with a power
            of the area, the number of unmatched annotations be over-dispersed, and nothing be added where nobody has
            anything.

        Raises
        ------
        InputError
            For fewer than two raters, no boxes, images of unknown size, or a name that is not known.

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
        check_arguments(NoiseModel.fit, locals())
        paper = _one_of(PRESETS, preset, "preset") == "paper"
        rate = _one_of(("auto", *FORMS), rate, "rate")
        usual = "free" if paper else "matched"
        chosen = _one_of(SHIFTS, usual if shifts is None else shifts, "shifts")
        seen = observe(annotations)
        default = cls.default()
        form = "exponential" if paper and rate == "auto" else rate
        fragmented = default.topology.susceptibility
        estimates = estimate_distributions(seen, form, paper=paper, fragmented=fragmented)
        distributions: dict[str, Parameters] = {}
        provenance: dict[str, Provenance] = {}
        for name in DISTRIBUTIONS:
            if name == "localization.overlap":
                distributions[name], reason = OVERLAPS[chosen]
                provenance[name] = Provenance("chosen", reason)
                continue
            if name in CONSTANTS:
                distributions[name], reason = CONSTANTS[name]
                provenance[name] = Provenance("paper", reason)
                continue
            found = estimates[name]
            if found.distribution is None:
                distributions[name] = default.distribution(name)
                provenance[name] = Provenance("default", found.reason, found.rows)
            else:
                distributions[name] = found.distribution
                source = "fitted" if found.rows else "paper"
                provenance[name] = Provenance(source, found.reason, found.rows, found.interval)
        return cls.of(distributions, provenance=provenance, observations=seen)

    @property
    def shifts(self) -> str:
        """``"matched"`` where changes of position and size keep an overlap, else ``"free"``."""
        return "matched" if self.localization.overlap.least > 0 else "free"

    def with_shifts(self, shifts: str) -> NoiseModel:
        """The same model with another of `SHIFTS`.

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

    def generate(
        self,
        annotations: Annotations,
        raters: int | Sequence[str] = 3,
        magnitude: float | Sequence[float] = 1.0,
        seed: int = 0,
        *,
        reference: str | Sequence[str] | None = None,
        schools: Sequence[int] | None = None,
        school_magnitude: float | Sequence[float] = 1.0,
        class_source: ClassSource | None = None,
        false_positive_source: FalsePositiveSource | None = None,
        shifts: str | None = None,
    ) -> GeneratedRaters:
        """Raters who differ from a reference as this model describes (KαLOS §9.4).

        Each rater is generated in four stages: annotations are missed and added, split and merged, given another
        class, and all that are left are moved and scaled. An annotation is changed by one stage only.

        Parameters
        ----------
        annotations : Annotations
            With boxes and sizes of images. Polygons and masks follow their boxes: they are moved and scaled, cut across
            the longer side where an annotation is split, and joined where two are merged. Other shapes are left out
            with a warning.
        raters : int or names
            How many, or what they are called.
        magnitude : float, or one for each rater
            Lambda, at least 0: the chance of every event and the size of every shift is multiplied by it. 0 gives the
            reference itself, 1 differs from it as two real raters do by the model's distributions.
        seed : int
            A rater's annotations depend on it, on the rater's number and on the order of the table, but not on how
            many raters follow.
        reference : name or names, optional
            The rater to generate from; of several, one for each school. Not needed where only one rater has
            annotations.
        schools : sizes, optional
            Schools of thought (KαLOS §5, experiment 6): the first so many raters are generated from one reference, the
            next so many from another. Without several `reference` raters, each school's reference is itself generated
            from the one there is.
        school_magnitude : float, or one for each school
            Lambda of the references of the schools.
        class_source : ClassSource, optional
            Which classes are taken for one another; by default the confusions among the raters of `annotations`,
            smoothed by class frequency.
        false_positive_source : FalsePositiveSource, optional
            Where annotations are added; by default where other images have annotations.
        shifts : str, optional
            One of `SHIFTS`, instead of the model's; see `fit`. At another magnitude than 1 the shift is drawn as at 1
            and then multiplied: a strong one parts annotations.

        Returns
        -------
        GeneratedRaters

        Raises
        ------
        InputError
            For negative magnitudes or another number of them than of raters, annotations without a box, images of
            unknown size, no annotations at all, schools that do not add up, or a source that does not know the
            reference's classes.

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
        check_arguments(NoiseModel.generate, locals(), but=("schools", "reference"))
        return generate_raters(
            self if shifts is None else self.with_shifts(shifts),
            annotations,
            raters,
            magnitude,
            seed,
            reference,
            schools,
            school_magnitude,
            class_source,
            false_positive_source,
        )

    def tests(self, similarity: ArrayLike | None = None, permutations: int = PERMUTATIONS, seed: int = 0) -> FitTests:
        """Every test of how well a fitted model describes what it was fitted to, as one table.

        Parameters
        ----------
        similarity : (K, K) float64, optional
            Of each two classes, such as the cosine of their mean embeddings; without one, Mantel's test is not
            applicable.
        permutations : int, at least 1
            Of Mantel's test and of independence.
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

    def rate_tests(self, permutations: int = PERMUTATIONS, seed: int = 0) -> FitTests:
        """Of `tests` those of the number of unmatched annotations, which take no time.

        Parameters
        ----------
        permutations : int, at least 1
            Draws that Pearson's chi-squared is compared with.
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

    def fidelity(self, annotations: Annotations, draws: int = 10, seed: int = 0) -> Fidelity:
        """Whether a generated rater differs from its reference as the real raters differ from one another.

        Each rater with annotations is a reference in turn; at magnitude 1, with the default sources. What is compared
        is (reference, generated) against (reference, another rater), for each pair of raters and each image that both
        are assigned to; of more than 50 pairs a sample.

        Parameters
        ----------
        annotations : Annotations
            Of at least two raters, with boxes and sizes of images; those the model was fitted to, or others.
        draws : int, at least 1
            How often all raters are generated.
        seed : int

        Returns
        -------
        Fidelity
            A row for each quantity, with the interval of the real data.

        Raises
        ------
        InputError
            As `fit` and `generate`, and where no two raters share an image.

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
        check_arguments(NoiseModel.fidelity, locals())
        return measure_fidelity(self, annotations, draws, seed)

    def _values(self, name: str) -> dict[str, float]:
        """The numbers of a distribution by name; several of one kind are numbered from 1."""
        values = {}
        for parameter, value in to_plain(self.distribution(name)).items():
            if isinstance(value, list):
                values.update({f"{parameter} {number}": part for number, part in enumerate(value, start=1)})
            elif value is not None and not isinstance(value, str):
                values[parameter] = value
        return values

    def _with_interval(self, name: str) -> list[str]:
        """Which of the numbers of a distribution a fit gives an interval."""
        chosen = self.distribution(name).with_interval
        return [value for value in self._values(name) if chosen is None or value in chosen]

    @property
    def headline(self) -> str:
        """The finding, in words."""
        sources = [origin.source for origin in self.provenance.values()]
        counts = ", ".join(f"{sources.count(name)} {name}" for name in dict.fromkeys(sources))
        return f"Noise model of {number_of(len(sources), 'distribution')}: {counts}; shifts {self.shifts}"

    def to_pandas(self) -> pd.DataFrame:
        """One row a number, with its 95 % interval where there is one, and where it is from; names are in reasons."""
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
        """All parameters and where they are from, as text."""
        content = {"format": FORMAT, "version": VERSION}
        content |= {group: to_plain(getattr(self, group)) for group in GROUPS}
        content["provenance"] = {distribution: to_plain(origin) for distribution, origin in self.provenance.items()}
        return json.dumps(content, indent=1, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, source: str | os.PathLike[str] | Mapping[str, Any]) -> NoiseModel:
        """A model from what `to_json` wrote.

        Parameters
        ----------
        source : text of JSON, a path, or parsed JSON

        Raises
        ------
        InputError
            Naming the file and every part that is missing, not known, or out of its range; for another version.
        """
        name, content = _content(source)
        return _model(name, content)


def choose_model(
    model: NoiseModel | str | os.PathLike[str],
    annotations: Annotations,
    rate: str = "auto",
    preset: str = "faithful",
    shifts: str | None = None,
) -> tuple[NoiseModel, str]:
    """A noise model by its name, and what to call it.

    Parameters
    ----------
    model : "default", "fit", path, JSON text or NoiseModel
        The shipped one, one that is fitted to the raters of `annotations`, or one that was saved.
    annotations : Annotations
    rate, preset : str
        How it is fitted, as in `NoiseModel.fit`.
    shifts : str, optional
        Instead of the model's.

    Raises
    ------
    InputError
        For anything else, for raters too few to fit, and for `rate` and `preset` where nothing is fitted.

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
    for name, value, usual in (("rate", rate, "auto"), ("preset", preset, "faithful")):
        if value != usual and model != "fit":
            raise InputError(
                f"{name}: expected {usual!r} unless the model is fitted (model='fit'), got {repr_of(value)}"
            )
    if model == "fit":
        raters = annotations.raters
        if len(raters) < 2:
            raise InputError(f"model: expected two real raters or more to fit one, got {listed(raters)}")
        return NoiseModel.fit(annotations, rate, shifts=shifts, preset=preset), f"fitted on {listed(raters, 20)}"
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
    return (chosen if shifts is None else chosen.with_shifts(shifts)), title


def _one_of(known: Sequence[str], name: str, what: str) -> str:
    return lookup(dict(zip(known, known, strict=True)), name, what)


def observations_of(model: NoiseModel) -> Observations:
    """What a model was fitted to; an error where it does not carry it."""
    if model.observations is None:
        raise InputError("model: expected one from NoiseModel.fit, got one without observations")
    return model.observations


@cache
def _default() -> NoiseModel:
    return NoiseModel.from_json(DEFAULTS)


def _content(source: object) -> tuple[str, Mapping[str, Any]]:
    """What to call a document in messages, and what is in it."""
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
    if content.get("format") != FORMAT:
        raise InputError(f"{name}: expected the format {FORMAT!r}, got {content.get('format')!r}")
    if content.get("version") != VERSION:
        raise InputError(f"{name}: expected version {VERSION}, got {content.get('version')!r}")
    return name, content


def _model(name: str, content: Mapping[str, Any]) -> NoiseModel:
    problems = Problems(name)
    expected = ("format", "version", *GROUPS, "provenance")
    parts = _parts(content, expected, "the document", problems)
    groups = {}
    for group, record in GROUPS.items():
        hints = get_type_hints(record)
        distributions = _parts(parts.get(group, {}), [entry.name for entry in fields(record)], group, problems)
        groups[group] = {
            distribution: _record(hints[distribution], given, f"{group}.{distribution}", problems)
            for distribution, given in distributions.items()
        }
    origins = _parts(parts.get("provenance", {}), DISTRIBUTIONS, "provenance", problems)
    provenance = {
        distribution: _record(Provenance, given, f"provenance of {distribution}", problems)
        for distribution, given in origins.items()
    }
    problems.raise_if_any()
    records: dict[str, Any] = {group: record(**groups[group]) for group, record in GROUPS.items()}
    return NoiseModel(**records, provenance=provenance)


def _parts(given: object, expected: Sequence[str], where: str, problems: Problems) -> Mapping[str, Any]:
    """The expected entries of an object; what is missing or not known is a problem."""
    if not isinstance(given, Mapping):
        problems.add(where, "an object", repr_of(given))
        return {}
    missing = [name for name in expected if name not in given]
    strange = [name for name in given if name not in expected]
    if missing:
        problems.add(where, f"the part{'s' if len(missing) > 1 else ''} {listed(missing)}", "nothing")
    if strange:
        problems.add(where, f"only {listed(expected, len(expected))}", listed(map(repr_of, strange)))
    return {name: given[name] for name in expected if name in given}


def _record(kind: Any, given: object, where: str, problems: Problems) -> Any:
    """One record; None, and a problem noted, where it cannot be made."""
    names = [entry.name for entry in fields(kind)]
    before = problems.count
    values = _parts(given, names, where, problems)
    if problems.count > before:
        return None
    try:
        return kind(**values)
    except InputError as error:
        problems.add(where, *_expected_and_came(error))
        return None


def _expected_and_came(error: InputError) -> tuple[str, str]:
    """Both halves of a message of the form "name: expected this, got that", the name of the field with the first."""
    start, _, actual = str(error).partition(", got ")
    owner, _, expected = start.partition(": expected ")
    return f"{owner.partition('.')[2]} to be {expected}", actual
