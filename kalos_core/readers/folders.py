"""Files of formats with one folder per rater and one file per image, and the assignment that follows from them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

from kalos_core.annotations import Account, as_name
from kalos_core.errors import InputError, Problems, listed, repr_of
from kalos_core.files import as_path, entries_of, files_below, not_a_file
from kalos_core.options import Option
from kalos_core.readers.findings import Findings

Folders: TypeAlias = str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]]
"""A folder with one folder per rater, or rater -> folder."""

AssignedFiles = Annotated[
    Literal["files", "all"] | Mapping[str, Sequence[str]],
    Option(
        "Assigned raters",
        "Who was assigned to an image: the raters with a file for it, every rater, or those in a mapping image -> "
        "raters; for images that are not in the mapping, the raters with a file.",
        type='"files", "all" or mapping',
    ),
]

WRAPPERS = re.compile(r"annotations?|labels|obj_\w+_data|labeltxt[\w.-]*|masks|segmentationclass", re.IGNORECASE)
"""Names of folders for a type of file. They are neither part of the name of an image nor names of raters."""

SPLITS = frozenset({"train", "training", "val", "valid", "validation", "test", "testing", "trainval", "default"})
"""Names of folders, in lower case, for a split of a data set. They are not names of raters."""

IMAGE_FOLDERS = frozenset({"images", "img", "jpegimages", "imagesets", "segmentationobject"})
"""Names of folders, in lower case, for images, lists of images, or instance masks, next to those of the labels."""

HASH = re.compile(r"\.rf\.[0-9A-Za-z]{8,}$")
"""Suffix that Roboflow adds to the name of an image, different in each export."""


def rater_folders(folders: Folders, least: int = 2) -> dict[str, Path]:
    """Return rater -> folder, and check that there are at least `least` of them.

    Folders of images are ignored. If the only other folder has a name as in `WRAPPERS`, its folders are the raters'.

    Raises
    ------
    InputError
        If there are fewer folders, or they are splits of one data set.
    """
    if isinstance(folders, Mapping):
        homes = {str(rater): as_folder(home, f"folders[{rater!r}]") for rater, home in folders.items()}
        where = "folders"
    else:
        root = as_folder(folders, "folders")
        homes = _inside(root)
        while len(homes) == 1 and WRAPPERS.fullmatch(next(iter(homes))):
            (root,) = homes.values()
            homes = _inside(root)
        where = str(root)
        check_raters(homes, where)
    if len(homes) < least:
        expected = "folders of at least two raters" if least > 1 else "a folder for each rater, with the rater's files"
        raise InputError(f"{where}: expected {expected}, got {listed(homes) or 'none'}")
    return homes


def check_raters(names: Iterable[str], where: str) -> None:
    """Raise an error if all names of files or folders are those of splits of one data set."""
    found = list(names)
    if found and all(name.lower() in SPLITS or WRAPPERS.fullmatch(name) for name in found):
        raise InputError(
            f"{where}: expected a folder for each rater, got {listed(found)}, which are splits of one data set; "
            "put the export of each rater into a folder named after the rater, and pass the parent folder"
        )


def _inside(root: Path) -> dict[str, Path]:
    homes, others = entries_of(root)
    for path in others:
        if actual := not_a_file(path):  # it may stand for the folder of a rater
            raise InputError(f"{path}: expected the folder of a rater, or a file, got {actual}; remove or mend it")
    return {home.name: home for home in homes if home.name.lower() not in IMAGE_FOLDERS}


def as_folder(value: object, argument: str) -> Path:
    """Return an argument as the path of a folder; anything else is an error that names the argument."""
    path = as_path(value, argument)
    if not os.path.isdir(path):
        raise InputError(f"{argument}: expected a folder, got {path}, which is not a folder")
    return path


def folder_of_raters(value: object, argument: str) -> Path:
    """Return an argument as a folder with one file per rater; a single file is an error."""
    if isinstance(value, (str, os.PathLike)) and os.path.isfile(value):
        raise InputError(
            f"{argument}: expected a folder with a file for each rater, got one file, {os.fsdecode(value)}"
        )
    return as_folder(value, argument)


def files_in(
    home: Path,
    endings: tuple[str, ...],
    problems: Problems,
    *,
    others: Iterable[str] = (),
    wrapped: bool = False,
    beside: frozenset[str] = frozenset(),
) -> dict[str, Path]:
    """Return image -> file; the name of an image has its folders, but no extension.

    Parameters
    ----------
    home : path
    endings : tuple of str
        File extensions, in lower case.
    problems : Problems
        Collects images with two files.
    others : names in lower case, optional
        Names of files that do not belong to an image.
    wrapped : bool
        Whether folders with a name as in `WRAPPERS` are left out of the name of an image.
    beside : set of str
        Names of folders, in lower case, whose files are ignored.
    """
    files: dict[str, Path] = {}
    passed = frozenset(others)
    for file in files_below(home):
        inside = file.relative_to(home)
        if file.suffix.lower() not in endings or file.name.lower() in passed:
            continue
        if not beside.isdisjoint(part.lower() for part in inside.parts[:-1]):
            continue
        if actual := not_a_file(file):  # leaving it out would mean that the rater was not assigned
            problems.add(str(file), "a file", actual)
        folders = [part for part in inside.parts[:-1] if not (wrapped and WRAPPERS.fullmatch(part))]
        image = "/".join([*folders, inside.stem])
        if image in files:
            problems.add(f"image {image!r} in {home}", "one file", f"{files[image].name} and {file.name}")
        files[image] = file
    return files


def files_of(
    homes: Mapping[str, Path],
    endings: tuple[str, ...],
    what: str,
    problems: Problems,
    account: Account,
    others: Iterable[str] = (),
) -> dict[str, dict[str, Path]]:
    """Return rater -> image -> file, with the files that `files_in` finds in the rater's folder.

    `what` describes such files in messages. Raters with the same splits of a data set (train, test) may have an image
    in different splits, or Roboflow may have named it differently. Splits and hashes are then removed from the names of
    all images, if these remain unique.

    Raises
    ------
    InputError
        If a rater has no file, an image has two, or a file cannot be read.
    """
    files = {rater: files_in(home, endings, problems, others=others, wrapped=True) for rater, home in homes.items()}
    for rater, found in files.items():
        if not found:
            problems.add(f"rater {rater!r}", f"{what} in {homes[rater]}", "none")
    problems.raise_if_any()
    names = {rater: [_bare(image) for image in found] for rater, found in files.items()}
    parts = {frozenset(part for _, part in bare) for bare in names.values()}
    images = {rater: [image for image, _ in bare] for rater, bare in names.items()}
    unique = all(len(set(bare)) == len(bare) for bare in images.values())
    merged = len(set().union(*images.values())) < len(set().union(*files.values()))
    if not (unique and merged and len(parts) == 1):
        return files
    account.notes.append("images are matched without train, test, ... and Roboflow's hash, which differ between raters")
    return {rater: dict(zip(images[rater], found.values(), strict=True)) for rater, found in files.items()}


def _bare(image: str) -> tuple[str, str]:
    """Return the name of an image without the split of the data set and Roboflow's hash, and the split.

    Examples
    --------
    >>> _bare("train/a_jpg.rf.0a1b2c3d4e5f"), _bare("x/a")
    (('a_jpg', 'train'), ('x/a', ''))
    """
    *folders, name = HASH.sub("", image).split("/")
    parts = [folder for folder in folders if folder.lower() in SPLITS]
    return "/".join([*(folder for folder in folders if folder not in parts), name]), "/".join(parts)


class LabelFile(NamedTuple):
    """The file of a rater and an image, and its name in messages."""

    rater: str
    image: str
    path: Path
    record: str


def label_files(
    findings: Findings, folders: Folders, ending: str, what: str, others: Iterable[str] = ()
) -> list[LabelFile]:
    """Return the files of all raters, and record the raters.

    Parameters
    ----------
    findings : Findings
    folders : path or mapping
        One folder per rater, see `rater_folders`.
    ending : str
        File extension, in lower case.
    what : str
        Description of such files in messages.
    others : names in lower case, optional
        Names of files that do not belong to an image.
    """
    homes = rater_folders(folders, least=1)
    files = files_of(homes, (ending,), what, findings.problems, findings.account, others)
    findings.raters = dict.fromkeys(files)
    return [
        LabelFile(rater, image, path, f"{rater}/{path.relative_to(homes[rater]).as_posix()}")
        for rater, found in files.items()
        for image, path in found.items()
    ]


def assign_by_files(findings: Findings, files: Iterable[LabelFile], assigned: AssignedFiles) -> None:
    """Record who was assigned to each image, see `assigned_by_files`."""
    found: dict[str, list[str]] = {rater: [] for rater in findings.raters}
    for file in files:
        found[file.rater].append(file.image)
    for image, raters in assigned_by_files(found, assigned, findings.files).items():
        for rater in raters:
            findings.assign(image, rater)


def rater_files(exports: object, endings: tuple[str, ...], what: str) -> tuple[dict[str, Path], dict[str, str]]:
    """Return rater -> file and rater -> name of the file in messages.

    Parameters
    ----------
    exports : path or mapping
        A mapping rater -> file; or a folder with one file per rater, named after the rater, or with one folder per
        rater that contains one file.
    endings : tuple of str
        File extensions, in lower case.
    what : str
        Description of such files in messages.
    """
    if isinstance(exports, Mapping):
        raters = [as_name(rater) for rater in exports]
        if not raters or not all(isinstance(name, str) for name in raters):
            raise InputError(f"exports: expected a mapping of raters' names to files, got {repr_of(exports)}")
        paths = [as_path(path, f"exports[{name!r}]") for name, path in zip(raters, exports.values(), strict=True)]
        unique = len({path.name for path in paths}) == len(paths)
        names = [path.name if unique else str(path) for path in paths]
        return dict(zip(raters, paths, strict=True)), dict(zip(raters, names, strict=True))
    folder = folder_of_raters(exports, "exports")
    files: dict[str, Path] = {}
    folders, direct = entries_of(folder)
    within = (path for home in folders for path in entries_of(home)[1])
    for path in [*sorted([*folders, *direct]), *within]:  # a folder in place of a file is refused when it is opened
        home = path.parent
        if path.suffix.lower() not in endings or (home != folder and home.name.lower() in IMAGE_FOLDERS):
            continue
        rater = path.stem if home == folder or WRAPPERS.fullmatch(home.name) else home.name
        if rater in files:
            both = f"{files[rater].relative_to(folder)} and {path.relative_to(folder)}"
            raise InputError(f"{folder}: expected one file of rater {rater!r}, got {both}")
        files[rater] = path
    if not files:
        raise InputError(f"{folder}: expected {what}, one per rater, got none")
    return files, {rater: path.relative_to(folder).as_posix() for rater, path in files.items()}


def assigned_by_files(
    found: Mapping[str, Iterable[str]], assigned: AssignedFiles, images: Iterable[Any]
) -> dict[str, list[str]]:
    """Return image -> assigned raters.

    Parameters
    ----------
    found : mapping rater -> images
        Images for which a rater has a file.
    assigned : "files", "all" or mapping image -> raters
        For images that are not in a mapping, the raters with a file are assigned.
    images : names

    Examples
    --------
    >>> found = {"ann": ["a", "b"], "bob": ["a"]}
    >>> assigned_by_files(found, "files", ["a", "b"]), assigned_by_files(found, {"b": ["ann", "bob"]}, ["b"])
    ({'a': ['ann', 'bob'], 'b': ['ann']}, {'b': ['ann', 'bob']})
    """
    if assigned == "all":
        return {image: list(found) for image in images}
    if assigned != "files" and not isinstance(assigned, Mapping):
        raise InputError(f"assigned: expected 'files', 'all' or lists of raters by image, got {repr_of(assigned)}")
    has = {rater: set(files) for rater, files in found.items()}
    lists = {image: [rater for rater in found if image in has[rater]] for image in images}
    if isinstance(assigned, Mapping):
        strange = [name for name in assigned if name not in lists]
        strange += [name for names in assigned.values() for name in names if as_name(name) not in found]
        if strange:
            raise InputError(f"assigned: expected images and raters with files, got {listed(map(repr_of, strange))}")
        lists |= {image: [as_name(name) for name in names] for image, names in assigned.items()}
    return lists
