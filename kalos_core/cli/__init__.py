"""The command line `kalos-core`: the library's functions on files.

A group of commands is a module with a tuple ``COMMANDS``, named in `GROUPS`. A command calls functions of the library
and makes an `Answer` of what they return; its options are their arguments (`options_of`), so that names, defaults and
help are those of the functions. `docs/command-line.md` describes what is written.
"""

from __future__ import annotations

from collections.abc import Sequence

from kalos_core.cli import image_labels, masks, objects, ranks, reports, synthetic
from kalos_core.cli.commands import Command, run

GROUPS = (objects, reports, image_labels, masks, ranks, synthetic)
"""The modules with commands, in the order of the help."""

COMMANDS: tuple[Command, ...] = tuple(command for group in GROUPS for command in group.COMMANDS)
"""All commands."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Parameters
    ----------
    arguments : sequence of str, optional
        Those of the process unless given.

    Returns
    -------
    int
        0; 1 where a check failed (``--fail-under`` and the like); 2, with a message on standard error, where the input
        or an option cannot be used; 130 where it was interrupted.

    Examples
    --------
    >>> main(["agreement", "none.json"])
    2
    """
    return run(COMMANDS, arguments)
