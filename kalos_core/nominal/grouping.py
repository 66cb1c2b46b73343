"""Image-level labels that exclude each other, as arguments and as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, TypeAlias, TypedDict

from kalos_core.errors import InputError, is_hashable, repr_of
from kalos_core.options import Option, checked

Groups: TypeAlias = Mapping[str, Sequence[str]] | str | None
"""See `LabelTable.from_rows`."""

SUGGESTED = "suggested"
"""Value of `groups` that stands for the groups that `suggest_groups` finds in the labels."""


class GroupRecord(TypedDict):
    """Group of labels; an answer must choose exactly one."""

    name: str
    labels: list[str]


def named_lists(given: Any, name: str) -> dict[str, list[Any]]:
    """Check names with a list each, such as groups with their labels.

    Examples
    --------
    >>> named_lists({"place": ("in", "out")}, "groups")
    {'place': ['in', 'out']}
    >>> named_lists({"place": "in, out"}, "groups")
    Traceback (most recent call last):
    kalos_core.errors.InputError: groups: expected names with a list each, got {'place': 'in, out'}
    """
    if not isinstance(given, Mapping) or any(
        isinstance(of, str) or not isinstance(of, Sequence) or not all(map(is_hashable, of)) for of in given.values()
    ):
        raise InputError(f"{name}: expected names with a list each, got {repr_of(given)}")
    return {of_name: list(of) for of_name, of in given.items()}


def check_grouping(groups: Any, name: str = "groups") -> Groups:
    """Check which labels exclude each other: a name for all of them, names with their labels, or None."""
    return groups if groups is None or isinstance(groups, str) else named_lists(groups, name)


Grouping = Annotated[
    Groups,
    Option(
        "Labels that exclude each other",
        "Labels that exclude each other. A name: all labels; a mapping of names to labels: those of each name; None: "
        "none.",
        type="str, mapping or None",
        check=check_grouping,
    ),
]

Teams = Annotated[
    Mapping[str, Sequence[str]] | None,
    Option(
        "Teams of raters",
        "Two names with their raters, such as experts and a crowd, which are compared.",
        type="mapping of names to rater names, optional",
        check=lambda given, name: None if given is None else named_lists(given, name),
    ),
]


@checked
def read_groups(text: str | None) -> dict[str, list[str]]:
    """Parse names with their labels from a text such as ``"place: indoor, outdoor; time: day, night"``.

    Raises
    ------
    InputError
        For a part without a name or a label, or a name given twice.

    Examples
    --------
    >>> read_groups("place: indoor, outdoor; time: day, night")
    {'place': ['indoor', 'outdoor'], 'time': ['day', 'night']}
    >>> read_groups("")
    {}
    >>> read_groups("place")
    Traceback (most recent call last):
    kalos_core.errors.InputError: groups: expected names with labels, such as 'place: indoor, outdoor', got 'place'
    """
    found: dict[str, list[str]] = {}
    for part in (text or "").replace("\n", ";").split(";"):
        name, _, rest = part.partition(":")
        labels = [label.strip() for label in rest.split(",") if label.strip()]
        if not part.strip():
            continue
        if not name.strip() or not labels:
            raise InputError(
                f"groups: expected names with labels, such as 'place: indoor, outdoor', got {part.strip()!r}"
            )
        if name.strip() in found:
            raise InputError(f"groups: expected every name once, got {name.strip()!r} twice")
        found[name.strip()] = labels
    return found
