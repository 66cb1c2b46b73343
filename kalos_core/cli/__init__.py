"""The command line `kalos-core`: the library's functions on files.

A group of commands is a module with a tuple ``COMMANDS``, listed in `GROUPS`. A command calls functions of the library
and converts their results to an `Answer`. Its options are the arguments of these functions (`options_of`), with the
same names, defaults and help. `docs/command-line.md` describes the output.
"""

from __future__ import annotations

from collections.abc import Sequence

from kalos_core.cli import image_labels, masks, objects, ranks, reports, synthetic
from kalos_core.cli.commands import Command, run

GROUPS = (objects, reports, image_labels, masks, ranks, synthetic)
"""Modules with commands, in the order of the help."""

COMMANDS: tuple[Command, ...] = tuple(command for group in GROUPS for command in group.COMMANDS)
"""All commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        0; 1 if a check failed (``--fail-under`` and the like); 2, with a message on standard error, if the input or an
        option is invalid; 130 if interrupted.

    Examples
    --------
    >>> main(["agreement", "none.json"])
    2
    """
    return run(COMMANDS, arguments)
