"""Help of the command line in groups, and messages that name options as typed."""

from __future__ import annotations

import argparse
import re
import shutil
from collections.abc import Iterable, Sequence, Set
from types import NoneType
from typing import Any, get_origin

from kalos_core.cli.options import GROUPS, INPUT, Flag, parts_of
from kalos_core.errors import listed

WIDTH = 100
"""Maximum width of a line of help, in characters."""

LONG = 40
"""Maximum number of characters of choices shown next to their option."""

COUNTED = {int: "N", float: "X", str: "TEXT", bool: "YES"}
"""Placeholder of a value, by type."""

EXIT_CODES = """exit codes:
  0  done
  1  a check failed (--fail-..., or its value is undefined); all output was written
  2  the input or an option is invalid, see the message; nothing was written
  130  interrupted (Ctrl-C)"""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Formatter that wraps each line of a help text separately and indents choices below their option."""

    def __init__(self, prog: str) -> None:
        width = min(WIDTH, shutil.get_terminal_size((WIDTH, 24)).columns) - 2
        super().__init__(prog, max_help_position=26, width=width)

    def _split_lines(self, text: str, width: int) -> list[str]:
        found = []
        for line in text.splitlines():
            indent = "  " if line.startswith("- ") else ""
            wrapped = super()._split_lines(line, width - len(indent))
            found += wrapped[:1] + [indent + more for more in wrapped[1:]]
        return found


def help_of(option: Flag) -> str:
    """Return the help of an option: description, choices with their meanings, and default.

    Examples
    --------
    >>> print(help_of(Flag("cost", str, "Which pairs come first.", "soft", choices={"soft": "those of a class"})))
    Which pairs come first.
    - soft: those of a class
    (default: soft)
    """
    said = [f"- {value}: {meaning}" for value, meaning in option.choices.items() if meaning]
    lines = [option.help, *said]
    if option.choices and not said and len(_choices(option)) > LONG:
        lines.append(f"One of {listed(option.choices, 40)}.")
    default = _default(option.default)
    return "\n".join([*lines, *([f"(default: {default})"] if default else [])])


def _default(value: object) -> str:
    if value is None or value is False or value in ("", ()):
        return ""
    if isinstance(value, tuple):
        return " ".join(map(_default, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _choices(option: Flag) -> str:
    return f"{{{','.join(option.choices)}}}"


def metavar_of(option: Flag) -> str:
    """Return the placeholder for the value of an option.

    Examples
    --------
    >>> (
    ...     metavar_of(Flag("seed", int)),
    ...     metavar_of(Flag("out", str, path="folder")),
    ...     metavar_of(Flag("m", dict[str, int])),
    ... )
    ('N', 'FOLDER', "'{NAME: VALUE}'")
    """
    if option.path:
        return "FOLDER" if "folder" in option.path else "FILE"
    if option.choices and len(_choices(option)) <= LONG:
        return _choices(option)
    if option.choices:
        return "NAME"
    kinds = [part for part in parts_of(option.kind) if part is not NoneType]
    single = [COUNTED[kind] for kind in kinds if kind in COUNTED]
    inside = [COUNTED.get(parts_of(kind.__args__[0])[0], "TEXT") for kind in kinds if get_origin(kind) is list]
    return [*single, *inside, "'{NAME: VALUE}'"][0]


def add_option(parser: Any, option: Flag, *, hidden: bool = False, completing: bool = False) -> None:
    """Add an option to a parser or an argument group."""
    text = argparse.SUPPRESS if hidden else help_of(option).replace("%", "%%")
    if option.is_switch:
        parser.add_argument(option.flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
        return
    count: Any = "+" if any(get_origin(part) is list for part in parts_of(option.kind)) else 1
    name = metavar_of(option)
    action = parser.add_argument(option.flag, nargs=count, default=argparse.SUPPRESS, metavar=name, help=text)
    if completing:
        action.help = option.help.split(". ")[0].replace("%", "%%")  # one line next to the option
        if option.choices:
            action.choices = list(option.choices)
        elif option.path or "file" in option.help.lower():
            action.complete = completed(folder="folder" in option.path)


def completed(*, folder: bool = False) -> Any:
    """Return the `shtab` completion of files, or of folders only."""
    import shtab

    return shtab.DIRECTORY if folder else shtab.FILE


def add_options(parser: Any, options: Sequence[Flag], formats: Set[str], *, completing: bool = False) -> None:
    """Add options in their groups; options that only some input formats have are only listed by name."""
    for title in GROUPS:
        own = [option for option in options if option.group == title]
        if not own:
            continue
        some = [option for option in own if option.formats and not formats <= set(option.formats)]
        group = parser.add_argument_group(title, _of_formats(some) if title == INPUT else None)
        for option in own:
            add_option(group, option, hidden=option in some and not completing, completing=completing)


def _of_formats(options: Sequence[Flag]) -> str | None:
    """List the options of each format."""
    formats = sorted({name for option in options for name in option.formats})
    if not formats:
        return None
    lines = [f"  {name}: {' '.join(option.flag for option in options if name in option.formats)}" for name in formats]
    return "\n".join(["Options of some formats only, explained by --help-format FORMAT:", *lines])


class FormatHelp(argparse.Action):
    """Action of ``--help-format FORMAT``: explain the options of a format."""

    def __init__(self, options: Sequence[Flag], **more: Any) -> None:
        super().__init__(**more)
        self.options = options

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        """Print the help and exit."""
        del namespace, option_string
        own = [option.formats[values] for option in self.options if values in option.formats]
        about = argparse.ArgumentParser(
            parser.prog, usage=argparse.SUPPRESS, add_help=False, formatter_class=Formatter, allow_abbrev=False
        )
        group = about.add_argument_group(f"options for input in format {values}")
        for option in own:
            add_option(group, option)
        about.print_help()
        parser.exit()


# ---- messages ----


def as_typed(message: str, options: Iterable[Flag]) -> str:
    """Replace the names of arguments in a message of the library by options as typed on the command line.

    Examples
    --------
    >>> options = [Flag("sizes", str), Flag("compare_in", str, argument="coordinates")]
    >>> as_typed("sizes: expected a folder; pass sizes={image: (9, 9)}, or say coordinates='pixels'", options)
    "--sizes: expected a folder; pass --sizes '{image: (9, 9)}', or say --compare-in pixels"
    >>> as_typed("name it by sizes= (--sizes)", options)
    'name it by --sizes'
    """
    others = {option.argument: option.flag for option in options if option.argument not in ("", option.name)}
    flags = others | {option.name: option.flag for option in options}
    flags |= {name: flag for name, flag in others.items() if message.startswith(f"{name}: ")}
    names = "|".join(sorted(map(re.escape, flags), key=len, reverse=True))
    if not names:
        return message
    start = re.compile(rf"\A({names})(?=: )")
    value = r"(?:'[^']*'|\"[^\"]*\"|\{(?:[^{}]|\{[^{}]*\})*\}|\[[^\]]*\])"
    twice = re.compile(rf"(?<![\w.-])(?:{names})=(?:{value})? \((--[^()]*(?:\([^()]*\))?[^()]*)\)")
    given = re.compile(rf"(?<![\w.-])({names})=({value})?")
    typed = start.sub(lambda found: flags[found[1]], twice.sub(r"\1", message))
    return given.sub(lambda found: f"{flags[found[1]]} {_typed(found[2] or '')}".rstrip(), typed)


def _typed(value: str) -> str:
    """Return a Python value as it is typed on the command line."""
    bare = re.sub("['\"]", "", value)
    if bare.startswith("{"):
        return f"'{bare}'"
    return bare.strip("[]").replace(", ", " ") if bare.startswith("[") else bare
