"""Options of the noise model: how it is fitted, and how raters are generated from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from kalos_core.noise.sources import ClassSource, FalsePositiveSource
from kalos_core.options import Option, Seed, Settings

Rate = Annotated[
    Literal["auto", "each", "power", "exponential"],
    Option(
        "Growth of the number of unmatched annotations",
        "How the number of unmatched annotations grows with the number of annotations of a rater: of a class in an "
        "image or, in the paper, of an image.",
        choices={
            "auto": "the form with the lowest AIC",
            "each": "one number for the first annotation, another for each further one",
            "power": "a power of the number of annotations",
            "exponential": "exponential, the paper's Eq. 16",
        },
    ),
]
Preset = Annotated[
    Literal["faithful", "paper"],
    Option(
        "Distributions that are fitted",
        "Families of distributions that are fitted.",
        choices={
            "faithful": "changes of position and size grow with a power of the area; unmatched annotations are counted "
            "per class, some images and classes are harder than others, and nothing is added to empty images",
            "paper": "those of the paper, with free shifts and the exponential rate unless given otherwise",
        },
    ),
]
Shifts = Annotated[
    Literal["matched", "free"] | None,
    Option(
        "How far annotations may be moved",
        "Treatment of a shift that separates an annotation from its reference; by default that of the model or preset. "
        "A large magnitude separates annotations in either case.",
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
        "Rater to generate from, or one rater for each school. Not needed if only one rater has annotations.",
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
        "Lambda, for all raters or for each: factor of the probability of every event and of the size of every shift. "
        "0 copies the reference; at 1, raters differ from it as two raters of the model's data do.",
        type="float of at least 0, or one for each rater",
    ),
]
Schools = Annotated[
    Sequence[int] | None,
    Option(
        "Schools",
        "Sizes of schools of thought (KαLOS §5, experiment 6): the raters of each school have a reference in common. "
        "If there is only one reference, that of each school is itself generated.",
        type="sizes, optional",
    ),
]


@dataclass(frozen=True)
class FitSettings(Settings):
    """Settings for fitting a noise model.

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
        """Given shifts, or those of the preset."""
        return self.shifts or ("free" if self.is_paper else "matched")

    @property
    def chosen_rate(self) -> Rate:
        """Given rate, or that of the preset."""
        return "exponential" if self.is_paper and self.rate == "auto" else self.rate


@dataclass(frozen=True)
class GenerationSettings(Settings):
    """Settings for generating raters from a reference."""

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
            "Magnitude of the generated references of schools.",
            type="float of at least 0, or one for each school",
        ),
    ] = 1.0
    shifts: Shifts = None
    class_source: ClassSource | None = None
    false_positive_source: FalsePositiveSource | None = None
