"""Files that operators write, and their download; no other code in the plugin writes files with given names.

FiftyOne's server accepts file names from everyone who can reach it. So names are restricted to one folder, and an
existing file is replaced only by a file of the same kind.
"""

import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import fiftyone as fo

from kalos_core import InputError
from kalos_core.errors import repr_of
from kalos_core.fiftyone.app import ARRANGED, download
from kalos_core.fiftyone.runs.upkeep import FOLDER, folder_of
from kalos_core.files import make_folder
from kalos_core.readers.images import can_be_file
from kalos_core.text import shown

from .widgets import Context

SETTING = "KALOS_FOLDER"
"""Environment variable of FiftyOne's server that sets another folder."""

OF_DATASET, OF_NEW = "files", "new"
"""Subfolder of the folder of a data set, and folder for data sets that do not exist yet."""

MEDIA = {".csv": "text/csv", ".html": "text/html", ".json": "application/json"}
"""Extension of a file -> media type."""


def folder_for(dataset: Any) -> Path:
    """Return the folder in which operators write for a data set, or for a new one (None)."""
    if os.environ.get(SETTING):
        return Path(os.environ[SETTING]).absolute()
    home = Path(fo.config.default_dataset_dir, FOLDER, OF_NEW) if dataset is None else folder_of(dataset)
    return home / OF_DATASET


def place(dataset: Any, name: str, argument: str, ending: str = "") -> Path:
    """Return the path of a file with an extension, or of a folder, below the folder of a data set.

    Raises
    ------
    InputError
        If the name leads out of the folder (also by ``..`` or a link), is not a valid file name, or has another
        extension.
    """
    folder, given = folder_for(dataset), repr_of(name)
    if not can_be_file(name):
        raise InputError(f"{argument}: expected a name that a file can have, got {given}")
    path = Path(os.path.normpath(folder / name))
    if path == folder or not Path(os.path.realpath(path)).is_relative_to(folder.resolve()):
        raise InputError(
            f"{argument}: expected a name below {folder}, where operators write, got {given}. Set {SETTING} to use "
            "another folder, or call the function in Python, which writes anywhere"
        )
    if path.suffix != ending and ending:
        raise InputError(f"{argument}: expected a name that ends in {ending}, got {given}")
    return path


def deliver(ctx: Context, name: str, usual: str, write: Callable[[Path], Any]) -> str:
    """Write a file, download it in the browser if there is one, and return a text that describes the result.

    Parameters
    ----------
    ctx : ExecutionContext
    name : str
        Name below the folder of the data set. With "", a downloaded file is not kept on the server.
    usual : str
        Default name, with its extension.
    write : callable
        Function that writes the file to a path, or raises an error.
    """
    has_browser = ARRANGED in ctx.request_params and not ctx.delegated
    ending = Path(usual).suffix
    if name or not has_browser:
        path = place(ctx.dataset, name or usual, "path", ending)
        make_folder(path.parent)
        write(path)
        if has_browser:
            download(ctx, path.name, MEDIA[ending], path.read_bytes())
        return f"Written to {shown(str(path), None)}{', and downloaded' if has_browser else ''}."
    with TemporaryDirectory() as folder:
        path = Path(folder, usual)
        write(path)
        download(ctx, usual, MEDIA[ending], path.read_bytes())
    return f"Downloaded as {shown(usual, None)}."
