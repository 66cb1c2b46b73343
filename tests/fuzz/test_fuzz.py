"""Regression tests for found calls, and a short search. `python -m tests.fuzz` searches longer."""

import warnings
from inspect import isfunction

import numpy as np
import pandas as pd
import pytest

import kalos_core as k
import kalos_core.fiftyone as kf
from kalos_core import InputError, nominal
from kalos_core.cli.streams import received
from kalos_core.consensus import vote_without_outliers
from kalos_core.diagnostics import narrowed
from kalos_core.drawing import draw_members
from kalos_core.figures import plot_teams
from kalos_core.noise import InjectedNoise
from kalos_core.noise.experiments import permutation_stability, run_experiments
from kalos_core.nominal import item_accuracy
from kalos_core.options import checked
from kalos_core.pixels import PixelAccumulator, regions_in_dispute
from kalos_core.ranking import SystemScores, rank_models
from kalos_core.sparse import RunningAgreement, agreement_variance, running_agreement
from kalos_core.variation import image_report, narrowed_variations, rater_rates
from tests.fuzz import values as v
from tests.fuzz.bridge import BRIDGE, COMMAND_LINE, SCENES
from tests.fuzz.calls import CALLS, NOT_CALLED, public, trusts
from tests.fuzz.files import FILES, READERS
from tests.fuzz.harness import Target, attempt, search, use, where
from tests.fuzz.targets import TARGETS
from tests.readers.cases import as_bytes
from tests.tiers import extended

DEEP = v.deep(5_000)
MASK = np.zeros((1, 2, 2), bool)
ANNOTATION = v.COCO["annotations"][0]


@pytest.mark.parametrize(
    "name", [*READERS, *(pytest.param(name, marks=extended) for name in (*CALLS, *BRIDGE, *COMMAND_LINE))]
)
def test_only_our_own_errors_leave_a_public_function(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of them write
    tried, findings = search(TARGETS[name], examples=6, start=0)
    assert tried
    assert findings == {}


def test_files_are_valid_before_they_are_damaged():
    warnings.simplefilter("ignore")  # pytest restores it
    for name, (files, _) in FILES.items():
        use(READERS[f"a file of {name}"].call({path: as_bytes(content) for path, content in files.items()}))


def test_the_harness_detects_known_faults():
    assert attempt(lambda: None) is None
    assert attempt(lambda: k.agreement(5)) is None  # refused
    found = attempt(lambda: [][0])
    assert isinstance(found, IndexError)
    assert "IndexError" in where(found)
    assert isinstance(attempt(lambda: use(iter([1, v.LONG]))), type(None))
    assert search(Target(lambda value: 1 // value, v.st.builds(dict, value=v.st.just(0))), 3, 0)[1].keys() == {
        "ZeroDivisionError"
    }


def test_every_public_function_of_every_package_is_called():
    found = {name for name, thing in public().items() if isfunction(thing)}
    assert found <= CALLS.keys()
    assert {"agreement", "nominal.read_groups", "chance.coincidences", "figures.plot_sizes"} <= found
    assert not NOT_CALLED.keys() & CALLS.keys()


def test_public_functions_check_all_arguments():
    assert not any(trusts(name) for name in ("agreement", "nominal.read_groups", "LabelTable.counts", "Annotations"))
    assert trusts("chance.coincidences")
    assert trusts("shapes.Boxes.take")


FOUND = {
    "a number that Python does not write out": lambda: k.agreement(v.TWO, bootstrap=v.LONG),
    "lists within lists as a name": lambda: k.agreement(v.TWO, solver=DEEP),
    "lists within lists as a question": lambda: v.LABELS.counts(DEEP),
    "an array as a question": lambda: v.LABELS.counts(np.zeros(2)),
    "an array as a rater": lambda: v.LABELS.decisions(np.array(["a", "b"])),
    "a mapping as ids": lambda: InjectedNoise.of(
        v.MODEL.generate(v.ANNOTATIONS, 2, reference="ann"), ["a"], {"a": DEEP}
    ),
    "a number as groups": lambda: nominal.read_groups(5),
    "nothing as grades": lambda: nominal.attributes_table(None),
    "a text as grades": lambda: nominal.least_agreed_first("x"),
    "a mapping as a name": lambda: nominal.merge_raters(v.LABELS, name={1: 2}),
    "a text as an agreement": lambda: nominal.landis_koch(""),
    "an array as faults": lambda: nominal.build_table(nominal.RawLabels([]), "a", np.zeros(2)),
    "a text as counts of raters": lambda: agreement_variance("", [0.5]),
    "no mask of answers": lambda: v.LABELS.without_answers([True]),
    "groups of numbers": lambda: v.LABELS.regroup({"q": 5}),
    "masks of several lengths": lambda: k.MaskStack.of({"ann": [[0, 1], [1]], "bob": [[1, 1]]}),
    "names of masks that cannot be looked up": lambda: k.MaskStack.of([[[0]], [[1]]], raters=[["a"], ["b"]]),
    "a class that is no number": lambda: v.LABEL_STACK.of_class(np.zeros(2)),
    "raters that cannot be looked up": lambda: PixelAccumulator([["a"], {}]),
    "pairs of another table": lambda: k.agreement(v.TWO, pairs=v.PAIRS),
    "progress that is no function": lambda: run_experiments(v.TWO, progress={}),
    "thresholds of several lengths": lambda: k.variation_shares(v.TWO, [[], [0.5]]),
    "predictions without scores": lambda: rank_models({"net": v.TWO}, v.TWO),
    "scores without images": lambda: SystemScores.from_tables({"net": [1]}),
    "decisions of several lengths": lambda: k.ConceptTruths(["a"], [1], ["x"], [[[1], [1, 0]]]),
    "an exclusion of lists": lambda: k.Annotations.from_rows(v.ROWS, exclusions=[([1], ["ann"], {})]),
    "raters of lists": lambda: v.TWO.select(raters=["ann", []]),
    "rows of several lengths": lambda: v.TWO.select(rows=[[0], [1, 2]]),
    "weights that equal nothing": lambda: RunningAgreement(weights=pd.NA),
    "an item that equals nothing": lambda: running_agreement([np.zeros(2)], ["cat"]),
    "values of several lengths": lambda: k.cohen_kappa([[1], [1, 2]], [0, 1]),
    "skew of long numbers": lambda: v.ranking().result(skew=(v.LONG, "a")),
    "labels of an item that are lists": lambda: item_accuracy(v.LABELS, {1: ([[]], 5)}),
    "masks of nobody": lambda: k.MaskStack(MASK, None),
    "a seed of several": lambda: run_experiments(v.ANNOTATIONS, counts=[2], repeats=1, magnitudes=[1], seed=(1, 2)),
    "images that cannot be looked up": lambda: k.Annotations.from_rows(v.ROWS, images=[1, []]),
    "an image with a long number": lambda: k.read_coco({**v.COCO, "images": [{"id": 1, "rater_list": v.LONG}]}),
    "a category of lists within lists": lambda: k.read_coco({**v.COCO, "categories": [{"id": DEEP, "name": DEEP}]}),
    "a rater that UTF-8 cannot hold": lambda: k.staple({"ann": [[0, 1]], "\ud800": [[1, 1]]}),
    "a category that UTF-8 cannot hold": lambda: k.read_coco({**v.COCO, "categories": [{"id": 1, "name": "\ud800"}]}),
    "an item that UTF-8 cannot hold": lambda: k.LabelTable.from_rows([{"item": "\ud800", "rater": "a", "label": "x"}]),
    "a row that is a long number": lambda: k.LabelTable.from_rows([v.LONG]),
    "a box of long numbers": lambda: k.read_coco({**v.COCO, "annotations": [{**ANNOTATION, "bbox": [v.LONG]}]}),
    "names that cannot be looked up": lambda: k.ConceptTruths([[]], [1], ["x"], [[[1]]]),
    "sizes of images that are none": lambda: k.Annotations.from_rows(v.ROWS, image_size={1: [], 2: (40, 30)}),
    "positions that equal nothing": lambda: k.Annotations.from_rows(v.ROWS, slice_positions={1: pd.NA}),
    "raters of numbers": lambda: v.LABELS.select(raters=np.array([1e300, -1e300])),
    "faults that equal nothing": lambda: k.read_coco(v.COCO, on_invalid=pd.NA),
    "answers as text": lambda: k.LabelTable("a", [0], [0], [0], ["i"], ["r"], ["c"]),
    "methods that cannot be looked up": lambda: k.DetectorAccumulator(methods=([], [5])),
    "no members of a unit": lambda: draw_members(v.ANNOTATIONS, []),
    "no tables": lambda: permutation_stability({}),
    "images that equal nothing": lambda: narrowed_variations(v.VARIATIONS, images=[pd.NA]),
    "images of complex numbers": lambda: narrowed(v.AGREEMENT, images=np.array([1 + 2j])),
    "no masks of any class": lambda: regions_in_dispute({}),
    "findings of other annotations": lambda: image_report(v.ANNOTATIONS, []),
    "an array of results": lambda: nominal.attributes_table(np.array([1 + 2j])),
    "missing cells of long numbers": lambda: k.read_long_labels(pd.DataFrame(v.LABEL_ROWS), missing=[v.LONG]),
    "groups of mappings": lambda: k.LabelTable.from_rows(v.LABEL_ROWS, groups={"q": [{1: 2}]}),
    "an agreement as variations": lambda: rater_rates(v.AGREEMENT),
    "a distribution of numbers": lambda: v.MODEL.distribution(np.array([1e300, -1e300])),
    "outliers of long numbers": lambda: vote_without_outliers(v.MASKS, [v.LONG]),
    "a question that is not there": lambda: plot_teams(k.compare_teams(v.LABELS, {"a": ["ann"], "b": ["bob"]}), 9),
    "skew from a generator": lambda: v.ranking().result(skew=(end for end in (0.5, 0.1))),
    "a run of lists": lambda: kf.load_run(SCENES[1].get(), ["day"]),
    "no data set": lambda: kf.list_runs(None),
    "a report in several files": lambda: kf.report(SCENES[1].get(), "day", ("a", "b")),
    "detectors that cannot be looked up": lambda: kf.rank_detectors(SCENES[2].get(), "new", detectors=[{}], field=None),
    "no file of labels": lambda: kf.preview_raters("nan"),
    "a sample of endless lists": lambda: kf.draw_unit(SCENES[1].get(), "day", {}, sample_id=[v.deep(5_000)]),
    "a kind of a number": lambda: kf.list_runs(SCENES[1].get(), np.array(5)),
    "a reference that is a number": lambda: kf.preview_noise(SCENES[1].get(), reference=1),
    "a path of a long name": lambda: received({"masks": "x" * 300}).__enter__(),
    "a long file name": lambda: kf.export_resolved(SCENES[1].get(), "day", "x" * 300),
}
"""Calls that raised errors of other libraries -> each is refused now."""


@pytest.mark.parametrize("what", FOUND)
def test_inputs_found_by_fuzzing_are_refused(what):
    with pytest.raises(InputError, match="expected"):
        list(FOUND[what]() or [])


def test_a_file_name_that_python_does_not_write_out_is_read():
    images = [{**image, "file_name": v.LONG} for image in v.COCO["images"]]
    assert set(k.read_coco({**v.COCO, "images": images}).files) == {"int"}


def test_entries_of_mappings_are_named_with_their_type():
    with pytest.raises(InputError, match=r"^teams: expected Mapping\[str, Sequence\[str\]\], got \{'a': 5, 'b'"):
        k.compare_teams(v.LABELS, {"a": 5, "b": []})
    with pytest.raises(InputError, match=r"^raters_are_local: expected True or False, got 'no'"):
        k.Annotations.from_rows(v.ROWS, raters_are_local="no")
    with pytest.raises(InputError, match=r"^pairs: expected Pairs, the result of compute_pairs\(annotations\), got"):
        k.agreement(v.TWO, pairs=5)


def test_a_type_that_is_imported_late_is_not_looked_at():
    @checked
    def late(frame: "pd_of_nobody.DataFrame", given: "dict[str, int]") -> None:  # noqa: F821
        pass

    late(5, {"a": 1})
    with pytest.raises(InputError, match="given: expected a mapping, got 5"):
        late(5, 5)
