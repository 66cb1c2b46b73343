"""DOTA: one text file an image, a line an object with its four corners in pixels, one folder a rater."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from kalos_core.annotations import Annotations, OnInvalid
from kalos_core.arguments import check_arguments
from kalos_core.files import as_float, read_text
from kalos_core.readers.findings import Findings
from kalos_core.readers.folders import (
    AssignedFiles,
    Folders,
    assigned_by_files,
    files_of,
    rater_folders,
    record_of,
)
from kalos_core.readers.shapes import UnusableError
from kalos_core.readers.sizes import Sizes, read_sizes
from kalos_core.readers.vocabulary import Aliases
from kalos_core.readers.yolo import OTHER_FILES

ABOUT = re.compile(r"\s*(imagesource|gsd|acquisition dates)\s*:", re.IGNORECASE)
"""Beginning of a line that says something of the image."""


def read_dota(
    folders: Folders,
    *,
    sizes: Sizes = None,
    assigned: AssignedFiles = "files",
    aliases: Aliases | None = None,
    on_invalid: OnInvalid = "raise",
) -> Annotations:
    r"""Labels of several raters from DOTA's text files, ``folder/rater/image.txt``.

    Parameters
    ----------
    folders : path or mapping
        A folder that holds one folder a rater (directly or in ``labelTxt``), or names -> folders. Text files are looked
        for at any depth; a folder ``labelTxt`` is no part of the name of an image. Files of one image have one name.

        A line is x and y of the four corners in pixels, the class, and whether the object is difficult (0 or 1, which
        may be missing). Lines such as ``imagesource:GoogleEarth`` and ``gsd:0.15`` are passed over.
    sizes : path or mapping, optional
        Width and height of the images, which DOTA does not write: a folder of the images, a CSV file, or a mapping
        image -> (width, height).
    assigned : "files", "all" or mapping image -> raters
        As in `read_voc`.
    aliases : mapping, optional
        What raters wrote -> class, as in `read_coco`.
    on_invalid : "raise" or "skip"
        Lines that cannot be used: an error, or left out with a warning and counted in `skipped`.

    Returns
    -------
    Annotations
        Polygons of four corners, in pixels. Images are the names of the files without their ending.

    Warns
    -----
    KalosWarning
        If objects are marked as difficult.

    Raises
    ------
    InputError
        If a folder has no text file, or a line cannot be used.

    References
    ----------
    Xia et al., "DOTA: A Large-scale Dataset for Object Detection in Aerial Images", CVPR 2018,
    https://captain-whu.github.io/DOTA/dataset.html

    Examples
    --------
    >>> for rater, line in {"ann": "4 2 9 2 9 6 4 6 plane 0", "bob": ""}.items():
    ...     Path("dota", rater).mkdir(parents=True)
    ...     _ = Path("dota", rater, "P0001.txt").write_text(f"imagesource:GoogleEarth\ngsd:0.15\n{line}\n")
    >>> annotations = read_dota("dota")
    >>> annotations.shapes["polygon"].rings(0)[0].tolist(), annotations.assigned.tolist()
    ([[4.0, 2.0], [9.0, 2.0], [9.0, 6.0], [4.0, 6.0]], [[True, True]])
    """
    check_arguments(read_dota, locals())
    homes = rater_folders(folders, least=1)
    findings = Findings("DOTA folders", on_invalid)
    files = files_of(homes, (".txt",), "text files", findings.problems, findings.account, OTHER_FILES)
    findings.raters = dict.fromkeys(files)
    size_of = read_sizes(sizes)
    for rater, found in files.items():
        for image, path in found.items():
            record = record_of(rater, homes[rater], path)
            findings.add_image(image, record, file=image, size=findings.size_from(*size_of(image), record))
            _read_file(findings, rater, image, path, record)
    for image, raters in assigned_by_files(files, assigned, findings.files).items():
        for rater in raters:
            findings.assign(image, rater)
    return findings.build(aliases=aliases)


def _read_file(findings: Findings, rater: str, image: str, path: Path, record: str) -> None:
    for number, line in enumerate(read_text(path, "DOTA file").splitlines(), start=1):
        if not line.strip() or ABOUT.match(line):
            continue
        where = f"{record}, line {number}"
        try:
            ring, category, difficult = _read_line(line.split())
        except UnusableError as unusable:
            findings.fault(where, image, *unusable.args)
        else:
            if difficult:
                findings.account.unused["difficult"] += 1
            findings.add_annotation(where, image, rater, category, polygon=[ring])


def _read_line(cells: Sequence[str]) -> tuple[list[list[float]], str, bool]:
    """The corners, the class, and whether the object is difficult."""
    numbers = [number for cell in cells[:8] if (number := as_float(cell)) is not None]
    has_end = len(cells) > 9 and cells[-1].isdecimal()
    name = " ".join(cells[8:-1] if has_end else cells[8:])
    if len(numbers) < 8 or not name:
        raise UnusableError("x1 y1 x2 y2 x3 y3 x4 y4 class difficult", repr(" ".join(cells)))
    ring = [[x, y] for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    return ring, name, has_end and int(cells[-1][:9]) > 0


def looks_like_dota(start: str) -> bool:
    """Whether the beginning of a text file is DOTA's rather than YOLO's.

    Examples
    --------
    >>> looks_like_dota("gsd:0.15"), looks_like_dota("1 2 3 2 3 4 1 4 plane 0"), looks_like_dota("0 .5 .5 .2 .2")
    (True, True, False)
    """
    lines = start.splitlines() or [""]
    cells = next((line.split() for line in lines if line.strip()), [])
    return ABOUT.match(lines[0]) is not None or (len(cells) > 8 and as_float(cells[8]) is None)
