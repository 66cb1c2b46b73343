"""Options are the arguments of functions, with their types, defaults and descriptions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest

from kalos_core import InputError, agreement, label_convergence, read_coco
from kalos_core.cli import COMMANDS
from kalos_core.cli.options import options_of
from kalos_core.nominal import label_findings
from kalos_core.options import Option, Settings, takes


@dataclass(frozen=True)
class Several(Settings):
    """Options of all types that text can give, and one that it cannot."""

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
    """Options of the same names."""

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


SHARED = {"format", "seed", "channels", "missing", "rater_from", "task", "workflow"}
"""Options of several readers or functions of one command, with one meaning."""


def test_no_name_means_two_things():
    """A command has each option once."""
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
