"""Which column of a table of boxes holds what, by the names that people give them."""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kalos_core.errors import InputError, listed, repr_of

FORMS = {
    "corners": ("x_min", "y_min", "x_max", "y_max"),
    "sides": ("x", "y", "width", "height"),
    "centre": ("x_center", "y_center", "width", "height"),
}
"""How a box is written: by its corners, by its first corner and its sides, or by its centre and its sides."""

IN_ONE = {
    "box": ("sides", "box bbox boundingbox boxes bboxes xywh bboxxywh boxxywh"),
    "box_corners": ("corners", "boxcorners bboxcorners xyxy bboxxyxy boxxyxy"),
}
"""Our name of one column with all four numbers -> its form, and how people spell it, letters and digits only."""

BOX_SPELLINGS = (
    ("corners", "xmin ymin xmax ymax"),
    ("corners", "minx miny maxx maxy"),
    ("corners", "x1 y1 x2 y2"),
    ("corners", "x0 y0 x1 y1"),
    ("corners", "left top right bottom"),
    ("corners", "xtl ytl xbr ybr"),
    ("corners", "xstart ystart xend yend"),
    ("sides", "x y width height"),
    ("sides", "x y w h"),
    ("sides", "xmin ymin width height"),
    ("sides", "xmin ymin w h"),
    ("sides", "left top width height"),
    ("centre", "xcenter ycenter width height"),
    ("centre", "xcentre ycentre width height"),
    ("centre", "centerx centery width height"),
    ("centre", "xcenter ycenter w h"),
    ("centre", "cx cy width height"),
    ("centre", "cx cy w h"),
    ("centre", "xc yc w h"),
)
"""Form of the box -> how its four columns are spelled, letters and digits only; the first that fits is taken."""

PREFIXES = ("", "bbox", "box", "bb", "rect")
"""What may stand before each of the four."""

SPELLINGS = {
    "image": (
        "image imageid imagename imagefile imagefilename imagepath img imgid imgname imgpath filename file filepath "
        "fname photo slide scan subjectid sample sampleid"
    ),
    "rater": (
        "rater raterid ratername radid radiologist radiologistid reader readerid annotator annotatorid annotatorname "
        "annotatedby worker workerid user userid username labeler labelerid labeller labellerid labeledby coder "
        "coderid observer observerid expert expertid grader graderid participant participantid completedby createdby"
    ),
    "category": (
        "category categoryname class classname label labelname species finding object objectclass name type tag "
        "classid categoryid labelid"
    ),
    "id": "id annotationid boxid bboxid objectid",
    "person": "person personid",
    "session": "session sessionid",
    "image_width": "imagewidth imgwidth imagew imgw",
    "image_height": "imageheight imgheight imageh imgh",
}
"""Our name -> how people spell it, letters and digits only; the first that a table has is taken."""

NEEDED = ("image", "rater", "category")


@dataclass(frozen=True)
class Columns:
    """Where a table holds what.

    Parameters
    ----------
    form : key of `FORMS`
    box : four columns, or one with all four
        In the order of the form.
    other : dict
        Our name -> column.
    guessed_size : bool
        Whether the columns of the images' sizes are merely called "width" and "height".
    """

    form: str
    box: tuple[Hashable, ...]
    other: dict[str, Hashable]
    guessed_size: bool = False


def find_columns(present: Sequence[Hashable], given: Mapping[str, Any] | None, source: str) -> Columns:
    """The columns of a table: those given by name, all others by how they are spelled.

    Parameters
    ----------
    present : sequence
        Names of the table's columns.
    given : mapping, optional
        Our name -> the table's.
    source : str
        What the table is, for messages.

    Raises
    ------
    InputError
        Naming what was not found, what cannot be asked for, and the columns of the table.

    Examples
    --------
    >>> find_columns(["ImageID", "user", "label", "xmin", "ymin", "xmax", "ymax"], None, "table").form
    'corners'
    >>> find_columns(["ImageID", "who", "label", "bbox_x", "bbox_y", "bbox_w", "bbox_h"], {"rater": "who"}, "").box
    ('bbox_x', 'bbox_y', 'bbox_w', 'bbox_h')
    >>> find_columns(["image", "user", "label", "bbox"], None, "table").box
    ('bbox',)
    """
    chosen = _checked(present, given, source)
    plain: dict[str, Hashable] = {}
    for column in present:
        plain.setdefault(_plain(column), column)
    found = _find_box(plain, {name: column for name, column in chosen.items() if name in BOX_NAMES})
    taken = {*chosen.values(), *(found[1] if found else ())}
    free = {spelling: column for spelling, column in plain.items() if column not in taken}
    other = {name: column for name, column in chosen.items() if name not in BOX_NAMES}
    for name, spellings in SPELLINGS.items():
        column = next((free[spelling] for spelling in spellings.split() if spelling in free), None)
        if name not in other and column is not None:
            other[name] = column
            free = {spelling: entry for spelling, entry in free.items() if entry != column}
    sized = {"image_width", "image_height"} & other.keys() or {"x", "y"} <= free.keys()  # or a second box's sides
    guessed = not sized and {"width", "height"} <= free.keys()
    if guessed:
        other |= {"image_width": free["width"], "image_height": free["height"]}
    missing = [name for name in NEEDED if name not in other]
    if missing or found is None:
        forms = "; or ".join(
            [*(", ".join(form) for form in FORMS.values()), *(f"{name} in one column" for name in IN_ONE)]
        )
        names = [*missing, *(() if found else (f"a box ({forms})",))]
        actual = f"the columns {listed(present, 40)}" if len(present) else "no columns"
        example = f"columns={{'{(missing or ['x_min'])[0]}': '...'}}"
        raise InputError(f"{source}: expected columns for {' and '.join(names)}, got {actual}; name them by {example}")
    return Columns(found[0], found[1], {name: column for name, column in other.items() if column is not None}, guessed)


BOX_NAMES = dict.fromkeys([*(name for form in FORMS.values() for name in form), *IN_ONE])
OUR_NAMES = (*SPELLINGS, *BOX_NAMES)


def _plain(column: object) -> str:
    return re.sub(r"[^a-z0-9]", "", str(column).lower())


def _checked(present: Sequence[Hashable], given: Mapping[str, Any] | None, source: str) -> dict[str, Any]:
    """The columns that were given, by our names; a name of ours may be spelled otherwise, too."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"columns: expected a mapping of our names to those of {source}, got {repr_of(given)}")
    ours = {_plain(name): name for name in OUR_NAMES}
    spelled = {spelling: name for name, spellings in SPELLINGS.items() for spelling in spellings.split()} | ours
    strange = [name for name in given if _plain(name) not in spelled]
    if strange:
        raise InputError(f"columns: expected names among {listed(OUR_NAMES, 20)}, got {listed(map(repr_of, strange))}")
    chosen = {spelled[_plain(name)]: column for name, column in given.items()}
    absent = [
        f"{column!r} for {name}"
        for name, column in chosen.items()
        if column not in list(present) and not (name == "category" and column is None)
    ]
    if absent:
        known = listed(present, 40)
        raise InputError(f"columns: expected our names -> columns of {source} ({known}), got {listed(absent)}")
    return chosen


def _find_box(plain: Mapping[str, Hashable], given: Mapping[str, Any]) -> tuple[str, tuple[Hashable, ...]] | None:
    """The form of the boxes and its columns: the first that fits what is given and is all there."""
    for form, spellings in BOX_SPELLINGS:
        names = FORMS[form]
        if not given.keys() <= set(names):
            continue
        for prefix in PREFIXES:
            columns = [
                given.get(name, plain.get(prefix + spelling))
                for name, spelling in zip(names, spellings.split(), strict=True)
            ]
            if None not in columns and len(set(columns)) == len(columns):
                return form, tuple(columns)
    for name, (form, spellings) in IN_ONE.items():
        column = next((plain[spelling] for spelling in spellings.split() if spelling in plain), given.get(name))
        if column is not None and given.keys() <= {name}:
            return form, (given.get(name, column),)
    return None
