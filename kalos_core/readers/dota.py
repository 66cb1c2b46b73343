"""Reader of DOTA: one folder per rater, one text file per image, one line with four corners in pixels per object."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kalos_core.annotations import Annotations
from kalos_core.files import as_float, read_text
from kalos_core.options import takes
from kalos_core.readers.findings import Findings
from kalos_core.readers.folders import Folders, LabelFile, assign_by_files, label_files
from kalos_core.readers.settings import FolderSettings, reading
from kalos_core.readers.shapes import UnusableError
from kalos_core.readers.sizes import Sizes, read_sizes
from kalos_core.readers.yolo import OTHER_FILES

ABOUT = re.compile(r"\s*(imagesource|gsd|acquisition dates)\s*:", re.IGNORECASE)
"""Start of a line with metadata of the image."""


@dataclass(frozen=True, kw_only=True)
class DotaSettings(FolderSettings):
    """Options of `read_dota`."""

    sizes: Sizes = None


@takes(DotaSettings)
@reading
def read_dota(folders: Folders, settings: DotaSettings) -> Annotations:
    r"""Read labels of several raters from DOTA's text files, ``folder/rater/image.txt``.

    Parameters
    ----------
    folders : path or mapping
        A folder with one folder per rater (directly or in ``labelTxt``), or rater -> folder. Text files are searched
        for at any depth; a folder ``labelTxt`` is not part of the name of an image. Files of one image have one name.

        A line contains x and y of the four corners in pixels, the class, and optionally whether the object is difficult
        (0 or 1). Lines such as ``imagesource:GoogleEarth`` and ``gsd:0.15`` are ignored.

    Returns
    -------
    Annotations
        Polygons of four corners, in pixels. Images are named after their files, without extension.

    Warns
    -----
    KalosWarning
        If objects are marked as difficult.

    Raises
    ------
    InputError
        If a folder has no text file, or a line is invalid.

    References
    ----------
    Xia et al., "DOTA: A Large-scale Dataset for Object Detection in Aerial Images", CVPR 2018,
    https://captain-whu.github.io/DOTA/dataset.html

    Examples
    --------
    >>> from pathlib import Path
    >>> for rater, line in {"ann": "4 2 9 2 9 6 4 6 plane 0", "bob": ""}.items():
    ...     Path("dota", rater).mkdir(parents=True)
    ...     _ = Path("dota", rater, "P0001.txt").write_text(f"imagesource:GoogleEarth\ngsd:0.15\n{line}\n")
    >>> annotations = read_dota("dota")
    >>> annotations.shapes["polygon"].rings(0)[0].tolist(), annotations.assigned.tolist()
    ([[4.0, 2.0], [9.0, 2.0], [9.0, 6.0], [4.0, 6.0]], [[True, True]])
    """
    findings = Findings("DOTA folders", settings.on_invalid)
    files = label_files(findings, folders, ".txt", "text files", OTHER_FILES)
    size_of = read_sizes(settings.sizes)
    for file in files:
        size = findings.size_from(*size_of(file.image), file.record)
        findings.add_image(file.image, file.record, file=file.image, size=size)
        _read_file(findings, file)
    assign_by_files(findings, files, settings.assigned)
    return findings.build(aliases=settings.aliases)


def _read_file(findings: Findings, file: LabelFile) -> None:
    for number, line in enumerate(read_text(file.path, "DOTA file").splitlines(), start=1):
        if not line.strip() or ABOUT.match(line):
            continue
        where = f"{file.record}, line {number}"
        with findings.annotation(where, file.image):
            ring, category, difficult = _read_line(line.split())
            findings.account.unused["difficult"] += difficult
            findings.add_annotation(where, file.image, file.rater, category, polygon=[ring])


def _read_line(cells: Sequence[str]) -> tuple[list[list[float]], str, bool]:
    """Return the corners, the class, and whether the object is difficult."""
    numbers = [number for cell in cells[:8] if (number := as_float(cell)) is not None]
    has_end = len(cells) > 9 and cells[-1].isdecimal()
    name = " ".join(cells[8:-1] if has_end else cells[8:])
    if len(numbers) < 8 or not name:
        raise UnusableError("x1 y1 x2 y2 x3 y3 x4 y4 class difficult", repr(" ".join(cells)))
    ring = [[x, y] for x, y in zip(numbers[::2], numbers[1::2], strict=True)]
    return ring, name, has_end and int(cells[-1][:9]) > 0


def looks_like_dota(start: str) -> bool:
    """Check whether the beginning of a text file is DOTA's rather than YOLO's.

    Examples
    --------
    >>> looks_like_dota("gsd:0.15"), looks_like_dota("1 2 3 2 3 4 1 4 plane 0"), looks_like_dota("0 .5 .5 .2 .2")
    (True, True, False)
    """
    lines = start.splitlines() or [""]
    cells = next((line.split() for line in lines if line.strip()), [])
    return ABOUT.match(lines[0]) is not None or (len(cells) > 8 and as_float(cells[8]) is None)
