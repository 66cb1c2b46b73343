"""Commands of the command line, and the code that runs them and writes their answers."""

from __future__ import annotations

import argparse
import difflib
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, TextIO

from kalos_core import InputError, KalosWarning, __version__
from kalos_core.cli.answers import Answer, Rows, progress_bar
from kalos_core.cli.helping import EXIT_CODES, FormatHelp, Formatter, add_options, as_typed, completed
from kalos_core.cli.options import CHECKS, INPUT, OUTPUT, STREAM, Flag, Given, joined, read_config
from kalos_core.cli.output import Output
from kalos_core.cli.streams import drop_output, prepare_output, received, show
from kalos_core.extras import optional
from kalos_core.results import strict
from kalos_core.text import visible

FAILED, UNUSABLE, INTERRUPTED, CLOSED = 1, 2, 130, 141
"""Exit codes: a check failed; the input or an option is invalid; Ctrl-C; standard error was closed."""

SHELLS = ("bash", "zsh", "fish")
"""Shells with completion."""

CONFIG = Flag("config", str, "YAML file with options, named as here, with underscores (on_invalid).", path="file")


class Parser(argparse.ArgumentParser):
    """A parser whose errors are two lines: the problem, and a pointer to the help."""

    def error(self, message: str) -> Any:
        """Exit with an error message."""
        self.exit(UNUSABLE, f"{self.prog}: {message}\n{self.prog} --help lists commands and options\n")


SCHEMA_VERSION = 1
"""Version of the JSON of all commands (`results.schema.json`), increased when a field is removed or changes its
meaning."""


@dataclass(frozen=True)
class Command:
    """A command of the command line.

    Parameters
    ----------
    name : str
    help : str
        Description in one line.
    run : callable
        Function from the given options to an answer.
    inputs : tuple of (str, str)
        Name and description of each path.
    options : tuple of Flag
        Options of the functions it calls; options of the same name are merged and take the values of both.
    score : str
        Name of the value that ``--fail-under`` checks; without it, the option does not exist.
    out : Path, optional
        Default of ``--out``.
    example : str
        Arguments in the example of the help; by default its inputs.
    tables : tuple of str
        Names of the tables, for ``--csv``.
    """

    name: str
    help: str
    run: Callable[[Given], Answer]
    inputs: tuple[tuple[str, str], ...]
    options: tuple[Flag, ...] = ()
    score: str = ""
    out: Path | None = None
    example: str = ""
    tables: tuple[str, ...] = ()

    @property
    def all_options(self) -> tuple[Flag, ...]:
        """Options of this command and of every command, without duplicates."""
        return joined((*self.options, *self._output, *self._checks))

    @property
    def formats(self) -> list[str]:
        """Names of the formats of its input."""
        return [name for option in self.options if option.name == "format" for name in option.choices if name != "auto"]

    @property
    def _output(self) -> tuple[Flag, ...]:
        stream = f"; {STREAM} for standard output, in place of the text."
        found = [
            Flag("json", str, f"File for all results, as JSON{stream}", path="new"),
            Flag("summary", str, f"File for the text output, as Markdown for a pull request{stream}", path="new"),
            Flag("out", str, "Folder for the JSON document and one CSV file per table.", self.out, path="new folder"),
        ]
        if self.tables:
            choices = dict.fromkeys(self.tables, "")
            text = "Write this table as CSV, with all rows, to standard output, in place of the text."
            found.append(Flag("csv", Literal[self.tables], text, choices=choices))
            found += [
                Flag("sort", str, "Column by which to sort the tables that are shown, smallest first."),
                Flag("reverse", bool, "With --sort, largest first."),
                Flag("top", int, "Number of rows of each table to show; 0 for all.", Rows().top),
            ]
        found.append(Flag("progress", bool, "Show a progress bar on standard error; by default if it is a terminal."))
        return tuple(replace(option, group=OUTPUT) for option in found)

    @property
    def _checks(self) -> tuple[Flag, ...]:
        below = f"Exit with code {FAILED} if {self.score} is below this, or undefined."
        return (Flag("fail_under", float, below, group=CHECKS),) if self.score else ()

    @property
    def example_line(self) -> str:
        """Example of the help, as typed."""
        usual = " ".join(f"{name}.json" if name != "folder" else "shards/" for name, _ in self.inputs)
        return f"kalos-core {self.name} {self.example or usual}"

    def add_to(self, commands: argparse._SubParsersAction[Parser], *, completing: bool = False) -> None:
        """Add the command to a parser; a parser for shell completion lists all choices."""
        usage = " ".join(["kalos-core", self.name, *(name.upper() for name, _ in self.inputs), "[options]"])
        parser = commands.add_parser(
            self.name,
            help=self.help,
            usage=usage,
            description=f"{self.help[0].upper()}{self.help[1:]}.",
            epilog=f"example:\n  {self.example_line}\n\n{EXIT_CODES}",
            formatter_class=Formatter,
            allow_abbrev=False,
        )
        for name, text in self.inputs:
            action: Any = parser.add_argument(name, metavar=name.upper(), help=text)
            if completing:
                action.complete = completed()
        options = self.all_options
        formats = list(dict.fromkeys(self.formats))
        add_options(parser, [replace(CONFIG, group=INPUT), *options], set(formats), completing=completing)
        if formats:
            text = f"Explain the options for one input format and exit: {', '.join(formats)}."
            parser.add_argument(
                "--help-format", action=FormatHelp, options=options, choices=formats, metavar="FORMAT", help=text
            )
        parser.set_defaults(run_command=self)

    def given_in(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """Return the values of all options; the command line overrides the configuration file.

        Raises
        ------
        InputError
            For an invalid configuration file, or a value of the wrong type or out of range.
        """
        there, options = vars(arguments), self.all_options
        config = read_config(Path(CONFIG.read(there["config"], CONFIG.flag)), options) if "config" in there else {}
        return config | {
            option.name: there[option.name] if option.is_switch else option.read(there[option.name], option.flag)
            for option in options
            if option.name in there
        }


def run_command(command: Command, arguments: argparse.Namespace) -> int:
    """Run a command, then show and write its answer.

    Returns
    -------
    int
        0, or `FAILED`.

    Raises
    ------
    InputError
    """
    values = command.given_in(arguments)
    least, wanted = values.pop("fail_under", None), values.pop("progress", None)
    options = command.all_options
    streamed = [option.name for option in options if option.path == "new" and values.get(option.name) == STREAM]
    streamed += ["csv"] if "csv" in values else []
    names = [option.name for option in options if option.group == OUTPUT and option not in command.options]
    output = Output({name: values.pop(name) for name in names if name in values}, command.out, streamed)
    output.check()
    inputs = {name: getattr(arguments, name) for name, _ in command.inputs}
    bar = sys.stderr.isatty() if wanted is None else wanted
    with received(inputs) as (paths, named):
        with (
            _messages(lambda text: as_typed(named(text), options)) as messages,
            progress_bar(bar) as progress,
        ):
            given = Given(values, paths, progress, options=options)
            answer = command.run(given)
        failed = [*answer.failed, *_below(command, answer, least)]
        record = {
            "schema_version": SCHEMA_VERSION,
            "command": command.name,
            "version": __version__,
            "inputs": strict(inputs),
            "options": strict(values),
            "warnings": messages,
            "read": given.read,
            "failed": failed,
        }
        if "json" not in output.streamed:
            _show_assumed(given, messages)
        output.write(record, answer, failed, named)
    for reason in failed:
        print(reason, file=sys.stderr)
    return FAILED if failed else 0


def _show_assumed(given: Given, warned: Sequence[str]) -> None:
    """Print assumptions of readers that were not in a warning to standard error, one line each."""
    for path, account in given.read.items():
        for note in account["notes"]:
            if any(note in text for text in warned):
                continue
            print(visible(f"{Path(path).name}: {note}"), file=sys.stderr)


def _below(command: Command, answer: Answer, least: float | None) -> Iterator[str]:
    """Yield the reason why the score fails the check, if it does."""
    score = answer.score
    is_undefined = score is None or math.isnan(score)
    if least is None and score is not None and is_undefined:
        yield f"{command.score}: undefined"
    elif least is not None and (is_undefined or (score is not None and score < least)):
        yield f"{command.score}: expected at least {least:g}, got {'undefined' if is_undefined else f'{score:.4f}'}"


@contextmanager
def _messages(said: Callable[[str], str]) -> Iterator[list[str]]:
    """Print warnings of the library, converted by `said`, to standard error, and yield the list of them."""
    found: list[str] = []
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if not issubclass(category, KalosWarning):
                usual(message, category, filename, lineno, file, line)
            elif (text := said(str(message))) not in found:
                found.append(text)
                print(f"warning: {text}", file=sys.stderr)

        warnings.simplefilter("always", KalosWarning)
        warnings.showwarning = show
        yield found


def parser_of(commands: Sequence[Command], *, completing: bool = False) -> argparse.ArgumentParser:
    """Return the parser of all commands; for shell completion, it has all choices and hides nothing."""
    parser = Parser(
        "kalos-core",
        description="How far raters agree, and where they disagree.",
        epilog=f"kalos-core COMMAND --help explains a command.\n\n{EXIT_CODES}",
        formatter_class=Formatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=__version__)
    shells = f"Print the completion script of a shell and exit: {', '.join(SHELLS)}. Requires the package shtab."
    parser.add_argument("--completion", choices=SHELLS, metavar="SHELL", help=shells)
    names = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in commands:
        command.add_to(names, completing=completing)
    return parser


def completion_of(commands: Sequence[Command], shell: str) -> str:
    """Return the script that completes commands, options, choices and files in a shell.

    Raises
    ------
    InputError
        If shtab is not installed.
    """
    shtab = optional("shtab", "completion", "--completion")
    script: str = shtab.complete(parser_of(commands, completing=True), shell)
    return script


def run(commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name.

    Parameters
    ----------
    commands : sequence of Command
    arguments : sequence of str, optional
        By default those of the process.

    Returns
    -------
    int
        Exit code: 0, `FAILED`, `UNUSABLE` with a message on standard error, `INTERRUPTED`, or `CLOSED`.
    """
    prepare_output()
    known: Sequence[Flag] = ()
    try:
        parser = parser_of(commands)
        options, strange = parser.parse_known_args(arguments)
        if options.completion is not None:
            show(completion_of(commands, options.completion))
            return 0
        if "run_command" not in options:
            parser.error("expected a command, got none")
        known = options.run_command.all_options
        if strange:
            raise InputError(_unrecognized(strange, options.run_command))
        return run_command(options.run_command, options)
    except InputError as error:
        print(visible(as_typed(str(error), known)), file=sys.stderr)
        return UNUSABLE
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:
        drop_output()
        return CLOSED
    finally:
        _flush()


def _unrecognized(strange: Sequence[str], command: Command) -> str:
    """Return a message about unknown arguments, with the option closest to the first one."""
    near = difflib.get_close_matches(strange[0], [option.flag for option in command.all_options], 1)
    hint = f"did you mean {near[0]}? " if near else ""
    return f"unrecognized arguments: {' '.join(strange)}; {hint}kalos-core {command.name} --help lists all options"


def _flush() -> None:
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        drop_output()
