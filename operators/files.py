"""Where operators write, and how a file comes to the browser: nothing else in the plugin writes a file that is named.

FiftyOne's server takes names of files from whoever can reach it. So they are names below one folder, and a file that is
there is replaced only if it is of the kind that is written.
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
from kalos_core.readers.images import can_be_file
from kalos_core.text import shown

from .widgets import Context

SETTING = "KALOS_FOLDER"
"""Variable of the environment of FiftyOne's server that names another folder."""

OF_DATASET, OF_NEW = "files", "new"
"""Folders below that of a data set, and of data sets that are only being made."""

MEDIA = {".csv": "text/csv", ".html": "text/html", ".json": "application/json"}
"""Ending of a file -> its media type."""


def folder_for(dataset: Any) -> Path:
    """The folder below which operators write for a data set, or for one that is only being made."""
    if os.environ.get(SETTING):
        return Path(os.environ[SETTING]).absolute()
    home = Path(fo.config.default_dataset_dir, FOLDER, OF_NEW) if dataset is None else folder_of(dataset)
    return home / OF_DATASET


def place(dataset: Any, name: str, argument: str, ending: str = "") -> Path:
    """The path of a file with an ending, or of a folder, below the folder of a data set.

    Raises
    ------
    InputError
        If the name, ``..`` in it or a link leads out of that folder, no file can have it, or it ends otherwise.
    """
    folder, given = folder_for(dataset), repr_of(name)
    if not can_be_file(name):
        raise InputError(f"{argument}: expected a name that a file can have, got {given}")
    path = Path(os.path.normpath(folder / name))
    if path == folder or not Path(os.path.realpath(path)).is_relative_to(folder.resolve()):
        raise InputError(
            f"{argument}: expected a name below {folder}, where operators write, got {given}: {SETTING} names another "
            "folder, and functions of Python write anywhere"
        )
    if path.suffix != ending and ending:
        raise InputError(f"{argument}: expected a name that ends in {ending}, got {given}")
    return path


def deliver(ctx: Context, name: str, usual: str, write: Callable[[Path], Any]) -> str:
    """Have a file written, and downloaded by the browser where there is one; what was done, as text.

    Parameters
    ----------
    ctx : ExecutionContext
    name : str
        Below the folder of the data set; "" keeps no file there that the browser downloads.
    usual : str
        The name without one, with its ending.
    write : callable
        Writes it to a path, or raises.
    """
    has_browser = ARRANGED in ctx.request_params and not ctx.delegated
    ending = Path(usual).suffix
    if name or not has_browser:
        path = place(ctx.dataset, name or usual, "path", ending)
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path)
        if has_browser:
            download(ctx, path.name, MEDIA[ending], path.read_bytes())
        return f"Written to {shown(str(path), None)}{', and downloaded' if has_browser else ''}."
    with TemporaryDirectory() as folder:
        path = Path(folder, usual)
        write(path)
        download(ctx, usual, MEDIA[ending], path.read_bytes())
    return f"Downloaded as {shown(usual, None)}."
