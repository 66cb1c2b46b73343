"""Reader of YOLO: one folder per rater, one text file per image, one line with relative coordinates per object."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from kalos_core.annotations import Annotations, as_name, warn_of_silent_raters
from kalos_core.display import number_of
from kalos_core.errors import InputError, as_number, listed, repr_of
from kalos_core.files import as_float, as_path, entries_of, files_below, open_file, parse_yaml, read_bytes, read_text
from kalos_core.options import Option, takes
from kalos_core.readers.findings import Findings, fields_of
from kalos_core.readers.folders import (
    AssignedFiles,
    Folders,
    LabelFile,
    assign_by_files,
    label_files,
    rater_folders,
)
from kalos_core.readers.images import image_size_of, is_image_name
from kalos_core.readers.settings import AliasSettings, reading
from kalos_core.readers.shapes import UnusableError, box_or_polygon
from kalos_core.readers.sizes import SizeOf, Sizes, read_sizes

NAMES = ("classes.txt", "obj.names", "_darknet.labels", "data.yaml", "data.yml", "dataset.yaml", "dataset.yml")
"""Files with class names, in lower case; any other YAML file with `names`, and any `*.names`, is also used."""

OTHER_FILES = (*NAMES, "train.txt", "valid.txt", "val.txt", "test.txt", "readme.txt", "readme.dataset.txt",
               "readme.roboflow.txt", "notes.txt")  # fmt: skip
"""Text files that do not belong to an image."""

YAML = (".yaml", ".yml")

KEY = re.compile(rb"^[\x27\x22]?names[\x27\x22]?\s*:", re.MULTILINE)
"""Start of a line that a YAML file with class names contains."""

Classes = Mapping[int, str]


@dataclass(frozen=True)
class _Names:
    """Classes by number, and (joints, 2 or 3) if objects have keypoints; `place` is the file."""

    classes: Classes
    joints: tuple[int, int] | None = None
    place: str = ""


@dataclass(frozen=True, kw_only=True)
class YoloSettings(AliasSettings):
    """Options of `read_yolo`."""

    assigned: Annotated[
        AssignedFiles | None,
        Option(
            "Assigned raters",
            "Who was assigned to an image: the raters with a file for it, every rater, or those in a mapping image -> "
            "raters. By default the raters with a file, if at least one file is empty (the rater saw the image and "
            "annotated nothing); otherwise every rater, with a warning, as YOLO needs no file for an image without "
            "objects.",
            type='"files", "all" or mapping, optional',
        ),
    ] = None
    classes: Annotated[
        str | os.PathLike[str] | Sequence[str] | Mapping[int, str] | None,
        Option(
            "Classes",
            "Names of the classes by number: a classes.txt, obj.names or data.yaml, or the names themselves. By "
            "default such files are searched for in the folder and in the folder of each rater; they apply to all "
            'raters, and files that differ are an error. With "own", each rater\'s files apply to that rater only. '
            "Without any names, the numbers are the names.",
            type='path, sequence, mapping or "own", optional',
            flag="class_names",
        ),
    ] = None
    sizes: Sizes = None
    sixth: Annotated[
        Literal["confidence", "degrees", "radians"] | None,
        Option(
            "Sixth number",
            "Meaning of a sixth number in a line. By default a confidence, if all of them are from 0 to 1; otherwise "
            "an error.",
            choices={
                "confidence": "confidence of a model's prediction",
                "degrees": "clockwise rotation of the box about its centre, in degrees",
                "radians": "the same in radians",
            },
        ),
    ] = None


@dataclass
class _Sixths:
    """Count of lines with a sixth number, and the first one that cannot be a confidence."""

    meaning: Literal["confidence", "degrees", "radians"] | None
    count: int = 0
    not_confident: tuple[str, float] | None = None

    def see(self, where: str, value: float) -> None:
        self.count += 1
        if self.not_confident is None and not 0 <= value <= 1:
            self.not_confident = (where, value)


@takes(YoloSettings)
@reading
def read_yolo(folders: Folders, settings: YoloSettings) -> Annotations:
    """Read labels of several raters from YOLO text files, ``folder/rater/image.txt``.

    Parameters
    ----------
    folders : path or mapping
        A folder with one folder per rater (directly or in ``labels``), or rater -> folder. Text files are searched for
        at any depth; a folder ``labels`` or ``obj_train_data`` is not part of the name of an image. Files of one image
        have one name.

        A line contains a class number and either a box (x and y of its centre, width, height), or the points of a
        polygon (x1, y1, x2, y2, ...; for oriented boxes the four corners). Coordinates are relative to the image. If a
        YAML file has ``kpt_shape``, keypoints follow the box. A confidence at the end of a line is ignored. Unless
        `sizes` are given, the images are searched for in the folder, at any depth.

    Returns
    -------
    Annotations
        Boxes, polygons, and keypoints in pixels. If all polygons have four corners, boxes become polygons, too.

    Warns
    -----
    KalosWarning
        If it is unknown who was assigned and an image has annotations of only some raters.

    Raises
    ------
    InputError
        If a folder has no text file, the size of an image is unknown, two files name the classes differently, a class
        number has no name, sixth numbers may be angles, or a line is invalid.

    References
    ----------
    Ultralytics, "Object Detection Datasets Overview", https://docs.ultralytics.com/datasets/detect/, and "Instance
    Segmentation Datasets Overview", https://docs.ultralytics.com/datasets/segment/

    Examples
    --------
    >>> for rater, text in {"ann": "0 0.5 0.5 0.2 0.4", "bob": ""}.items():
    ...     Path("yolo", rater).mkdir(parents=True)
    ...     _ = Path("yolo", rater, "a.txt").write_text(text)
    >>> _ = Path("yolo", "classes.txt").write_text("cat")
    >>> annotations = read_yolo("yolo", sizes={"a": (100, 50)})
    >>> annotations.shapes["box"].xywh().tolist(), annotations.assigned.tolist()
    ([[40.0, 15.0, 20.0, 20.0]], [[True, True]])
    """
    findings = Findings("YOLO folders", settings.on_invalid)
    homes, root = rater_folders(folders, least=1), None if isinstance(folders, Mapping) else Path(folders)
    texts = [path for home in homes.values() for path in entries_of(home)[1] if path.suffix == ".txt"]
    lists = [path.name.lower() for path in texts if _lists_images(path)]
    files = label_files(findings, folders, ".txt", "text files", {*OTHER_FILES, *lists})
    size_of = _sizes_of(settings.sizes, root, list(homes.values()))
    names, sixths = _names_for(settings.classes, homes, root), _Sixths(settings.sixth)
    empty = [_read_file(findings, file, names[file.rater], size_of, sixths) for file in files]
    _check_sixths(sixths, findings)
    unsaid = settings.assigned is None and not any(empty)
    rule: AssignedFiles = "all" if unsaid else "files"
    assign_by_files(findings, files, rule if settings.assigned is None else settings.assigned)
    order = dict.fromkeys(name for known in names.values() for name in known.classes.values())
    made = findings.build(order=order, aliases=settings.aliases)
    if unsaid:
        warn_of_silent_raters(made, np.ones(len(made.images), np.bool_), findings.source)
    return made


def _lists_images(path: Path) -> bool:
    """Check whether a text file is a list of image paths, as written by CVAT and Darknet."""
    with open_file(path, "YOLO file") as file:
        return is_image_name(file.readline(LONGEST_PATH).decode("utf-8", "replace").strip())


LONGEST_PATH = 4096


def _sizes_of(sizes: Sizes, root: Path | None, homes: Sequence[Path]) -> SizeOf:
    """Return a lookup of the given sizes, or of the sizes of images next to the labels."""
    if sizes is not None:
        given = read_sizes(sizes)
        return lambda image: next(
            (found for key in (image, Path(str(image)).name) if (found := given(key)) != (None, None)), (None, None)
        )
    places: dict[str, list[Path]] = {}
    for folder in [root] if root else homes:
        for path in files_below(folder):
            if is_image_name(path.name):
                places.setdefault(path.stem, []).append(path)

    def size_of(image: Any) -> tuple[object, object]:
        paths = places.get(Path(str(image)).name, [])
        exact = [path for path in paths if path.with_suffix("").as_posix().endswith(f"/{image}")]
        found = (exact or paths)[:1] if exact or len(paths) == 1 else []
        return (image_size_of(found[0]) if found else None) or (None, None)

    return size_of


def _read_file(findings: Findings, file: LabelFile, names: _Names, size_of: SizeOf, sixths: _Sixths) -> bool:
    """Read the lines of one file; return whether it has none."""
    rater, image, path, record = file
    if image not in findings.files:
        width, height = next(
            (size for name in (image, path.stem) if (size := size_of(name)) != (None, None)), (None, None)
        )
        if width is None and height is None:
            _check_numbers(path, record)
            raise InputError(
                f"YOLO folders: {record}: expected width and height of image {image!r}, as coordinates are fractions "
                "of them, got neither: pass sizes=, a folder of the images, a CSV file or a mapping image -> "
                "(width, height)"
            )
        findings.add_image(image, record, file=image, size=findings.size_from(width, height, record))
    empty = True
    for number, line in enumerate(read_text(path, "YOLO file").splitlines(), start=1):
        if not line.strip():
            continue
        empty = False
        where = f"{record}, line {number}"
        with findings.annotation(where, image):
            category, shape = _read_line(line, names, findings.sizes[image], where, sixths)
            findings.add_annotation(where, image, rater, category, **shape)
    return empty


def _check_numbers(path: Path, record: str) -> None:
    """Raise an error for a file whose first line has no numbers, before its image size is required."""
    for number, line in enumerate(read_text(path, "YOLO file").splitlines(), start=1):
        if line.strip() and any(as_float(cell) is None for cell in line.split()):
            raise InputError(
                f"YOLO folders: {record}, line {number}: expected a class number and coordinates, got {line!r}; text "
                "files of YOLO and DOTA are supported; convert others to a table with one row per box"
            )


BEYOND = 2
"""Relative coordinate from which a number is assumed to be in pixels."""


def _read_line(
    line: str, names: _Names, size: tuple[float, float], where: str, sixths: _Sixths
) -> tuple[str, dict[str, Any]]:
    cells = line.split()
    try:
        values = [float(cell) for cell in cells]
    except ValueError:
        values = [-1.0]
    if values[0] < 0 or values[0] % 1:
        raise UnusableError("a class number and coordinates", repr(line))
    if not all(map(math.isfinite, values)):
        raise UnusableError("finite numbers", repr(line))
    category = names.classes.get(int(values[0])) if names.classes else str(int(values[0]))
    if category is None:
        known = listed(names.classes, 10)
        raise UnusableError(f"a class number among {known}, which {names.place} names (or pass classes=)", cells[0])
    rest, (width, height) = values[1:], size
    box = _box(rest, width, height) if len(rest) >= 4 else []
    beyond = [value for value in rest[:4] if abs(value) >= BEYOND]
    if beyond:
        raise UnusableError("fractions of the image", f"{beyond[0]:g}, as in pixels")
    if names.joints is not None and len(rest) - 4 in (math.prod(names.joints), math.prod(names.joints) + 1):
        return category, {"box": box, "keypoints": _keypoints(rest[4:], names.joints, width, height)}
    if len(rest) in (4, 5):
        angle = rest[4] if len(rest) == 5 else 0.0
        if len(rest) == 5:
            sixths.see(where, angle)
        turns = {"degrees": angle, "radians": math.degrees(angle)}
        return category, box_or_polygon(box, turns.get(sixths.meaning or "", 0.0))
    if len(rest) < 6:
        raise UnusableError("a box of 4 numbers or a polygon of at least 3 points", f"{len(rest)} numbers")
    seen = set(rest[6::3]) if (len(rest) - 4) % 3 == 0 else set()
    if 2 in seen <= {0, 1, 2}:  # a fraction is never 2
        raise UnusableError("kpt_shape in a data.yaml, as keypoints follow the box", f"none, and {len(rest)} numbers")
    if len(rest) % 2:
        if not 0 <= rest[-1] <= 1:
            raise UnusableError("x and y of each point, and a confidence from 0 to 1 at most", repr(line))
        sixths.count += 1
    return category, {"polygon": [[[x * width, y * height] for x, y in zip(rest[::2], rest[1::2], strict=False)]]}


def _box(values: Sequence[float], width: float, height: float) -> list[float]:
    x, y, w, h = values[:4]
    return [(x - w / 2) * width, (y - h / 2) * height, w * width, h * height]


def _keypoints(values: Sequence[float], joints: tuple[int, int], width: float, height: float) -> list[list[float]]:
    """Return (x, y, v) of each joint; without v, a joint at 0, 0 is not labelled."""
    count, length = joints
    points = [values[start : start + length] for start in range(0, count * length, length)]
    return [[p[0] * width, p[1] * height, p[2] if length == 3 else float(p[0] != 0 or p[1] != 0) * 2] for p in points]


def _check_sixths(sixths: _Sixths, findings: Findings) -> None:
    """Raise an error for angles of unknown unit, and record the number of ignored confidences."""
    if sixths.meaning is None and sixths.not_confident is not None:
        where, value = sixths.not_confident
        raise InputError(
            f"{findings.source}: {where}: expected a confidence from 0 to 1 as sixth number, got {value:g}; "
            'if it is the angle of a rotated box, pass sixth="degrees" or sixth="radians"'
        )
    if sixths.count and sixths.meaning is None:
        findings.account.notes.append(
            f"the last number of {number_of(sixths.count, 'line')} was read as a confidence and not used"
        )


def _names_for(given: Any, homes: Mapping[str, Path], root: Path | None) -> dict[str, _Names]:
    """Return rater -> classes: as given, else from the files in all folders, which must agree, or of each rater."""
    own_only = isinstance(given, str) and given == "own"
    if isinstance(given, (str, os.PathLike)) and not own_only:
        return dict.fromkeys(homes, _read_names(as_path(given, "classes")))
    if given is not None and not own_only:
        return dict.fromkeys(homes, _Names(_checked(given, "classes"), place="classes"))
    places = {} if root is None else dict.fromkeys([root, *(home.parent for home in homes.values())])
    shared = [_read_names(path) for place in places for path in entries_of(place)[1] if _names_classes(path)]
    own = {rater: [_read_names(path) for path in files_below(home) if _names_classes(path)]
           for rater, home in homes.items()}  # fmt: skip
    if not own_only:
        return dict.fromkeys(homes, _agreed([*shared, *(names for found in own.values() for names in found)]))
    found = {rater: _agreed(names or shared) for rater, names in own.items()}
    without = [rater for rater, names in found.items() if not names.classes]
    if without and len(without) < len(found):
        raise InputError(
            f'classes="own": expected a file of class names for each rater, got none for {listed(without)}'
        )
    return found


def _names_classes(path: Path) -> bool:
    name, ending = path.name.lower(), path.suffix.lower()
    likely = name in NAMES or ending == ".names" or ending in YAML
    if not likely or name.startswith("."):
        return False
    return name in NAMES or ending not in YAML or KEY.search(read_bytes(path, "YAML file")) is not None


def _agreed(files: Sequence[_Names]) -> _Names:
    """Merge the classes of all files; a number with two names is an error."""
    made: dict[int, tuple[str, str]] = {}
    joints: dict[tuple[int, int], str] = {}
    for names in files:
        for number, name in names.classes.items():
            known, place = made.setdefault(number, (name, names.place))
            if known != name:
                raise InputError(
                    f"{names.place}: expected {known!r} as class {number}, as in {place}, got {name!r}; pass classes= "
                    'with one file or list for all raters, or classes="own" if each file is of its rater only'
                )
        if names.joints is not None:
            joints[names.joints] = names.place
    if len(joints) > 1:
        shapes = listed(f"{list(shape)} in {place}" for shape, place in joints.items())
        raise InputError(f"kpt_shape: expected the same in all files, got {shapes}")
    places = listed(dict.fromkeys(names.place for names in files), 2)
    return _Names({number: name for number, (name, _) in made.items()}, next(iter(joints), None), places)


def _read_names(path: Path) -> _Names:
    text = read_text(path, "file of class names")
    if path.suffix.lower() not in YAML:  # blank lines count: the class in line 3 has number 2
        named = {number: line.strip() for number, line in enumerate(text.splitlines()) if line.strip()}
        return _Names(named, place=str(path))
    content = parse_yaml(text, str(path))
    if not isinstance(content, Mapping) or "names" not in content:
        raise InputError(f"{path}: expected a mapping with 'names', got {fields_of(content)}")
    shape = content.get("kpt_shape")
    joints = None
    if shape is not None:
        numbers = [as_number(side) for side in shape] if isinstance(shape, list) else []
        if len(numbers) != 2 or numbers[1] not in (2, 3) or not (numbers[0] or 0) >= 1:
            raise InputError(f"{path}: expected kpt_shape [joints, 2 or 3], got {repr_of(shape)}")
        joints = (int(shape[0]), int(shape[1]))
    return _Names(_checked(content["names"], str(path)), joints, str(path))


def _checked(names: Any, where: str) -> Classes:
    """Return number -> name, checked."""
    if isinstance(names, Mapping):
        entries = dict(names)
    else:
        entries = dict(enumerate(names)) if isinstance(names, Sequence) and not isinstance(names, str) else {}
    made = {key: as_name(name) for key, name in entries.items()}
    whole = all(isinstance(key, int) and not isinstance(key, bool) for key in made)
    if not made or not whole or not all(isinstance(name, str) for name in made.values()):
        raise InputError(f"{where}: expected names of classes by number, got {repr_of(names)}")
    return made
