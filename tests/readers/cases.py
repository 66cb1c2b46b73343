"""Small files, and the annotations or the error that a reader must return for each.

A case is ``(content, expected)``, or ``(content, options, expected)`` with options of the reader. `differing` reads
every case of a table; a test asserts that it returns an empty list.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from kalos_core import Annotations, InputError, KalosWarning, LabelTable


@dataclass(frozen=True)
class Warned:
    """Read as these lines, with a warning that contains these words."""

    words: str
    lines: list[str]


@dataclass(frozen=True)
class LeftOut:
    """Refused with these words; with ``on_invalid="skip"``, one annotation is left out with the same words."""

    words: str


Expected = list[str] | str | Warned | LeftOut
"""`lines` of a result without warnings, words of an error, or one of the classes above."""


def write(folder: Path, content: Any, name: str = "") -> Path:
    """Write a file, or (without a name) files by their paths in a folder; return the path that a reader takes."""
    for place, each in ({name: content} if name else content).items():
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        data = as_bytes(each, path.suffix)
        path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return folder / name


def as_bytes(content: Any, ending: str = "") -> bytes:
    """Return bytes, text, an image from an array, or anything else as JSON."""
    if isinstance(content, bytes):
        return content
    if isinstance(content, np.ndarray):
        file = io.BytesIO()
        Image.fromarray(content).save(file, "TIFF" if ending == ".tif" else "PNG")
        return file.getvalue()
    return (content if isinstance(content, str) else json.dumps(content)).encode()


def lines(table: Annotations) -> list[str]:
    """Describe a table, one line per image: "id=file 20x10 assigned raters: rater class shape; ...".

    The file is left out if it equals the id. A box is left out if it is the bounding box of another shape.
    """
    found = []
    for image, key in enumerate(table.images.tolist()):
        file = table.files[image]
        name = f"{key}={file}" if file != str(key) else file
        size = "?" if np.isnan(table.image_size[image]).any() else "x".join(map(number, table.image_size[image]))
        drawn = "; ".join(
            " ".join([table.raters[table.rater[row]], table.categories[table.category[row]], *shapes(table, row)])
            for row in np.flatnonzero(table.image == image)
        )
        found.append(f"{name} {size} {' '.join(table.raters[table.assigned[image]])}: {drawn}".rstrip())
    return found


def shapes(table: Annotations, row: int) -> list[str]:
    """Return each shape of an annotation as a word and its coordinates."""
    found, bounds = [], []
    for kind, column in table.shapes.items():
        if kind == "box" or column.absent()[row]:
            continue
        if kind == "polygon":
            text = " | ".join(" ".join(",".join(map(number, xy)) for xy in ring) for ring in column.rings(row))
        elif kind == "mask":
            one = column.take(np.array([row]))
            pixels = np.zeros(one.size[0].prod(), int)
            for first, length in zip(one.first, one.length, strict=True):
                pixels[first : first + length] = 1
            x, y, right, below = np.nan_to_num(one.bounds()[0]).astype(int)
            cut = pixels.reshape(one.size[0]).T[y:below, x:right]
            text = f"at {x},{y} " + "/".join("".join(map(str, line)) for line in cut)
        elif kind == "keypoints":
            seen = zip(column.points[row], column.visible[row], strict=True)
            text = " ".join(",".join(map(number, xy)) if labelled else "-" for xy, labelled in seen)
        else:
            text = f"of {number(column.area()[row])}"
        found.append(f"{kind} {text}")
        if kind != "volume":
            bounds.append(column.outline_bounds()[row])
    boxes = table.shapes.get("box")
    if boxes is not None and not any(np.allclose(boxes.bounds()[row], other) for other in bounds):
        found.insert(0, "box " + " ".join(map(number, boxes.xywh()[row])))
    return found


def contents(table: Annotations, digits: int | None = None) -> dict[str, str]:
    """Return every column of a table and of its crowd regions as text; corners of boxes rounded to `digits`."""
    found = {}
    for field in fields(table):
        value = getattr(table, field.name)
        if field.name == "account":
            continue  # properties of the file or block
        if field.name == "shapes":
            for kind, column in value.items():
                if column.absent().all():
                    continue  # a part of a table may lack a kind
                for name, values in [(part.name, getattr(column, part.name)) for part in fields(column)]:
                    if isinstance(values, np.ndarray):
                        rounded = values.round(digits) + 0.0 if name == "corners" and digits is not None else values
                        found[f"{kind}.{name}"] = repr(rounded.tolist())
        elif isinstance(value, Annotations):
            found |= {f"crowd {name}": text for name, text in contents(value, digits).items()}
        else:
            found[field.name] = repr(np.asarray(value).tolist())
    return found


def label_lines(table: LabelTable) -> list[str]:
    """Describe a table of labels, one line per item: "item: rater label label, rater label"."""
    frame = table.to_pandas()
    found = {str(item): dict[str, list[str]]() for item in table.items}
    for item, rater, label in zip(frame["item"], frame["rater"], frame["label"], strict=True):
        found[str(item)].setdefault(str(rater), []).append(str(label))
    return [
        f"{item}: " + ", ".join(" ".join([rater, *of]) for rater, of in said.items()) for item, said in found.items()
    ]


def number(value: float) -> str:
    return f"{round(float(value), 6) + 0.0:.9g}"


def outcome(read: Callable[..., Any], source: Any, show: Callable[[Any], Any] = lines, **options: Any) -> Any:
    """Return the result as described by `show`, and the warnings; or the words of the error."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            table = read(source, **options)
        except InputError as error:
            return str(error)
    for warning in caught:
        assert warning.category is KalosWarning, warning
        assert Path(__file__).parents[1] in Path(warning.filename).parents, warning  # the line of the caller
    return show(table), [str(warning.message) for warning in caught]


def differing(
    read: Callable[..., Any],
    folder: Path | None,
    cases: Mapping[str, tuple[Any, ...]] | Iterable[tuple[Any, ...]],
    name: str = "",
    show: Callable[[Any], list[str]] = lines,
) -> list[str]:
    """Return the results of a reader that differ from the expected ones.

    Parameters
    ----------
    read : callable
        ``read(path, **options)``; without a folder ``read(content, **options)``.
    folder : path or None
        Folder for the files, with a subfolder for each case.
    cases : mapping name -> case, or iterable of cases
        As described above; a case without a name is identified by its number and the expected result.
    name : str
        Name of the file for the contents; without one, contents are files by their paths.
    show : callable
        Describes the result.
    """
    found = []
    named = cases if isinstance(cases, Mapping) else {f"{place}: {case[-1]}": case for place, case in enumerate(cases)}
    for place, (case, (content, *more, expected)) in enumerate(named.items()):
        options = more[0] if more else {}
        source = content if folder is None else write(folder / str(place), content, name)
        made = outcome(read, source, show, **options)
        if not _as_expected(made, expected):
            found.append(f"{case}: {made}")
        elif isinstance(expected, LeftOut):
            made = outcome(read, source, lambda table: int(table.skipped.sum()), **options, on_invalid="skip")
            words = re.escape(expected.words) + r"(.|\n)*They are skipped"
            if made[0] != 1 or not any(re.search(words, warning) for warning in made[1]):
                found.append(f"{case}, to be left out: {made}")
    return found


def _as_expected(made: Any, expected: Expected) -> bool:
    if isinstance(expected, (str, LeftOut)):
        return isinstance(made, str) and (expected if isinstance(expected, str) else expected.words) in made
    if isinstance(expected, Warned):
        return made[0] == expected.lines and any(expected.words in warning for warning in made[1])
    return made == (expected, [])
