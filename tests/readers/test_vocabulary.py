"""The raters' words: aliases, expressions, and the names nobody speaks of."""

import re
import warnings

import pytest

from kalos_core import InputError, KalosWarning, read_coco
from kalos_core.readers.vocabulary import Vocabulary, reconcile_all

CARS = {"r3": {"/a?car_\\d+/": "car"}}


@pytest.mark.parametrize(
    ("aliases", "rater", "written", "meant"),
    [
        ({}, "ann", "auto", "auto"),
        ({"auto": "car"}, "ann", "auto", "car"),
        ({"auto": "car"}, "ann", "autos", "autos"),
        ({"ann": {"auto": "car"}}, "ann", "auto", "car"),
        ({"ann": {"auto": "car"}}, "bob", "auto", "auto"),
        ({"ann": {"auto": "van"}, "auto": "car"}, "ann", "auto", "van"),  # a rater's own first
        ({"/au.*/": "van", "auto": "car"}, "ann", "auto", "car"),  # exact before expression
        ({"ann": {"/au.*/": "van"}, "auto": "car"}, "ann", "auto", "van"),
        ({"/car_\\d+/": "car"}, "ann", "car_17", "car"),
        ({"/car_\\d+/": "car"}, "ann", "my car_17", "my car_17"),  # the whole name has to match
        ({"/a/": "1", "/[ab]/": "2"}, "ann", "a", "1"),  # the first that matches
        ({"//": "slash"}, "ann", "//", "slash"),  # too short for an expression
        ({"*": {"auto": "car"}}, "ann", "auto", "car"),
    ],
)
def test_what_was_written_and_what_is_meant(aliases, rater, written, meant):
    assert Vocabulary.from_aliases(aliases).reconcile(rater, written) == meant


def test_names_nobody_speaks_of_are_counted_by_rater_and_a_class_name_is_not_one():
    vocabulary = Vocabulary.from_aliases({"auto": "car"})
    for rater, name in [("ann", "bus"), ("bob", "bus"), ("bob", "bus"), ("ann", "car"), ("ann", "auto")]:
        vocabulary.reconcile(rater, name)
    assert vocabulary.unmapped == {("ann", "bus"): 1, ("bob", "bus"): 2}
    assert vocabulary.describe_unmapped() == (
        "2 written names have no alias and stay classes of their own: 'bus' (1 by ann), 'bus' (2 by bob)"
    )


@pytest.mark.parametrize(
    ("aliases", "message"),
    [
        ("car", "aliases: expected a mapping of written names to class names, got 'car'"),
        ({"auto": 3}, "aliases: expected a written name and a class name, got 'auto': 3"),
        ({"auto": ""}, "aliases: expected a written name and a class name, got 'auto': ''"),
        ({"ann": {3: "car"}}, "aliases: expected a written name and a class name, got 3: 'car'"),
        ({3: {"auto": "car"}}, "aliases: expected a rater's name, got 3"),
        ({"/car_(/": "car"}, r"aliases: expected a regular expression, got /car_\(/: "),
    ],
)
def test_aliases_that_cannot_be_used_are_shown(aliases, message):
    with pytest.raises(InputError, match=message):
        Vocabulary.from_aliases(aliases)


def test_aliases_of_a_rater_who_is_not_there():
    with pytest.raises(InputError, match=re.escape("aliases: expected raters of labels.json, got zoe")):
        reconcile_all(Vocabulary.from_aliases({"zoe": {"a": "b"}}), ["ann"], ["a"], ["ann"], "labels.json")


def test_what_is_no_name_stays_as_it_is():
    vocabulary = Vocabulary.from_aliases({"auto": "car"})
    written = ["auto", None, ["auto"]]
    assert reconcile_all(vocabulary, ["ann", "ann", "ann"], written, ["ann"], "rows") == ["car", None, ["auto"]]


# ---- real free-text names


def test_cars_by_their_aliases(cars_path):
    with pytest.warns(KalosWarning, match=r"labels\.json: 1 written name has no alias .*'truck'") as caught:
        annotations = read_coco(cars_path, category_field="label_raw", aliases=CARS)
    assert sorted(annotations.categories) == ["car", "truck"]
    assert [warning.filename for warning in caught] == [__file__]
    assert (len(annotations), len(annotations.images), annotations.raters.tolist()) == (
        80,
        20,
        ["r1", "r2", "r3", "r4"],
    )


def test_cars_with_every_name_spoken_of_say_nothing(cars_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_coco(cars_path, category_field="label_raw", aliases=CARS | {"truck": "truck"})


def test_cars_as_written(cars_path):
    annotations = read_coco(cars_path, category_field="label_raw")
    assert len(annotations.categories) == 21
