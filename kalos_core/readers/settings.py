"""Options that readers of objects share, each declared once; a format with more of them extends these settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Annotated, Literal, ParamSpec, TypeVar

from kalos_core.annotations import OnInvalid
from kalos_core.arrays import uncollected
from kalos_core.options import Option, Settings
from kalos_core.readers.folders import AssignedFiles
from kalos_core.readers.vocabulary import Aliases

P = ParamSpec("P")
Read = TypeVar("Read")

CategoryField = Annotated[
    str | None, Option("Field of the class", "Field of an annotation that holds the class as text.")
]

RatersAreLocal = Annotated[
    bool,
    Option(
        "Raters are local",
        "Whether a rater's name means somebody within one image only: rater 1 of one image is not rater 1 of the next.",
    ),
]

RaterFrom = Annotated[
    Literal["file", "task"],
    Option(
        "Raters",
        "Where the names of raters are from.",
        choices={"file": "each file or folder is of a rater", "task": "each task in a file, by its name, is a rater"},
    ),
]


@dataclass(frozen=True, kw_only=True)
class ReaderSettings(Settings):
    """Options of every reader."""

    on_invalid: OnInvalid = "raise"


@dataclass(frozen=True, kw_only=True)
class AliasSettings(ReaderSettings):
    """Options of readers of formats in which raters may name the same class differently."""

    aliases: Aliases = None


@dataclass(frozen=True, kw_only=True)
class FolderSettings(AliasSettings):
    """Options of readers of one folder a rater and one file an image."""

    assigned: AssignedFiles = "files"


def reading(function: Callable[P, Read]) -> Callable[P, Read]:
    """Let a function read a file without Python's search for cycles, which takes as long as the reading itself.

    Parsed files are very many small lists and dictionaries, none of which holds itself.

    Examples
    --------
    >>> import gc
    >>> reading(gc.isenabled)(), gc.isenabled()
    (False, True)
    """

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> Read:
        with uncollected():
            return function(*arguments, **named)

    return call
