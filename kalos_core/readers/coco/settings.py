"""Options of the readers of COCO files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from kalos_core.errors import InputError
from kalos_core.options import Option
from kalos_core.readers.settings import AliasSettings, CategoryField, ReaderSettings

Assignment = Annotated[
    Literal["all", "drew"],
    Option(
        "Assigned where rater_list is absent",
        "Who was assigned to images without rater_list.",
        choices={"all": "every rater of the file", "drew": "the raters who annotated something there"},
    ),
]

Crowds = Annotated[
    Literal["auto", "regions", "objects"],
    Option(
        "Annotations marked as a crowd",
        "Meaning of the mark iscrowd of annotations.",
        choices={
            "auto": "regions, unless most of a rater's annotations have the mark, or marked ones have the attribute "
            "occluded, as written by tools that mark every mask; the account then has a note",
            "regions": "regions of many objects, kept apart",
            "objects": "single objects like any other",
        },
    ),
]

NotExhaustive = Annotated[
    Literal["ignore", "exclude"],
    Option(
        "Classes annotated in part",
        "Handling of classes in not_exhaustive_category_ids of LVIS images, if a rater annotated none of them.",
        choices={
            "ignore": "the rater counts as assigned, as in published numbers",
            "exclude": "the rater counts as not assigned to the class there (`Annotations.excluded`)",
        },
    ),
]


@dataclass(frozen=True, kw_only=True)
class CocoFileSettings(ReaderSettings):
    """Options of `read_coco` and `stream_coco`.

    Annotations that share an id are an error; with ``on_invalid="skip"``, all are renumbered.
    """

    assigned: Assignment = "all"
    not_exhaustive: NotExhaustive = "ignore"
    crowds: Crowds = "auto"


@dataclass(frozen=True, kw_only=True)
class CocoSettings(CocoFileSettings, AliasSettings):
    """Options of `read_coco`."""

    rater_field: Annotated[
        str | None,
        Option(
            "Field of the rater",
            "Field of an annotation with its rater, such as created_by or attributes.annotator; by default "
            "rater_id or a similar name.",
        ),
    ] = None
    category_field: CategoryField = None

    @property
    def by_id(self) -> bool:
        """Whether classes are defined by ``category_id``."""
        return self.category_field is None and not self.aliases

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.not_exhaustive == "exclude" and not self.by_id:
            raise InputError("not_exhaustive: expected 'ignore' where classes are text or have aliases, got 'exclude'")


@dataclass(frozen=True, kw_only=True)
class StreamSettings(CocoFileSettings):
    """Options of `stream_coco`."""

    images_per_block: Annotated[
        int, Option("Images in a table", "Number of images in each table; the last one may have fewer.", low=1)
    ] = field(default=1000, kw_only=False)
