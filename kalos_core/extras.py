"""Optional packages: import one, or name the pip command that installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from kalos_core.errors import InputError

EXTRAS = {
    "app": ("fiftyone>=1.22.1,<2",),
    "figures": ("kaleido>=1.0",),
    "completion": ("shtab>=1.13",),
    "parquet": ("pyarrow>=17",),
    "dask": (
        "pyarrow>=17",
        "fsspec>=2024.6",
        "distributed>=2024.8",
        "importlib_metadata>=4.13,<8; python_version < '3.12'",
    ),
    "mgm": ("pylibmgm>=1.1.3",),
}
"""Extra -> its requirements, as in pyproject.toml; a test compares them."""


def pip_command(extra: str) -> str:
    """Return the command that installs the packages of an extra.

    The command names the packages themselves, so that it also works where this library was not installed by pip, as
    in the folder of the plugin.

    Examples
    --------
    >>> print(pip_command("parquet"))
    pip install "pyarrow>=17"
    """
    return " ".join(["pip install", *(f'"{requirement}"' for requirement in EXTRAS[extra])])


def missing(module: str, extra: str, purpose: str, alternative: str = "") -> str:
    """Return the message about an optional package that cannot be imported.

    The message ends with the command, so that a reader can copy the rest of the line.

    Examples
    --------
    >>> print(missing("kaleido", "figures", "bars.png"))
    bars.png: needs the optional package kaleido. Install it: pip install "kaleido>=1.0"
    >>> print(missing("kaleido", "figures", "bars.png", "Save as .html"))
    bars.png: needs the optional package kaleido. Save as .html, or install it: pip install "kaleido>=1.0"
    """
    advice = f"{alternative}, or install it" if alternative else "Install it"
    return f"{purpose}: needs the optional package {module.partition('.')[0]}. {advice}: {pip_command(extra)}"


def optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional package.

    Parameters
    ----------
    module : str
        Name of the module to import.
    extra : str
        Name of the extra in `EXTRAS` that installs its package.
    purpose : str
        Argument, file or feature that needs the module. The message begins with it.

    Raises
    ------
    InputError
        If the module cannot be imported; the message has the command that installs the package.

    Examples
    --------
    >>> optional("json", "parquet", "labels.parquet").__name__
    'json'
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise InputError(missing(module, extra, purpose)) from error
