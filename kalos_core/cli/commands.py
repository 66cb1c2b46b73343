"""A command of the command line, and running one: arguments in, answer out, as text, JSON and tables."""

from __future__ import annotations

import argparse
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any, TextIO

from kalos_core import InputError, KalosWarning, __version__
from kalos_core.cli.answers import (
    Answer,
    as_json,
    check_file,
    check_folder,
    progress_bar,
    write_folder,
)
from kalos_core.cli.options import Flag, Given, joined, read_config
from kalos_core.files import write_whole
from kalos_core.results import strict
from kalos_core.text import visible

BELOW, UNUSABLE = 1, 2
"""Exit codes: the score is below ``--fail-under``; the input, or an option, cannot be used."""


SCHEMA_VERSION = 1
"""Of the JSON of every command (`results.schema.json`); it grows when a field goes or changes its meaning."""

SUMMARY = Flag("summary", str, help="file for a summary in Markdown, such as for a pull request; - for standard output")


@dataclass(frozen=True)
class Command:
    """One command.

    Parameters
    ----------
    name : str
    help : str
        What it answers, as one line.
    run : callable
        From what was given to what was found.
    inputs : tuple of (str, str)
        Names of its paths and what they are.
    options : tuple of Flag
        Of the functions it calls; two of one name are one that takes the values of both.
    score : str
        What ``--fail-under`` looks at; without it there is no such option.
    out : Path, optional
        Where ``--out`` is unless given.
    summarised : bool
        Whether its answer has a summary in Markdown.
    """

    name: str
    help: str
    run: Callable[[Given], Answer]
    inputs: tuple[tuple[str, str], ...]
    options: tuple[Flag, ...] = ()
    score: str = ""
    out: Path | None = None
    summarised: bool = False

    @property
    def all_options(self) -> tuple[Flag, ...]:
        """Its own and those of every command, each once."""
        below = f"exit with code {BELOW} if {self.score} is below this, or undefined"
        common = (
            Flag("json", str, help="file for everything that was found, as JSON; - for standard output"),
            Flag("out", str, help="folder for the same, and one CSV file a table", default=self.out),
            Flag("progress", bool, help="a bar on standard error; by default if that is a terminal"),
            *([SUMMARY] if self.summarised else []),
            *([Flag("fail_under", float, help=below)] if self.score else []),
        )
        return joined((*self.options, *common))

    def add_to(self, commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
        """Make it known to a parser."""
        parser = commands.add_parser(self.name, help=self.help, description=self.help, allow_abbrev=False)
        for name, text in self.inputs:
            parser.add_argument(name, metavar=name.upper(), help=text)
        group = parser.add_argument_group("options")
        group.add_argument("--config", help="YAML file with options, named as in Python (on_invalid)")
        for option in self.all_options:
            option.add_to(group)
        parser.set_defaults(run_command=self)

    def given_in(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """The values of all options; those of the command line before those of the configuration file.

        Raises
        ------
        InputError
            For a configuration file that cannot be used, or a value of another type.
        """
        config = read_config(Path(arguments.config), self.all_options) if arguments.config else {}
        there = vars(arguments)
        return config | {
            option.name: there[option.name] if option.is_switch else option.read(there[option.name], option.flag)
            for option in self.all_options
            if option.name in there
        }


def run_command(command: Command, arguments: argparse.Namespace) -> int:
    """Run a command, show and write what it found.

    Returns
    -------
    int
        0, or `BELOW`.

    Raises
    ------
    InputError
    """
    values = command.given_in(arguments)
    json, out = values.pop("json", None), values.pop("out", command.out)
    least, wanted = values.pop("fail_under", None), values.pop("progress", None)
    summary = values.pop("summary", None)
    if json == summary == "-":
        raise InputError("--json and --summary: expected one of them on standard output, got both")
    folder = None if out is None else Path(out)
    if folder is not None:
        check_folder(folder)
    for file in (json, summary):
        if file not in (None, "-"):
            check_file(Path(file))
    paths = {name: Path(getattr(arguments, name)) for name, _ in command.inputs}
    bar = sys.stderr.isatty() if wanted is None else wanted
    with _messages() as messages, progress_bar(bar) as progress:
        given = Given(values, paths, progress)
        answer = command.run(given)
    record = {
        "schema_version": SCHEMA_VERSION,
        "command": command.name,
        "version": __version__,
        "inputs": strict(paths),
        "options": strict(values),
        "warnings": messages,
        "read": given.read,
    }
    if folder is not None or json is not None:
        record |= answer.as_record()
    if folder is not None:
        write_folder(folder, as_json(record), answer)
    if json not in (None, "-"):
        write_whole(Path(json), as_json(record))
    if summary not in (None, "-"):
        write_whole(Path(summary), answer.summary)
    if json != "-":
        _show_assumed(given, messages)
    if json == "-":
        _show(as_json(record, ascii=True).rstrip())
    else:
        _show(answer.summary.rstrip() if summary == "-" else answer.as_text())
    return _judge(command, answer, least)


def _show(text: str) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:  # whoever reads has read enough, such as `head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _show_assumed(given: Given, warned: Sequence[str]) -> None:
    """What readers guessed or assumed and nobody was warned of, a line each, on standard error."""
    for path, account in given.read.items():
        for note in account["notes"]:
            if any(note in text for text in warned):
                continue
            print(visible(f"{Path(path).name}: {note}"), file=sys.stderr)


def _judge(command: Command, answer: Answer, least: float | None) -> int:
    is_undefined = answer.score is not None and math.isnan(answer.score)
    if not is_undefined and (least is None or (answer.score is not None and answer.score >= least)):
        return 0
    if least is None:
        print(f"{command.score}: undefined", file=sys.stderr)
        return BELOW
    score = "undefined" if answer.score is None or math.isnan(answer.score) else f"{answer.score:.4f}"
    print(f"{command.score}: expected at least {least:g}, got {score}", file=sys.stderr)
    return BELOW


@contextmanager
def _messages() -> Iterator[list[str]]:
    """What the library warns of goes to standard error, one line each, and into a list."""
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
            elif str(message) not in found:
                found.append(str(message))
                print(f"warning: {message}", file=sys.stderr)

        warnings.simplefilter("always", KalosWarning)
        warnings.showwarning = show
        yield found


def run(commands: Sequence[Command], arguments: Sequence[str] | None = None) -> int:
    """Run the command that the arguments name.

    Parameters
    ----------
    commands : sequence of Command
    arguments : sequence of str, optional
        Those of the process unless given.

    Returns
    -------
    int
        The exit code: 0, `BELOW`, or `UNUSABLE` with a message on standard error.
    """
    about = "How far raters agree, and where not."
    parser = argparse.ArgumentParser("kalos-core", description=about, allow_abbrev=False)
    parser.add_argument("--version", action="version", version=__version__)
    names = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command in commands:
        command.add_to(names)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal may know no Greek
    options = parser.parse_args(arguments)
    try:
        return run_command(options.run_command, options)
    except InputError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
