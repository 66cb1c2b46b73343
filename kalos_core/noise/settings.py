"""Options of the noise model: how it is fitted, and how raters are generated from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from kalos_core.noise.sources import ClassSource, FalsePositiveSource
from kalos_core.options import Option, Seed, Settings

Rate = Annotated[
    str,
    Option(
        "Growth of the number of unmatched annotations",
        "How the number of unmatched annotations grows with that of a rater's annotations, of a class in an image; in "
        "the paper, of an image.",
        choices={
            "auto": "whichever has the lower AIC",
            "each": "so many for the first annotation, so many for each further one",
            "power": "a power of a rater's annotations",
            "exponential": "exponential, the paper's Eq. 16",
        },
    ),
]
Preset = Annotated[
    str,
    Option(
        "Distributions that are fitted",
        "Families of distributions that a model is fitted with.",
        choices={
            "faithful": "changes of position and size grow with a power of the area; annotations are unmatched class "
            "by class, with images and classes harder than others, and nothing is added where nobody has anything",
            "paper": "the paper's, with free shifts and the exponential rate unless given otherwise",
        },
    ),
]
Shifts = Annotated[
    str | None,
    Option(
        "How far annotations may be moved",
        "Treatment of a shift that parts an annotation from its reference; by default as the model or preset has "
        "it. A strong magnitude parts annotations either way.",
        choices={
            "matched": "drawn again at magnitude 1, since the rate counts annotations unmatched at 0.5",
            "free": "kept, as in the paper",
        },
    ),
]
Reference = Annotated[
    str | Sequence[str] | None,
    Option(
        "Reference",
        "The rater to generate from; of several, one for each school. Not needed where only one rater has annotations.",
        type="name or names, optional",
    ),
]
Raters = Annotated[
    int | Sequence[str],
    Option("Raters", "Number of synthetic raters, or their names.", type="int or names", flag="synthetic_raters"),
]
Magnitude = Annotated[
    float | Sequence[float],
    Option(
        "Magnitude",
        "Lambda, for all raters or for each: the chance of every event and the size of every shift is multiplied by "
        "it. 0 is the reference itself, 1 differs from it as two raters of the model's data do.",
        type="float of at least 0, or one for each rater",
    ),
]
Schools = Annotated[
    Sequence[int] | None,
    Option(
        "Schools",
        "Sizes of schools of thought (KαLOS §5, experiment 6): the first so many raters are generated from one "
        "reference, the next so many from another. Without several references, each school's is itself generated.",
        type="sizes, optional",
    ),
]


@dataclass(frozen=True)
class FitSettings(Settings):
    """How a noise model is fitted.

    Examples
    --------
    >>> FitSettings(preset="paper").chosen_shifts
    'free'
    """

    rate: Rate = "auto"
    _: KW_ONLY
    shifts: Shifts = None
    preset: Preset = "faithful"

    @property
    def is_paper(self) -> bool:
        """Whether only the paper's families of distributions are fitted."""
        return self.preset == "paper"

    @property
    def chosen_shifts(self) -> str:
        """The shifts asked for, or those of the preset."""
        return self.shifts or ("free" if self.is_paper else "matched")

    @property
    def chosen_rate(self) -> str:
        """The rate asked for, or that of the preset."""
        return "exponential" if self.is_paper and self.rate == "auto" else self.rate


@dataclass(frozen=True)
class GenerationSettings(Settings):
    """How raters are generated from a reference."""

    raters: Raters = 3
    magnitude: Magnitude = 1.0
    seed: Seed = 0
    _: KW_ONLY
    reference: Reference = None
    schools: Schools = None
    school_magnitude: Annotated[
        float | Sequence[float],
        Option(
            "Magnitude of schools",
            "Magnitude of the references that are generated.",
            type="float of at least 0, or one for each school",
        ),
    ] = 1.0
    shifts: Shifts = None
    class_source: ClassSource | None = None
    false_positive_source: FalsePositiveSource | None = None
