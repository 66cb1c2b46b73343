"""Vocabulary of raters: aliases, regular expressions, and names without aliases."""

import pytest

from kalos_core import InputError
from kalos_core.readers.vocabulary import Vocabulary, reconcile_all

MEANT = [
    ({}, "ann", "auto", "auto"),
    ({"auto": "car"}, "ann", "auto", "car"),
    ({"ann": {"auto": "car"}}, "ann", "auto", "car"),
    ({"ann": {"auto": "car"}}, "bob", "auto", "auto"),
    ({"ann": {"auto": "van"}, "auto": "car"}, "ann", "auto", "van"),  # the rater's own alias first
    ({"/au.*/": "van", "auto": "car"}, "ann", "auto", "car"),  # exact names before expressions
    ({"ann": {"/au.*/": "van"}, "auto": "car"}, "ann", "auto", "van"),
    ({"/car_\\d+/": "car"}, "ann", "car_17", "car"),
    ({"/car_\\d+/": "car"}, "ann", "my car_17", "my car_17"),  # the whole name must match
    ({"/a/": "1", "/[ab]/": "2"}, "ann", "a", "1"),  # the first match
    ({"//": "slash"}, "ann", "//", "slash"),  # too short for an expression
    ({"*": {"auto": "car"}}, "ann", "auto", "car"),
]
"""Aliases, rater, name in the file, and resolved name."""

NO_ALIASES = {
    "a mapping of written names to class names, got 'car'": "car",
    "a written name and a class name, got 'auto': 3": {"auto": 3},
    "a rater's name, got 3": {3: {"auto": "car"}},
    "a regular expression, got /car_(/: ": {"/car_(/": "car"},
}


def test_written_names_and_their_classes():
    wrong = [case for case in MEANT if Vocabulary.from_aliases(case[0]).reconcile(*case[1:3]) != case[3]]
    assert wrong == []


def test_unmapped_names_are_counted_by_rater():
    vocabulary = Vocabulary.from_aliases({"auto": "car"})
    for rater, name in [("ann", "bus"), ("bob", "bus"), ("bob", "bus"), ("ann", "car"), ("ann", "auto")]:
        vocabulary.reconcile(rater, name)
    assert vocabulary.unmapped == {("ann", "bus"): 1, ("bob", "bus"): 2}
    assert vocabulary.describe_unmapped() == (
        "2 written names have no alias and are kept as separate classes: 'bus' (1 by ann), 'bus' (2 by bob)"
    )


def test_aliases_that_cannot_be_used_are_shown():
    for words, aliases in NO_ALIASES.items():
        with pytest.raises(InputError) as caught:
            Vocabulary.from_aliases(aliases)
        assert f"aliases: expected {words}" in str(caught.value)
    with pytest.raises(InputError, match=r"aliases: expected raters of labels\.json, got zoe"):
        reconcile_all(Vocabulary.from_aliases({"zoe": {"a": "b"}}), ["ann"], ["a"], ["ann"], "labels.json")


def test_values_that_are_no_name_stay_unchanged():
    vocabulary = Vocabulary.from_aliases({"auto": "car"})
    written = ["auto", None, ["auto"]]
    assert reconcile_all(vocabulary, ["ann", "ann", "ann"], written, ["ann"], "rows") == ["car", None, ["auto"]]
