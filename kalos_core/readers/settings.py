"""Options shared by the readers of objects; formats with further options extend these settings."""

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

CategoryField = Annotated[str | None, Option("Field of the class", "Field of an annotation with the class as text.")]

RatersAreLocal = Annotated[
    bool,
    Option(
        "Raters are local",
        "Whether a rater's name is only valid within one image: rater 1 of one image is not rater 1 of the next.",
    ),
]

RaterFrom = Annotated[
    Literal["file", "task"],
    Option(
        "Raters",
        "Source of the names of raters.",
        choices={"file": "each file or folder is a rater", "task": "each task in a file is a rater, by its name"},
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
    """Options of readers of formats with one folder per rater and one file per image."""

    assigned: AssignedFiles = "files"


def reading(function: Callable[P, Read]) -> Callable[P, Read]:
    """Decorate a reader to run without Python's cyclic garbage collection, which would double its time.

    Parsed files consist of many small lists and dictionaries without reference cycles.

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
