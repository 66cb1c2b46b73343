"""Detection of the columns of a table, by common names and by content."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kalos_core.errors import InputError, listed, repr_of
from kalos_core.readers.cells import is_missing

FORMS = {
    "corners": ("x_min", "y_min", "x_max", "y_max"),
    "sides": ("x", "y", "width", "height"),
    "centre": ("x_center", "y_center", "width", "height"),
}
"""Forms of a box: two corners, first corner and sides, or centre and sides."""

IN_ONE = {
    "box": ("sides", "box bbox boundingbox boxes bboxes xywh bboxxywh boxxywh"),
    "box_corners": ("corners", "boxcorners bboxcorners xyxy bboxxyxy boxxyxy"),
}
"""Standard name of one column with all four numbers -> its form and its spellings, letters and digits only."""

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
"""Form of the box, and spelling of its four columns, letters and digits only. The first match is used."""

NEXT_CORNER = {"x1 y1 x2 y2": "x3", "x0 y0 x1 y1": "x2"}
"""Spelling of two corners -> column whose presence means that there are more than two."""

PREFIXES = ("", "bbox", "box", "bb", "rect")
"""Possible prefixes of the four columns."""

OUTLINE_PREFIXES = ("", "poly", "polygon", "quad", "corner", "point", "pt", "vertex")

QUADRILATERALS = ("tlx tly trx try brx bry blx bly", "xtl ytl xtr ytr xbr ybr xbl ybl")
"""Spellings of four named corners, in their order around the shape."""

OUTLINE_PAIRS = (
    "coordsx coordsy", "xcoords ycoords", "polygonx polygony", "pointsx pointsy", "allpointsx allpointsy", "xs ys",
)  # fmt: skip
"""Spellings of two columns that hold lists of x and of y."""

OUTLINE_IN_ONE = (
    "outline polygon polygons poly segmentation points contour vertices quad quadrilateral obb corners wkt polygonwkt "
    "geometry"
)

SPELLINGS: dict[str, tuple[str, ...]] = {
    "image": (
        "image imageid imagename imagefile imagefilename imagepath imageurl img imgid imgname imgpath imgurl filename "
        "file filepath fname photo item itemid itemname",
        "slide scan subjectid sample sampleid",
    ),
    "rater": (
        "rater raterid ratername radid radiologist radiologistid reader readerid annotator annotatorid annotatorname "
        "annotatedby worker workerid user userid username labeler labelerid labeller labellerid labeledby coder "
        "coderid observer observerid expert expertid grader graderid participant participantid completedby createdby "
        "useremail annotatoremail email",
    ),
    "category": (
        "category categoryname class classname label labelname species finding objectclass classid categoryid labelid",
        "object name type tag",
    ),
    "id": ("id annotationid boxid bboxid objectid",),
    "person": ("person personid",),
    "session": ("session sessionid",),
    "frame": (
        "frame frameid frameno framenumber frameindex page pageid pageno pagenumber slice sliceid sliceno slicenumber",
    ),
    "rotation": (
        "rotation angle theta rot rotationangle rotationdeg rotationdegrees rotationrad rotationradians angledeg "
        "angledegrees anglerad angleradians thetadeg thetarad",
    ),
    "image_width": ("imagewidth imgwidth imagew imgw",),
    "image_height": ("imageheight imgheight imageh imgh",),
}
"""Standard name -> its spellings, letters and digits only. Spellings of the first group take precedence over those of
the second. If a table has several columns of one group, their content must agree."""

LABEL_SPELLINGS = {
    "item": (
        "item itemid itemname " + SPELLINGS["image"][0].partition(" item ")[0],
        SPELLINGS["image"][1] + " unitid taskid hitid",
        "id",
    ),
    "rater": SPELLINGS["rater"],
    "label": (
        SPELLINGS["category"][0] + " categorylabel answer response choice value rating grade",
        SPELLINGS["category"][1] + " result score",
    ),
}
"""Standard names and spellings for tables of image-level labels, as in `SPELLINGS`."""

NEEDED = ("image", "rater", "category")

NO_RATERS = "comment comments note notes remark remarks timestamp time date duration split fold"
"""Names of columns of a wide table that have no labels."""

TRUTHS = (
    "gold goldlabel golden gt groundtruth truth reference ref consensus majority majorityvote final finallabel "
    "adjudicated"
)
"""Names of columns of a wide table with labels that may not be those of a rater."""

REJECTED = ("assignmentstatus status", ("rejected",))
"""Column in which crowdsourcing platforms mark rejected answers, and its value for them."""

CROWD_PREFIX = re.compile(r"(input|output|answer|assignment)[.:]")
"""Prefix that crowdsourcing platforms add to the names of columns."""

UNUSED = {
    "score": "score scores confidence conf probability prob",
    "group_id": "groupid group",
    "iscrowd": "iscrowd isgroupof crowd",
}
"""Unused field that has a meaning in other tools -> its spellings."""

SHAPE_NAMES = (
    "rect rectangle rectanglelabels box bbox boundingbox polygon polygonlabels polyline line linestring point points "
    "keypoint keypoints ellipse circle mask brush brushlabels bitmask cuboid quad quadrilateral rotatedbox"
)
"""Values of a column with the type of shapes, letters and digits only."""

CLASS_ENDINGS = ("class", "classification", "label", "category", "classname", "labelname", "categoryname")
"""Suffixes of names of columns that may have classes, used if no column has a common name."""

BY_COLUMNS = "columns={{'{role}': {column!r}}} (--columns '{{{role}: {column}}}')"
BY_NAME = "{role}={column!r} (--{role} {column})"
"""Options that select a column."""

Cells = Callable[[Hashable], Sequence[Any]]
"""Column -> its cells."""


@dataclass(frozen=True)
class Columns:
    """The columns of a table of boxes, by role.

    Parameters
    ----------
    form : key of `FORMS`, or ""
    box : four columns, or one with all four, or none
        In the order of the form.
    outline : columns
        No column; one with whole outlines; two with lists of x and of y; or x1, y1, x2, y2, ...
    other : dict
        Standard name -> column.
    guessed_size : bool
        Whether the columns of the image sizes are only called "width" and "height".
    unused : dict
        Key of `UNUSED` -> column.
    others : list of (form, columns)
        Further columns of boxes, which must have the same boxes.
    notes : list of str
        Notes on the columns used.
    """

    form: str
    box: tuple[Hashable, ...]
    outline: tuple[Hashable, ...]
    other: dict[str, Hashable]
    guessed_size: bool
    unused: dict[str, Hashable]
    others: list[tuple[str, tuple[Hashable, ...]]]
    notes: list[str]


def find_columns(present: Sequence[Hashable], given: Mapping[str, Any] | None, source: str, cells: Cells) -> Columns:
    """Find the columns of a table of boxes: those given, and all others by spelling and content.

    Parameters
    ----------
    present : sequence
        Names of the table's columns.
    given : mapping, optional
        Standard name -> column of the table.
    source : str
        Name of the table, for messages.
    cells : callable
        Column -> its cells; called if the name is not sufficient.

    Raises
    ------
    InputError
        If a column is missing, ambiguous, or given but not in the table. The message lists the columns.

    Examples
    --------
    >>> names = ["ImageID", "user", "label", "xmin", "ymin", "xmax", "ymax"]
    >>> find_columns(names, None, "table", {}.get).notes
    ['image = ImageID, rater = user, class = label, box (corners) = xmin ymin xmax ymax']
    >>> names = ["ImageID", "who", "label", "bbox_x", "bbox_y", "bbox_w", "bbox_h"]
    >>> find_columns(names, {"rater": "who"}, "table", {}.get).box
    ('bbox_x', 'bbox_y', 'bbox_w', 'bbox_h')
    >>> names = ["image", "user", "label", *"x1 y1 x2 y2 x3 y3 x4 y4".split()]
    >>> find_columns(names, None, "table", {}.get).outline
    ('x1', 'y1', 'x2', 'y2', 'x3', 'y3', 'x4', 'y4')
    >>> table = {"image": "aa", "user": "uv", "bbox": "bb", "label": "cd", "class": "ee"}
    >>> find_columns(list(table), None, "table", table.get)
    Traceback (most recent call last):
    kalos_core.errors.InputError: table: expected one column for category, got class and label, which differ: name it \
by columns={'category': 'class'} (--columns '{category: class}')
    """
    chosen = _checked(present, given, source)
    plain: dict[str, Hashable] = {}
    for column in present:
        plain.setdefault(plain_name(column), column)
    outline = _find_outline(plain, chosen, cells)
    rest = {spelling: column for spelling, column in plain.items() if column not in outline}
    boxes = _find_boxes(rest, {name: column for name, column in chosen.items() if name in BOX_NAMES})
    form, box = boxes[0] if boxes else ("", ())
    free = {spelling: column for spelling, column in rest.items() if column not in {*chosen.values(), *box}}
    other = {name: column for name, column in chosen.items() if name not in (*BOX_NAMES, *OUTLINE_NAMES)}
    notes: list[str] = []
    for name, groups in SPELLINGS.items():
        if name not in other:
            column = _one_of(name, groups, free, cells, source, BY_COLUMNS)
            if column is None and name == "category":
                column = _by_its_ending(free, cells, source, notes)
            if column is not None:
                other[name] = column
                free = {spelling: entry for spelling, entry in free.items() if entry != column}
    sized = {"image_width", "image_height"} & other.keys() or {"x", "y"} <= free.keys()  # or a second box's sides
    guessed = not sized and {"width", "height"} <= free.keys()
    if guessed:
        other |= {"image_width": free["width"], "image_height": free["height"]}
    missing = [name for name in NEEDED if name not in other]
    if missing or not (box or outline):
        forms = "; or ".join(
            [*(", ".join(form) for form in FORMS.values()), *(f"{name} in one column" for name in (*IN_ONE, "outline"))]
        )
        names = [*missing, *(() if box or outline else (f"a box ({forms})",))]
        actual = f"the columns {listed(present, 40)}" if len(present) else "no columns"
        example = f"columns={{'{(missing or ['x_min'])[0]}': '...'}}"
        example += " (None where there are no classes)" if missing == ["category"] else ""
        example += (
            " (the table must have the boxes of all raters, and a column of raters)" if "rater" in missing else ""
        )
        text = f"{source}: expected columns for {' and '.join(names)}, got {actual}; name them by {example}"
        raise InputError(f"{text}{looks_like_data(present)}")
    other = {name: column for name, column in other.items() if column is not None}
    words = {"category": "class"}
    taken: list[tuple[str, Sequence[str], Sequence[Hashable]]] = [
        (words.get(name, name), (name,), (other[name],))
        for name in ("image", "rater", "category", "session", "person")
        if name in other
    ]
    if box:
        taken.append((f"box ({FORM_WORDS[form]})", (*FORMS[form], *IN_ONE), box))
    if outline:
        taken.append(("outline", OUTLINE_NAMES, outline))
    notes = [*say_columns(taken, chosen.values()), *notes]
    unused = {
        name: next(free[spelling] for spelling in spellings.split() if spelling in free)
        for name, spellings in UNUSED.items()
        if free.keys() & set(spellings.split())
    }
    others = [] if BOX_NAMES.keys() & chosen.keys() else boxes[1:]
    further = [entry for entry in others if not set(entry[1]) & {*box, *other.values()}]
    return Columns(form, box, outline, other, guessed, unused, further, notes)


def say_columns(
    taken: Iterable[tuple[str, Sequence[str], Sequence[Hashable]]], given: Collection[Any] = ()
) -> list[str]:
    """Describe in one line which columns are used; nothing if each is given or has its standard name.

    Parameters
    ----------
    taken : iterable of (word, names, columns)
        Description of the columns in a word, their standard names, and the columns.
    given : collection
        Columns that the caller named.

    Examples
    --------
    >>> say_columns([("item", ["item"], ["photo"]), ("rater", ["rater"], ["rater"])])
    ['item = photo, rater = rater']
    >>> say_columns([("item", ["item"], ["photo"]), ("rater", ["rater"], ["rater"])], ["photo"])
    []
    """
    entries = list(taken)
    if all(column in names or column in given for _, names, columns in entries for column in columns):
        return []
    return [", ".join(f"{word} = {' '.join(map(str, columns))}" for word, _, columns in entries)]


FORM_WORDS = {"corners": "corners", "sides": "first corner and sides", "centre": "centre and sides"}
OUTLINE_NAMES = ("outline", "outline_x", "outline_y")
BOX_NAMES = dict.fromkeys([*(name for form in FORMS.values() for name in form), *IN_ONE])
OUR_NAMES = (*SPELLINGS, *BOX_NAMES, *OUTLINE_NAMES)


def find_label_columns(
    header: Sequence[str], given: Mapping[str, str | None], source: str, cells: Cells
) -> dict[str, str] | None:
    """Find the columns of items, raters and labels in a table with one row per label; None if one is not found.

    Parameters
    ----------
    header : sequence of str
    given : mapping
        "item", "rater", "label" -> column of the table, None for a column to be found.
    source : str
    cells : callable
        Column -> its cells; called only to compare two candidate columns.

    Examples
    --------
    >>> find_label_columns(["image_id", "worker", "answer", "time"], {}, "table", lambda column: [])
    {'item': 'image_id', 'rater': 'worker', 'label': 'answer'}
    >>> find_label_columns(["item", "ann", "bob"], {}, "table", lambda column: [])
    """
    found = {name: column for name, column in given.items() if column is not None}
    free: dict[str, Hashable] = {}
    for heading in header:
        if heading not in found.values():
            free.setdefault(plain_name(heading), heading)
    open_roles = {name: groups for name, groups in LABEL_SPELLINGS.items() if name not in found}
    if not all(free.keys() & set(" ".join(groups).split()) for groups in open_roles.values()):
        return None
    for name, groups in LABEL_SPELLINGS.items():
        if name not in found:
            column = _one_of(name, groups, free, cells, source, BY_NAME)
            if column is None:
                return None
            found[name] = str(column)
            free = {spelling: entry for spelling, entry in free.items() if entry != column}
    return found


def holds_boxes(header: Sequence[str]) -> bool:
    """Check whether a table has columns of boxes or outlines.

    Examples
    --------
    >>> holds_boxes(["image", "user", "label", "x", "y", "w", "h"]), holds_boxes(["item", "rater", "label"])
    (True, False)
    """
    plain: dict[str, Hashable] = {plain_name(column): column for column in header}
    return bool(
        _find_boxes(plain, {})
        or _find_outline(plain, {}, lambda column: [] if plain_name(column) == "points" else [[]])
    )


def plain_name(column: object) -> str:
    """Return the letters and digits of a name in lower case, without the prefixes of crowdsourcing platforms.

    Examples
    --------
    >>> plain_name("Image_ID"), plain_name("Input.image_url"), plain_name("answer")
    ('imageid', 'imageurl', 'answer')
    """
    return re.sub(r"[^a-z0-9]", "", CROWD_PREFIX.sub("", str(column).lower(), count=1))


def looks_like_data(header: Sequence[Hashable]) -> str:
    """Return a hint for a message if the first line of a table may not be a header; "" if it is one.

    Examples
    --------
    >>> looks_like_data(["image", "rater", "0", "1"])
    ''
    >>> looks_like_data(["a.jpg", "10", "20", "30.5", "40", "cat"])
    '; the first line looks like data: add one with the names of the columns above it'
    """
    numbers = [str(name).strip() for name in header if re.fullmatch(r"-?\d*\.?\d+", str(name).strip())]
    counted = numbers == [str(n) for n in range(len(numbers))]  # as pandas names columns
    few = len(numbers) < 2 or counted
    return "" if few else "; the first line looks like data: add one with the names of the columns above it"


def _checked(present: Sequence[Hashable], given: Mapping[str, Any] | None, source: str) -> dict[str, Any]:
    """Return the given columns by standard name; keys may use any spelling."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise InputError(f"columns: expected a mapping of our names to those of {source}, got {repr_of(given)}")
    ours = {plain_name(name): name for name in OUR_NAMES}
    spelled = {spelling: name for name, groups in SPELLINGS.items() for spelling in " ".join(groups).split()} | ours
    strange = [name for name in given if plain_name(name) not in spelled]
    if strange:
        raise InputError(f"columns: expected names among {listed(OUR_NAMES, 30)}, got {listed(map(repr_of, strange))}")
    chosen = {spelled[plain_name(name)]: column for name, column in given.items()}
    absent = [
        f"{column!r} for {name}"
        for name, column in chosen.items()
        if column not in list(present) and not (column is None and name not in ("image", "rater", *BOX_NAMES))
    ]
    if absent:
        known = listed(present, 40)
        raise InputError(f"columns: expected our names -> columns of {source} ({known}), got {listed(absent)}")
    return chosen


def _find_boxes(plain: Mapping[str, Hashable], given: Mapping[str, Any]) -> list[tuple[str, tuple[Hashable, ...]]]:
    """Return the forms of boxes whose columns all exist and match those given, with their columns."""
    found: list[tuple[str, tuple[Hashable, ...]]] = []
    for form, spellings in BOX_SPELLINGS:
        names = FORMS[form]
        if not given.keys() <= set(names):
            continue
        for prefix in PREFIXES:
            further = f"{prefix}{NEXT_CORNER[spellings]}" if spellings in NEXT_CORNER and not given else ""
            columns = [
                given.get(name, plain.get(prefix + spelling))
                for name, spelling in zip(names, spellings.split(), strict=True)
            ]
            there = None not in columns and len(set(columns)) == len(columns)
            if there and not (further and further in plain) and (form, tuple(columns)) not in found:
                found.append((form, tuple(columns)))
    for name, (form, spellings) in IN_ONE.items():
        column = next((plain[spelling] for spelling in spellings.split() if spelling in plain), given.get(name))
        if column is not None and given.keys() <= {name}:
            found.append((form, (given.get(name, column),)))
    return found


def _find_outline(plain: Mapping[str, Hashable], given: Mapping[str, Any], cells: Cells) -> tuple[Hashable, ...]:
    """Find columns of outlines: those given, else corners by number or name, lists of x and y, or whole outlines."""
    pair = tuple(given[name] for name in OUTLINE_NAMES[1:] if given.get(name) is not None)
    if "outline" in given or len(pair) == 2:
        return pair or tuple(column for column in (given["outline"],) if column is not None)
    if BOX_NAMES.keys() & given.keys():
        taken = [given[name] for name in BOX_NAMES if name in given]
        plain = {spelling: column for spelling, column in plain.items() if column not in taken}
    for prefix in OUTLINE_PREFIXES:
        for first in (0, 1):
            columns: list[Hashable] = []
            number = first
            while {f"{prefix}x{number}", f"{prefix}y{number}"} <= plain.keys():
                columns += [plain[f"{prefix}x{number}"], plain[f"{prefix}y{number}"]]
                number += 1
            if number - first >= 3 and f"v{first}" not in plain:  # with a visibility, these are keypoints
                return tuple(columns)
    for spellings in (*QUADRILATERALS, *OUTLINE_PAIRS):
        if set(spellings.split()) <= plain.keys():
            return tuple(plain[spelling] for spelling in spellings.split())
    named = [plain[spelling] for spelling in OUTLINE_IN_ONE.split() if spelling in plain]
    return tuple(column for column in named if any(map(_may_be_outline, cells(column))))[:1]


def _one_of(
    role: str, groups: Sequence[str], free: Mapping[str, Hashable], cells: Cells, source: str, option: str
) -> Hashable | None:
    """Find the column of a role in the first group that has one; several must agree if the role is required."""
    for group in groups:
        found = [free[spelling] for spelling in group.split() if spelling in free]
        if role in ("category", "label") and group == groups[-1]:
            found = [column for column in found if not _names_shapes(cells(column))]
        if len(found) > 1:
            found = [column for column in found if not _is_empty(cells(column))] or found[:1]
        if len(found) > 1 and role in (*NEEDED, *LABEL_SPELLINGS):
            differ = [column for column in found[1:] if not _determines(cells(found[0]), cells(column), both=True)]
            if differ:
                raise _several(role, [found[0], *differ], source, option)
        if found:  # prefer the column with fewer gaps: of user_id and user_name, the one that guests have
            return min(found, key=lambda column: sum(map(is_missing, cells(column))) if len(found) > 1 else 0)
    return None


def _several(role: str, columns: Sequence[Hashable], source: str, option: str) -> InputError:
    named = option.format(role=role, column=columns[0])
    text = f"{source}: expected one column for {role}, got {' and '.join(map(str, columns))}, which differ"
    return InputError(f"{text}: name it by {named}")


def _by_its_ending(free: Mapping[str, Hashable], cells: Cells, source: str, notes: list[str]) -> Hashable | None:
    """Find the column of classes by the end of its name; among several, the one that determines all others."""
    named = [column for spelling, column in free.items() if spelling.endswith(CLASS_ENDINGS)]
    found = [column for column in named if not (_is_empty(cells(column)) or _names_shapes(cells(column)))]
    if len(found) < 2:
        return found[0] if found else None
    finest = [one for one in found if all(_determines(cells(one), cells(column)) for column in found)]
    if not finest:
        raise _several("category", found, source, BY_COLUMNS)
    others = [column for column in found if column != finest[0]]
    notes.append(
        f"class = {finest[0]}, which determines {' and '.join(map(str, others))}; "
        f"columns={{'category': ...}} selects another"
    )
    return finest[0]


def _determines(one: Sequence[Any], other: Sequence[Any], *, both: bool = False) -> bool:
    """Check whether rows that are equal in one column are equal in the other; with `both`, also vice versa."""
    pairs = {
        (str(a).strip(), str(b).strip())
        for a, b in zip(one, other, strict=True)
        if not (is_missing(a) or is_missing(b))
    }
    sides = (len({a for a, _ in pairs}), len({b for _, b in pairs}) if both else len(pairs))
    return bool(pairs) and sides == (len(pairs), len(pairs))


def _may_be_outline(cell: object) -> bool:
    """Check whether a cell may contain at least three points."""
    if isinstance(cell, str):
        return len(re.findall(r"[0-9]+", cell)) >= 6
    return hasattr(cell, "__len__") or hasattr(cell, "geom_type")


def _is_empty(cells: Sequence[Any]) -> bool:
    return all(is_missing(cell) for cell in cells)


def _names_shapes(cells: Sequence[Any]) -> bool:
    """Check whether a column contains types of shapes."""
    said = {plain_name(text) for text in {str(cell) for cell in cells if not is_missing(cell)}}
    return bool(said) and said <= set(SHAPE_NAMES.split())
