"""Options that readers of objects share, each declared once; a format with more of them extends these settings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from kalos_core.annotations import OnInvalid
from kalos_core.options import Option, Settings
from kalos_core.readers.folders import AssignedFiles
from kalos_core.readers.vocabulary import Aliases

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
