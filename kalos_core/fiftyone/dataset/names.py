"""Names of fields, derived from names of people and runs: identifiers that FiftyOne and its database can hold."""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Iterable

import fiftyone as fo

ASSIGNED_FIELD = "raters"
"""Sample field listing the names of the assigned raters, so that 'looked and annotated nothing' survives."""


def derive_field_names(wanted: Iterable[str], taken: Iterable[str], prefix: str = "rater") -> dict[str, str]:
    """A field name of its own for every name: an identifier that is not taken.

    No two underscores in a row: FiftyOne's database layer takes a name apart at them. One that is taken, or is no
    identifier, gets the prefix.

    Examples
    --------
    >>> derive_field_names(["r1", "Dr. Weiß", "dr weiß", "id", "7"], taken=["id"])
    {'r1': 'r1', 'Dr. Weiß': 'Dr_Weiß', 'dr weiß': 'dr_weiß', 'id': 'rater_id', '7': 'rater_7'}
    >>> derive_field_names(["a b", "a.b", "Anna (2)"], taken=[])
    {'a b': 'a_b', 'a.b': 'a_b_2', 'Anna (2)': 'Anna_2'}
    """
    there = set(taken)
    used = set(there)
    names: dict[str, str] = {}
    for entry in wanted:
        text = unicodedata.normalize("NFKC", entry)  # as Python reads identifiers
        spelled = "".join(character if f"_{character}".isidentifier() else "_" for character in text)
        base = re.sub("_+", "_", spelled).strip("_")
        if not _fits(base) or base in there or hasattr(fo.Sample, base):
            base = f"{prefix}_{base}".rstrip("_")
        name, number = base, 2
        while name in used:
            name, number = f"{base}_{number}", number + 1
        used.add(name)
        names[entry] = name
    return names


def _fits(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name)
