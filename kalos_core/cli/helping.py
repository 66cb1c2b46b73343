"""How the command line explains itself: help in groups, and messages that name what people type."""

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
"""Letters of a line of help, where the terminal has as many."""

LONG = 40
"""Letters of choices that no longer stand beside their option."""

COUNTED = {int: "N", float: "X", str: "TEXT", bool: "YES"}
"""What stands for a value, by its type."""

EXIT_CODES = """exit codes:
  0  done
  1  a check failed (--fail-..., or its number is undefined); everything was written all the same
  2  input or an option cannot be used, as the message says; nothing was written
  130  interrupted (Ctrl-C)"""


class Formatter(argparse.RawDescriptionHelpFormatter):
    """Help whose texts keep their lines, each wrapped by itself, with choices indented below the option."""

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
    """The help of an option: what it is, each choice with its meaning, and the default.

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
    """What stands for the value of an option.

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
    """Make an option known to a parser, or a group of one."""
    text = argparse.SUPPRESS if hidden else help_of(option).replace("%", "%%")
    if option.is_switch:
        parser.add_argument(option.flag, action=argparse.BooleanOptionalAction, default=argparse.SUPPRESS, help=text)
        return
    count: Any = "+" if any(get_origin(part) is list for part in parts_of(option.kind)) else 1
    name = metavar_of(option)
    action = parser.add_argument(option.flag, nargs=count, default=argparse.SUPPRESS, metavar=name, help=text)
    if completing:
        action.help = option.help.split(". ")[0].replace("%", "%%")  # one line beside the option
        if option.choices:
            action.choices = list(option.choices)
        elif option.path or "file" in option.help.lower():
            action.complete = completed(folder="folder" in option.path)


def completed(*, folder: bool = False) -> Any:
    """What `shtab` completes as files, or as folders only."""
    import shtab

    return shtab.DIRECTORY if folder else shtab.FILE


def add_options(parser: Any, options: Sequence[Flag], formats: Set[str], *, completing: bool = False) -> None:
    """Make options known in their groups; those that not all formats of the input have are named in one line each."""
    for title in GROUPS:
        own = [option for option in options if option.group == title]
        if not own:
            continue
        some = [option for option in own if option.formats and not formats <= set(option.formats)]
        group = parser.add_argument_group(title, _of_formats(some) if title == INPUT else None)
        for option in own:
            add_option(group, option, hidden=option in some and not completing, completing=completing)


def _of_formats(options: Sequence[Flag]) -> str | None:
    """Names of the options that some formats have."""
    formats = sorted({name for option in options for name in option.formats})
    if not formats:
        return None
    lines = [f"  {name}: {' '.join(option.flag for option in options if name in option.formats)}" for name in formats]
    return "\n".join(["Options of one format or several, explained by --help-format FORMAT:", *lines])


class FormatHelp(argparse.Action):
    """``--help-format FORMAT``: what the options of a format mean."""

    def __init__(self, options: Sequence[Flag], **more: Any) -> None:
        super().__init__(**more)
        self.options = options

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option_string: Any = None
    ) -> None:
        """Print it, and end."""
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
    """A message of the library, which names arguments, as people type them on the command line.

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
    """A value as Python writes it, as people type it."""
    bare = re.sub("['\"]", "", value)
    if bare.startswith("{"):
        return f"'{bare}'"
    return bare.strip("[]").replace(", ", " ") if bare.startswith("[") else bare
