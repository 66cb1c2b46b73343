"""Names in type annotations vs. the tables in which they are looked up at run time."""

import re
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest

import kalos_core.fiftyone  # noqa: F401 - defines the settings of all analyses
from kalos_core import SIMILARITIES
from kalos_core.chance import KAPPA_WEIGHTS, METRICS
from kalos_core.chance.distances import KappaWeightName, MetricName
from kalos_core.cli.options import parts_of
from kalos_core.consensus.methods import TRUTH_METHODS, MethodName
from kalos_core.decisions import UNDECIDED
from kalos_core.decisions.decision import Undecided
from kalos_core.options import Settings
from kalos_core.similarity.fitting import AUTO, NOT_OFFERED
from kalos_core.similarity.table import SimilarityName

PAGE = Path(__file__).resolve().parent.parent / "docs" / "python.md"

TABLES = [
    (SimilarityName, [AUTO, *SIMILARITIES]),
    (MetricName, METRICS),
    (KappaWeightName, KAPPA_WEIGHTS),
    (MethodName, TRUTH_METHODS),
    (Undecided, UNDECIDED),
]


def _settings(base=Settings):
    for kind in base.__subclasses__():
        yield kind
        yield from _settings(kind)


def _words(hint):
    return [word for part in parts_of(hint) if get_origin(part) is Literal for word in get_args(part)]


@pytest.mark.parametrize(("names", "table"), TABLES)
def test_a_literal_has_the_names_of_its_table(names, table):
    assert sorted(get_args(names)) == sorted(table)


def test_the_type_of_an_option_has_the_names_of_its_choices():
    options = {
        (kind.__name__, entry.name): entry
        for kind in _settings()
        if kind.__module__.startswith("kalos_core.")
        for entry in kind.declared()
        if entry.option.values
    }
    assert len(options) > 40
    wrong = [
        (*place, entry.option.values)
        for place, entry in options.items()
        if sorted(_words(entry.kind)) != sorted(entry.option.values)
        or (entry.option.choices and entry.option.known and set(entry.option.choices) != set(entry.option.known))
    ]
    assert wrong == []


def test_the_page_about_python_lists_every_similarity():
    page = PAGE.read_text(encoding="utf-8")
    (row,) = re.findall(r"^\| similarities \| (.*?), and your own function", page, re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", row)) == sorted(set(SIMILARITIES) - {*NOT_OFFERED})
