"""Options are the arguments of functions, with their types, defaults and descriptions."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from kalos_core import InputError, agreement, label_convergence, read_coco
from kalos_core.cli import COMMANDS, main
from kalos_core.cli.commands import SHELLS
from kalos_core.cli.options import GROUPS, options_of, reader_options
from kalos_core.nominal import label_findings
from kalos_core.options import Option, Settings, takes
from kalos_core.readers import read_yolo


@dataclass(frozen=True)
class Several(Settings):
    """Options of all types that text can express, and one that it cannot."""

    count: Annotated[int, Option("Count", "Of all.")] = 1
    share: Annotated[float | Sequence[float], Option("Share", "Of both.")] = 0.5
    names: Annotated[Sequence[str] | None, Option("Names", "Those listed, in order.")] = None
    words: Annotated[Literal["raise", "skip"], Option("Words", "Of two.")] = "raise"
    late: Annotated[str | Mapping[str, int] | None, Option("Late", "Of these.")] = None
    is_local: Annotated[bool, Option("Local", "To an image.")] = False
    unknown: Annotated[Callable[[], int] | None, Option("Unknown", "No text.")] = None
    given: Any = None


@dataclass(frozen=True)
class Others(Settings):
    """Options with the same names."""

    count: Annotated[str, Option("Count", "In words.")] = "a"
    words: Annotated[Literal["skip", "keep"], Option("Words", "Of two.")] = "keep"
    share: Annotated[bool, Option("Share", "Or not.")] = True


@takes(Several)
def function(path: str, settings: Several) -> None:
    """Do nothing."""


@takes(Others)
def other(settings: Others) -> None:
    """Do nothing."""


OPTIONS = {option.name: option for option in options_of(function)}


def test_arguments_that_text_can_give_are_options():
    assert list(OPTIONS) == ["count", "share", "names", "words", "late", "is_local"]
    assert [option.expected for option in OPTIONS.values()] == [
        "a whole number",
        "a number or a list, each a number",
        "a list, each text or null",
        "'raise' or 'skip'",
        "text or a mapping or null",
        "true or false",
    ]
    assert [option.help for option in OPTIONS.values()][:3] == ["Of all.", "Of both.", "Those listed, in order."]


READ = [
    ("count", ["3"], 3),
    ("share", ["1"], 1.0),
    ("share", ["1", ".5"], [1.0, 0.5]),
    ("names", ["1"], ["1"]),
    ("names", ["null"], None),
    ("words", ["skip"], "skip"),
    ("late", ["{a: 1}"], {"a": 1}),
    ("late", ["a"], "a"),
]
REFUSED = [("count", ["1.5"]), ("share", ["a"]), ("words", ["keep"]), ("late", ["{a"]), ("count", ["null"])]
MAPPINGS = [
    ("teams", {"experts": "ann"}, "here: experts: expected a list, each text, got 'ann'"),
    ("teams", {"experts": [1]}, "here: experts: expected a list, each text, got [1]"),
    ("aliases", {"ann": {"auto": 3}}, "here: ann: auto: expected text, got 3"),
    ("late", {"a": "b"}, "here: a: expected a whole number, got 'b'"),
]


def test_words_of_the_command_line_and_values_of_mappings():
    for name, texts, value in READ:
        found = OPTIONS[name].read(texts, name)
        assert (found, type(found)) == (value, type(value))
    for name, texts in REFUSED:
        with pytest.raises(InputError, match=r"^here: expected "):
            OPTIONS[name].read(texts, "here")
    options = {option.name: option for option in options_of(function, label_findings, read_coco)}
    for name, value, message in MAPPINGS:
        with pytest.raises(InputError) as error:
            options[name].checked(value, "here")
        assert str(error.value) == message


def test_defaults_are_those_of_the_functions():
    for of, solver in ((agreement, "greedy"), (label_convergence, "shm")):
        assert {option.name: option.default for option in options_of(of)}["solver"] == solver


ALIKE = {
    "assigned", "boundaries", "class_names", "fail_under", "images", "metric", "model", "order", "raters", "reference",
    "repeats", "task", "threshold", "thresholds", "truth",
}  # fmt: skip
"""Options with the same meaning, described for a command or for a format."""

NO_SENTENCE = ("of", "that", "as", "what", "at", "most", "whether these", "see")
"""Beginnings of a text that make no sense without the label of a form."""


def test_the_help_of_every_option_says_something_by_itself():
    found = [
        (command.name, each.flag, each.help)
        for command in COMMANDS
        for option in command.all_options
        for each in (option, *option.formats.values())
    ]
    wrong = [
        (name, flag, text)
        for name, flag, text in found
        if not text.endswith(".") or not text[0].isupper() or len(text.split()) < 3
        or text.lower().startswith(tuple(f"{start} " for start in NO_SENTENCE)) or "see `" in text
    ]  # fmt: skip
    assert wrong == []


def test_the_help_of_a_command_has_groups_choices_defaults_an_example_and_exit_codes(capsys):
    for command in COMMANDS:
        text = help_text(capsys, command.name, "--help")
        titles = [line[:-1] for line in text.splitlines() if line[:1].isalpha() and line.endswith(":")]
        own = {option.group for option in command.all_options}
        assert [title for title in titles if title in GROUPS] == [title for title in GROUPS if title in own]
        assert f"example:\n  {command.example_line}\n\nexit codes:\n  0  done\n" in text
        flat = " ".join(text.split())
        for option in command.all_options:
            if not option.formats or set(command.formats) <= set(option.formats):
                assert option.help in flat
                assert all(value in flat for value in option.choices)
    solver = help_text(capsys, "agreement", "--help").partition("--solver")[2].partition("--cost")[0]
    assert "{greedy,shm,shm_by_name,ahc,mgm}" in solver
    assert "- greedy: most similar pairs first, as in the paper - shm: " in " ".join(solver.split())
    assert solver.rstrip().endswith("(default: greedy)")


def test_options_of_a_format_are_explained_where_it_is_named(capsys):
    assert "How sure a model" not in help_text(capsys, "agreement", "--help")
    text = help_text(capsys, "agreement", "--help-format", "yolo")
    flags = [option.flag for option in reader_options({"yolo": read_yolo})]
    assert [flag for flag in flags if flag not in text] == []
    assert "--crowds" not in text
    assert "the raters with a file for it" in " ".join(text.split())  # as YOLO's reader has it, not COCO's


def help_text(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(list(arguments))
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_completions_know_commands_options_choices_and_files(shell, capsys):
    pytest.importorskip("shtab", reason="writes completions")
    assert main(["--completion", shell]) == 0
    script = capsys.readouterr().out
    for word in ("agreement", "--solver", "shm_by_name", "--class-names"):
        assert word in script or (shell == "fish" and word.removeprefix("--") in script)
    if shell == "bash":
        subprocess.run(["bash", "-n"], input=script, text=True, check=True)


def test_completions_name_the_missing_package(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "shtab", None)
    assert main(["--completion", "bash"]) == 2
    assert "--completion: needs the optional package shtab" in capsys.readouterr().err


SHARED = {"format", "seed", "channels", "missing", "rater_from", "task", "workflow"}
"""Options of several readers or functions of one command, with one meaning."""


def test_no_name_means_two_things():
    """A command has each option once; two commands describe it equally, except for `ALIKE`."""
    said = defaultdict(set)
    for command in COMMANDS:
        for option in command.all_options:
            said[option.name] |= {each.help for each in (option, *option.formats.values())}
    assert {name for name, texts in said.items() if len(texts) > 1} == ALIKE
    for command in COMMANDS:
        names = [option.name for option in command.all_options]
        assert len(set(names)) == len(names), command.name
        assert not {"config", "run_command", *(name for name, _ in command.inputs)} & set(names)
        counts = Counter(option.name for option in command.options)
        assert {name for name, count in counts.items() if count > 1} <= SHARED, command.name


def test_an_argument_of_two_functions_takes_the_values_of_both():
    options = options_of(function, other, without=["share"], only=["count", "share", "words"])
    expected = ["a whole number or text", "'raise' or 'skip' or 'keep'"]
    assert [option.expected for option in options] == expected
    assert [option.default for option in options] == [1, "raise"]
