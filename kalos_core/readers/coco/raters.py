"""Who annotated and who is assigned: names, persons and sessions in a COCO file of several raters.

A rater is one row of the reliability matrix: a person, or one session of a person. Where ``rater_list`` maps persons to
their sessions (KaLOS files), each annotation says its ``session_id`` and every session is a rater of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from kalos_core.annotations import as_name
from kalos_core.errors import InputError, Problems, is_hashable, listed, repr_of
from kalos_core.options import Option

if TYPE_CHECKING:
    from kalos_core.readers.coco.columns import Records

RATER_FIELDS = (
    "rater_id", "rater", "annotator", "rad_id", "annotator_id", "user", "user_id", "worker", "worker_id", "labeler",
    "labeler_id",
)  # fmt: skip
"""Names under which files hold the rater of an annotation."""

KNOWN_FIELDS = (*RATER_FIELDS, *(f"attributes.{name}" for name in RATER_FIELDS))
"""Where the rater of an annotation is looked for; the first that occurs is read."""

SESSION_FIELD = "session_id"

Assignment = Annotated[
    Literal["all", "drew"],
    Option(
        "Assigned where rater_list is absent",
        "Who was assigned to images without rater_list.",
        choices={"all": "every rater of the file", "drew": "those who annotated something there"},
    ),
]

Identity = tuple[str, str]
"""Person and session, "" where there are no sessions."""


@dataclass(frozen=True)
class Raters:
    """The raters of a file.

    Parameters
    ----------
    identity : dict
        Name of each rater, in order -> person and session.
    of_annotation : list (N,)
        The rater of each annotation; what is no name stays as it is, to be refused.
    listed : list (I,)
        Who each image lists, None where it has no list.
    """

    identity: dict[str, Identity]
    of_annotation: list[Any]
    listed: list[list[str] | None]

    @property
    def names(self) -> list[str]:
        """The raters' names, in the source's order."""
        return list(self.identity)

    def facts(self) -> dict[str, Any]:
        """The fields of `kalos_core.annotations.Source` that raters decide."""
        person, session = zip(*self.identity.values(), strict=True) if self.identity else ((), ())
        return {"raters": self.names, "person": person, "session": session}

    def assigned(
        self, image_of_annotation: Sequence[Any], images: Sequence[Any], rule: Assignment
    ) -> list[list[str] | None]:
        """Who was assigned in each image, None for every rater."""
        if rule == "all":
            return list(self.listed)
        annotated: dict[Any, set[str]] = {}
        for image, rater in zip(image_of_annotation, self.of_annotation, strict=True):
            if isinstance(rater, str) and is_hashable(image):
                annotated.setdefault(image, set()).add(rater)
        return [
            sorted(annotated.get(image, ())) if names is None else names
            for image, names in zip(images, self.listed, strict=True)
        ]

    def rows_of(self, person_or_name: str) -> list[str]:
        """The rater of that name, else all sessions of that person, else the name as it is."""
        if person_or_name in self.identity:
            return [person_or_name]
        return [name for name, (person, _) in self.identity.items() if person == person_or_name] or [person_or_name]


def find_raters(
    data: Mapping[str, Any],
    images: Sequence[Mapping[str, Any]],
    annotations: Records,
    rater_field: str,
    record_name: Callable[[int], str],
    problems: Problems,
) -> Raters:
    """The raters of a file: those of ``info.raters`` first, then those of images' lists, then any other."""
    known = _described(data)
    name_of = {identity: name for name, identity in known.items() if identity[1]}
    found: dict[str, Identity] = dict(known)

    def note(person: str, session: str) -> str:
        name = name_of.get((person, session)) or (f"{person} (S{session})" if session else person)
        identity = found.setdefault(name, (person, session))
        if identity != (person, session) and name not in known:
            problems.add(
                f"rater {repr_of(name)}", "a name of its own", f"also session {repr_of(session)} of {repr_of(person)}"
            )
        return name

    listed = [_listed(image.get("rater_list"), note) for image in images]
    in_sessions = {image.get("id"): isinstance(image.get("rater_list"), Mapping) for image in images}
    has_list = {image.get("id") for image in images if image.get("rater_list") is not None}
    persons = annotations.column(rater_field)
    without = not any(in_sessions.values()) and not annotations.has(SESSION_FIELD)
    if without and set(map(type, persons)) <= {str, int, type(None)}:  # no truth value, which is like 0 or 1
        name_as = {person: as_name(person) for person in dict.fromkeys(persons)}
        for name in filter(None, name_as.values()):
            note(name, "")
        return Raters(found, [name_as[person] for person in persons], listed)
    of_annotation: list[Any] = []
    rows = zip(
        map(as_name, persons), annotations.column("image_id"), annotations.column(SESSION_FIELD, ...), strict=True
    )
    for position, (person, image, written) in enumerate(rows):
        session: Any = ""
        known_image = is_hashable(image)
        if known_image and (in_sessions.get(image) or (written is not ... and image not in has_list)):
            session = as_name(None if written is ... else written)
            if not isinstance(session, str):
                actual = "nothing" if session is None else repr_of(session)
                problems.add(record_name(position), f"a {SESSION_FIELD}, as its image lists sessions", actual)
                session = ""
        of_annotation.append(note(person, session) if isinstance(person, str) else person)
    return Raters(found, of_annotation, listed)


def find_rater_field(annotations: Records) -> str:
    """The field that holds the rater of an annotation."""
    return next(filter(annotations.has, KNOWN_FIELDS), RATER_FIELDS[0])


def without_raters(rows: Sequence[Any], given: str | None) -> str:
    """What to say where none of some annotations has a rater."""
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
    """Whether `value` is a list of names, or a mapping of persons to lists of sessions."""
    if isinstance(value, Mapping):
        return all(isinstance(as_name(person), str) and are_names(of) for person, of in value.items())
    return are_names(value)


def are_names(value: object) -> bool:
    """Whether `value` is a list of names."""
    return isinstance(value, (list, tuple)) and all(isinstance(as_name(name), str) for name in value)


def class_limits(info: Mapping[str, Any], source: str) -> dict[str, list[Any]] | None:
    """``info.rater_categories``: the classes each rater is assigned to, by name or by id."""
    limits = info.get("rater_categories")
    if limits is None:
        return None
    if not isinstance(limits, Mapping) or not all(isinstance(keys, (list, tuple)) for keys in limits.values()):
        raise InputError(
            f"{source}: expected info.rater_categories to map raters to lists of classes, got {repr_of(limits)}"
        )
    return {as_name(rater): list(keys) for rater, keys in limits.items()}


def _listed(value: Any, note: Any) -> list[str] | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return [note(as_name(person), as_name(session)) for person, of in value.items() for session in of]
    return [note(as_name(name), "") for name in value]


def info_of(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """What a file says of itself."""
    info = data.get("info")
    return info if isinstance(info, Mapping) else {}


def _described(data: Mapping[str, Any]) -> dict[str, Identity]:
    """``info.raters``: names, or records of ``name``, ``person`` and ``session``. Another file's may be anything."""
    entries = info_of(data).get("raters", ())
    if are_names(entries):
        return {as_name(name): (as_name(name), "") for name in entries}
    records = isinstance(entries, (list, tuple)) and all(
        isinstance(entry, Mapping) and all(isinstance(entry.get(key), str) for key in ("name", "person", "session"))
        for entry in entries
    )
    return {entry["name"]: (entry["person"], entry["session"]) for entry in entries if entry["name"]} if records else {}
