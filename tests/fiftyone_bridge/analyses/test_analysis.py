"""All analyses in one call: the runs and their keys, all or none of them, and which runs belong together."""

import warnings
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from kalos_core.fiftyone.analyses.analysis import free_analysis_key
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.runs import upkeep
from kalos_core.fiftyone.runs.analyses import Analysis
from kalos_core.fiftyone.runs.stored import describe_run, find_analysis
from tests.fiftyone_bridge.quiz import RATERS, quiz
from tests.fiftyone_bridge.scenes import THREE, crowded, documents, make_samples, raising, untouched
from tests.fiftyone_bridge.stacks import small
from tests.tiers import first

FEW: dict[str, dict[str, Any]] = {"convergence": {"subsets": 4, "fraction": 0.5}, "calibration": {"bootstrap": 0}}
"""Settings that take seconds."""

OBJECTS = ("agreement", "variations", "calibration", "convergence")
KEYS = {"agreement": "first", **{kind: f"first_{kind}" for kind in OBJECTS[1:]}}

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


def eight_images():
    return make_samples(crowded(0, 8))


def keys_of(analysis: Analysis) -> dict[str, str]:
    return {kind: run.key for kind, run in analysis.runs.items()}


@pytest.fixture(scope="module")
def once(make_once):
    """Return objects of three raters with an analysis, for tests that only read."""
    dataset = make_once(eight_images)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return dataset, kf.analyse(dataset, "first", raters=THREE, settings=FEW)


@pytest.fixture
def analysed(once):
    return once[0].clone()


@pytest.fixture
def crowd(make):
    """Return the same objects without an analysis."""
    return make(eight_images)


# ---- results ----


def test_every_run_has_its_key_and_is_that_of_its_function(once):
    dataset, made = once
    assert keys_of(made) == KEYS
    assert sorted(kf.list_runs(dataset)) == sorted(KEYS.values())
    assert {run.selection for run in made.runs.values()} == {kf.Selection(raters=THREE)}
    assert {run.analysis for run in made.runs.values()} == {"first"}
    lead, variations = made.runs["agreement"], made.runs["variations"]
    assert all(run.made_at >= lead.made_at for run in made.runs.values())
    assert [variations.settings[name] for name in ("similarity", "threshold")] == ["box_iou", 0.5]
    assert made.run("pixels") is None
    alone = kf.compute_agreement(dataset, "alone", raters=THREE)
    assert lead.metrics == alone.metrics
    assert dataset.values("first_alpha") == dataset.values("alone_alpha")
    kf.delete_run(dataset, "alone")


def test_similarity_threshold_and_selection_are_shared(crowd):
    made = kf.analyse(
        crowd, "first", raters=THREE, classes=("cat",), similarity="centroid_box", threshold=0.25, settings=FEW
    )
    runs = made.runs
    assert {run.selection.classes for run in runs.values()} == {("cat",)}
    assert {runs[kind].settings["threshold"] for kind in ("agreement", "variations")} == {0.25}
    assert {runs[kind].settings["similarity"] for kind in ("agreement", "variations", "convergence")} == {
        "centroid_box"
    }


@pytest.mark.parametrize(("samples", "leads"), [(quiz, "image_labels"), (small, "pixels")])
def test_without_objects_another_kind_leads(make, samples, leads):
    dataset = make(samples)
    made = kf.analyse(dataset, "first", **({"raters": RATERS} if samples is quiz else {}))
    assert keys_of(made) == {leads: "first"}
    kf.delete_run(dataset, "first")


def test_labels_of_several_families_are_all_read(make):
    samples = eight_images()
    for number, sample in enumerate(samples):
        for rater in ("ann", "bob"):
            sample[f"{rater}_says"] = fo.Classification(label="cat" if number % 3 or rater == "ann" else "dog")
    dataset = make(samples)
    for fields in ({name: name for name in THREE}, {name: f"{name}_says" for name in THREE[:2]}):
        store_raters(dataset, fields)
    made = kf.analyse(dataset, "first", settings=FEW)
    assert keys_of(made) == {**KEYS, "image_labels": "first_labels"}
    assert kf.load_metrics(dataset, "first", "image_labels").key == "first_labels"


def test_impossible_analyses_are_skipped_with_a_warning(make):
    dataset = make(make_samples(crowded(0, 1)))
    with pytest.warns(KalosWarning, match="first: no label convergence: "):
        made = kf.analyse(dataset, "first", raters=("ann", "bob"))
    assert "convergence" not in made.runs
    assert made.runs["agreement"].key == "first"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"raters": None}, "no stored raters"),
        ({"kinds": ["agreement", "noise"]}, "kinds: expected"),
        ({"threshold": 2}, "threshold"),
        ({"key": "first"}, "'first_variations' is the key of another run"),
    ],
)
def test_refused_input_leaves_nothing(crowd, arguments, message):
    if "key" in arguments:
        kf.find_variations(crowd, "first_variations", raters=THREE, thresholds=())
        assert free_analysis_key(crowd, "first") == "first2"
    with untouched(crowd), pytest.raises(InputError, match=message):
        kf.analyse(crowd, **{"key": "first", "raters": THREE, **arguments})


# ---- all or nothing ----


@pytest.mark.parametrize("share", first([0.6, 0.1, 0.99, 1.0]))
def test_cancelled_nothing_stays(crowd, share):
    def progress(done: float, _: str) -> None:
        if done >= share:
            raise KeyboardInterrupt

    with untouched(crowd), pytest.raises(KeyboardInterrupt):
        kf.analyse(crowd, "first", raters=THREE, settings=FEW, progress=progress)


def test_progress_is_one_bar_and_nothing_is_listed_before_it_ends(crowd):
    seen: list[tuple[float, str, list[str]]] = []

    def progress(share: float, label: str) -> None:
        seen.append((share, label, kf.list_runs(crowd)))

    kf.analyse(crowd, "first", raters=THREE, settings=FEW, progress=progress)
    shares, labels, listed = zip(*seen, strict=True)
    assert list(shares) == sorted(shares)
    assert (shares[0], shares[-1], len(shares) > 10) == (0.0, 1.0, True)
    assert {label.split(":")[0] for label in labels} == {kf.KINDS[kind].title for kind in OBJECTS}
    assert not any(listed)
    assert len(kf.list_runs(crowd)) == 4


# ---- runs that belong together ----


def test_lone_runs_that_read_the_same_labels_fill_up(crowd):
    kf.compute_agreement(crowd, "one", raters=THREE)
    kf.find_variations(crowd, "older", raters=THREE)
    kf.find_variations(crowd, "newer", raters=THREE)
    kf.find_variations(crowd, "pair", raters=THREE[:2])
    kf.compute_agreement(crowd, "two", raters=THREE)
    found = {analysis.key: keys_of(analysis) for analysis in kf.list_analyses(crowd)}
    assert list(found) == ["two", "pair", "one"]
    assert found == {
        "two": {"agreement": "two", "variations": "newer"},
        "pair": {"variations": "pair"},
        "one": {"agreement": "one", "variations": "newer"},
    }
    assert find_analysis(crowd, "newer").key == "two"
    assert find_analysis(crowd, "pair").key == "pair"
    with pytest.raises(InputError, match=r"analysis: expected the key of one \(two, pair, one\), got 'other'"):
        find_analysis(crowd, "other")


def test_the_key_of_an_analysis_is_that_of_each_of_its_kinds(once, analysed):
    by_analysis = kf.view_of_variation(analysed, "first", "missing")
    assert len(by_analysis) > 0
    assert by_analysis.values("id") == kf.view_of_variation(analysed, "first_variations", "missing").values("id")
    for kind, key in KEYS.items():
        assert kf.load_metrics(analysed, "first", kind).key == key
        assert kf.load_details(analysed, "first", kind).metrics == once[1].runs[kind].metrics
    assert kf.load_metrics(analysed, "first").kind == "agreement"
    kf.choose_threshold(analysed, "first", "box_iou", 0.3)
    assert kf.load_metrics(analysed, "first_calibration").metrics["chosen"]["box_iou"]["threshold"] == 0.3
    with pytest.raises(InputError, match="expected one of the pixels runs, but there are none yet, got 'first'"):
        kf.load_metrics(analysed, "first", "pixels")


# ---- life cycle ----


def test_deleting_an_analysis_deletes_all_of_its_runs(crowd):
    with untouched(crowd):
        kf.analyse(crowd, "first", raters=THREE, settings=FEW)
        kf.delete_run(crowd, "first_calibration")
        assert keys_of(find_analysis(crowd, "first")) == {k: key for k, key in KEYS.items() if k != "calibration"}
        kf.delete_run(crowd, "first")


def test_renaming_an_analysis_renames_all_of_its_runs(analysed):
    made = kf.load_metrics(analysed, "first")
    kf.calibrate_threshold(analysed, "taken_calibration", raters=THREE, bootstrap=0)
    with untouched(analysed), pytest.raises(InputError, match="'taken_calibration' is the key of another run"):
        kf.rename_run(analysed, "first", "taken")
    kf.rename_run(analysed, "first_convergence", "ceiling")
    kf.rename_run(analysed, "first", "second")
    found = find_analysis(analysed, "second")
    assert keys_of(found) == {
        "agreement": "second",
        "calibration": "second_calibration",
        "convergence": "ceiling",
        "variations": "second_variations",
    }
    assert {run.analysis for run in found.runs.values()} == {"second"}
    assert [path for path in analysed.get_field_schema(flat=True) if "first" in path] == []
    assert found.runs["agreement"].metrics == made.metrics
    assert found.runs["agreement"].made_at == made.made_at


def test_renaming_that_fails_half_way_is_taken_back(analysed, meanwhile):
    meanwhile(upkeep, "copy_fields", before=raising(RuntimeError("the database is gone")), call=3)
    before = documents(analysed)
    with pytest.raises(RuntimeError, match="the database is gone"):
        kf.rename_run(analysed, "first", "second")
    assert keys_of(find_analysis(analysed, "first")) == KEYS
    assert {run.analysis for run in kf.list_runs(analysed, info=True)} == {"first"}
    assert documents(analysed) == before


def test_a_note_and_a_status_stay_with_a_run(analysed):
    describe_run(analysed, "first", note="before the guideline")
    describe_run(analysed, "first", status="in_review")
    describe_run(analysed, "first_variations", note="look at cats")
    kf.rename_run(analysed, "first", "second")
    runs = find_analysis(analysed, "second").runs
    assert (runs["agreement"].note, runs["agreement"].status) == ("before the guideline", "in_review")
    assert (runs["variations"].note, runs["variations"].status) == ("look at cats", "")
    with pytest.raises(InputError, match="status: expected one of 'in_review', 'needs_review', 'reviewed', got 'done'"):
        describe_run(analysed, "second", status="done")
