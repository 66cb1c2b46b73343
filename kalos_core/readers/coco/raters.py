"""Raters in a COCO file: names, persons and sessions, of annotations and of assignments.

A rater is one row of the reliability matrix: a person, or one session of a person. If ``rater_list`` maps persons to
their sessions (KaLOS files), each annotation has a ``session_id``, and every session is a separate rater.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kalos_core.annotations import as_name
from kalos_core.errors import Problems, listed, repr_of
from kalos_core.readers.coco.columns import KNOWN_FIELDS, RATER_FIELDS, SESSION_FIELD, Records
from kalos_core.readers.coco.settings import Assignment, Crowds

Identity = tuple[str, str]
"""Person and session, "" without sessions."""


@dataclass(frozen=True)
class Info:
    """Metadata of a file under ``info``, as written by `write_coco`.

    Parameters
    ----------
    raters : dict
        Name of each rater -> person and session.
    limits : optional
        Rater -> classes that the rater is assigned to, as in the file.
    raters_are_local, own_ids, regions : bool
        Whether names of raters are only valid within an image, whether ids were replaced by numbers, and whether crowd
        marks mean regions.
    """

    raters: Mapping[str, Identity]
    limits: Any
    raters_are_local: bool
    own_ids: bool
    regions: bool

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Info:
        """Return the metadata in the content of a file."""
        given = data.get("info")
        info = given if isinstance(given, Mapping) else {}
        of_raters, local = _described(info.get("raters", ())), info.get("raters_are_local") is True
        own_ids, regions = info.get("ids") == "source_id", info.get("crowds") == "regions"
        return cls(of_raters, info.get("rater_categories"), local, bool(own_ids), bool(regions))

    def rule(self, crowds: Crowds) -> Crowds:
        """Return the meaning of crowd marks, which the file may define."""
        return "regions" if crowds == "auto" and self.regions else crowds


class Raters:
    """The raters of a file: those of ``info.raters`` first, then those in the images' lists, then all others.

    Parameters
    ----------
    info : Info
    problems : Problems

    Examples
    --------
    >>> raters = Raters(Info.of({}), Problems("labels.json"))
    >>> images = [{"id": 7, "rater_list": {"ann": [1, 2]}}]
    >>> raters.listed(images)
    [['ann (S1)', 'ann (S2)']]
    >>> raters.annotators(Records([{"image_id": 7, "rater_id": "ann", "session_id": 2}]), "rater_id", images)
    ['ann (S2)']
    >>> raters.identity
    {'ann (S1)': ('ann', '1'), 'ann (S2)': ('ann', '2')}
    """

    def __init__(self, info: Info, problems: Problems) -> None:
        self._described, self.problems = info.raters, problems
        self._name_of = {identity: name for name, identity in self._described.items() if identity[1]}
        self.identity: dict[str, Identity] = dict(self._described)
        """Name of each rater -> person and session, in order."""

    def _name(self, person: str, session: str = "") -> str:
        """Return the name of the rater for a person and session, and add it to the raters."""
        name = self._name_of.get((person, session)) or (f"{person} (S{session})" if session else person)
        identity = self.identity.setdefault(name, (person, session))
        if identity != (person, session) and name not in self._described:
            actual = f"also session {repr_of(session)} of {repr_of(person)}"
            self.problems.add(f"rater {repr_of(name)}", "a name of its own", actual)
        return name

    def listed(self, images: Sequence[Mapping[str, Any]]) -> list[list[str] | None]:
        """Return the (I,) raters that each image lists, None without a list."""
        return [self._listed(image.get("rater_list")) for image in images]

    def _listed(self, value: Any) -> list[str] | None:
        if value is None:
            return None
        if isinstance(value, Mapping):
            return [self._name(as_name(person), as_name(session)) for person, of in value.items() for session in of]
        return [self._name(as_name(name)) for name in value]

    def annotators(self, annotations: Records, rater_field: str, images: Sequence[Mapping[str, Any]]) -> list[Any]:
        """Return the (N,) rater of each annotation; invalid names stay unchanged, to be reported."""
        persons = annotations.column(rater_field)
        list_of = {image.get("id"): image.get("rater_list") for image in images}
        without = not annotations.has(SESSION_FIELD) and not any(isinstance(of, Mapping) for of in list_of.values())
        if without and set(map(type, persons)) <= {str, int, type(None)}:  # no booleans, which equal 0 or 1
            name_as = {person: as_name(person) for person in dict.fromkeys(persons)}
            for name in filter(None, name_as.values()):
                self._name(name)
            return [name_as[person] for person in persons]
        found: list[Any] = []
        written = zip(annotations.keys("image_id"), annotations.column(SESSION_FIELD, ...), strict=True)
        for row, (person, (image, given)) in enumerate(zip(map(as_name, persons), written, strict=True)):
            raters, session = list_of.get(image), ""
            if isinstance(raters, Mapping) or (raters is None and given is not ...):
                session = as_name(None if given is ... else given)
                if not isinstance(session, str):
                    actual = "nothing" if session is None else repr_of(session)
                    record = annotations.name_of(row)
                    self.problems.add(record, f"a {SESSION_FIELD}, as its image lists sessions", actual)
                    session = ""
            found.append(self._name(person, session) if isinstance(person, str) else person)
        return found

    def facts(self) -> dict[str, Any]:
        """Return the fields of `kalos_core.annotations.Source` that depend on the raters."""
        person, session = zip(*self.identity.values(), strict=True) if self.identity else ((), ())
        return {"raters": list(self.identity), "person": person, "session": session}

    def rows_of(self, person_or_name: str) -> list[str]:
        """Return the rater of that name, else all sessions of that person, else the name unchanged."""
        if person_or_name in self.identity:
            return [person_or_name]
        return [name for name, (person, _) in self.identity.items() if person == person_or_name] or [person_or_name]


def assigned_raters(
    listed: Sequence[list[str] | None],
    images: Sequence[Any],
    annotators: Sequence[Any],
    image_of: Sequence[Any],
    rule: Assignment,
) -> list[list[str] | None]:
    """Return the (I,) raters assigned to each image, None for every rater.

    Parameters
    ----------
    listed : sequence (I,)
        Raters that each image lists.
    images : sequence (I,)
        Ids of the images.
    annotators, image_of : sequences (N,)
        Rater and image of each annotation.
    rule : "all" or "drew"
        Who was assigned to an image without a list.
    """
    if rule == "all":
        return list(listed)
    annotated: dict[Any, set[str]] = {}
    for image, rater in zip(image_of, annotators, strict=True):
        if isinstance(rater, str):
            annotated.setdefault(image, set()).add(rater)
    return [
        sorted(annotated.get(image, ())) if names is None else names
        for image, names in zip(images, listed, strict=True)
    ]


def find_rater_field(annotations: Records) -> str:
    """Return the field with the rater of an annotation."""
    return next(filter(annotations.has, KNOWN_FIELDS), RATER_FIELDS[0])


def without_raters(rows: Sequence[Any], given: str | None) -> str:
    """Return the message for annotations without any rater."""
    records = [row for row in rows if isinstance(row, Mapping)]
    there = dict.fromkeys(str(name) for row in records for name in row)
    given_there = [row["attributes"] for row in records if isinstance(row.get("attributes"), Mapping)]
    inside = dict.fromkeys(f"attributes.{name}" for entry in given_there for name in entry)
    looked = repr_of(given) if given else f"{listed(RATER_FIELDS, 20)}, or attributes of these names"
    return (
        f"expected the rater of each annotation under {looked}; annotations have {listed([*there, *inside], 20)}. Name "
        "the field by rater_field=, or give a folder with one COCO file for each rater"
    )


def is_rater_list(value: object) -> bool:
    """Check whether `value` is a list of names, or a mapping of persons to lists of sessions."""
    if isinstance(value, Mapping):
        return all(isinstance(as_name(person), str) and are_names(of) for person, of in value.items())
    return are_names(value)


def are_names(value: object) -> bool:
    """Check whether `value` is a list of names."""
    return isinstance(value, (list, tuple)) and all(isinstance(as_name(name), str) for name in value)


def _described(entries: Any) -> dict[str, Identity]:
    """Parse ``info.raters``: names, or records of ``name``, ``person`` and ``session``; ignore any other content."""
    if are_names(entries):
        return {as_name(name): (as_name(name), "") for name in entries}
    records = isinstance(entries, (list, tuple)) and all(
        isinstance(entry, Mapping) and all(isinstance(entry.get(key), str) for key in ("name", "person", "session"))
        for entry in entries
    )
    return {entry["name"]: (entry["person"], entry["session"]) for entry in entries if entry["name"]} if records else {}
