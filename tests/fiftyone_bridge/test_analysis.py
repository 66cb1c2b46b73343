"""All analyses in one go: which runs are made, under which keys, all or none of them, and which belong together."""

from __future__ import annotations

import time
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosWarning
from kalos_core.fiftyone.dataset.raters import store_raters
from kalos_core.fiftyone.runs import renaming
from kalos_core.fiftyone.runs.life import set_config
from kalos_core.fiftyone.runs.writers import WRITING
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.quiz import RATERS, quiz
from tests.fiftyone_bridge.scenes import THREE, counting, crowded, documents, make_samples
from tests.fiftyone_bridge.stacks import small

FEW: dict[str, dict[str, Any]] = {"convergence": {"subsets": 4, "fraction": 0.5}, "calibration": {"bootstrap": 0}}
"""Settings that are quick."""

OBJECTS = ("agreement", "variations", "calibration", "convergence")
KEYS = {"agreement": "first", **{kind: f"first_{kind}" for kind in OBJECTS[1:]}}

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.errors.KalosWarning")


def keys_of(analysis: kf.Analysis) -> dict[str, str]:
    return {kind: run.key for kind, run in analysis.runs.items()}


@pytest.fixture
def crowd(make: Make) -> fo.Dataset:
    """Objects of three raters."""
    return make(make_samples(crowded(0, 16)))


@pytest.fixture
def made(crowd: fo.Dataset) -> kf.Analysis:
    return kf.analyse(crowd, "first", raters=THREE, settings=FEW)


# ---- what is made ----


def test_the_kinds_of_an_analysis_and_which_leads() -> None:
    members = {name: kind.suffix for name, kind in kf.KINDS.items() if kind.suffix}
    assert next(iter(members)) == "agreement"
    assert set(members) == {*OBJECTS, "image_labels", "pixels"}
    assert len(set(members.values())) == len(members)


def test_every_run_has_its_key_and_reads_the_same(crowd: fo.Dataset, made: kf.Analysis) -> None:
    assert keys_of(made) == KEYS
    assert sorted(crowd.list_runs()) == sorted(KEYS.values())
    assert {run.selection for run in made.runs.values()} == {kf.Selection(raters=THREE)}
    assert {run.analysis for run in made.runs.values()} == {"first"}
    lead, variations = made.runs["agreement"], made.runs["variations"]
    assert all(run.made_at >= lead.made_at for run in made.runs.values())
    assert [variations.settings[name] for name in ("similarity", "threshold")] == ["box_iou", 0.5]
    assert made.run("pixels") is None


def test_it_stores_what_each_function_stores(crowd: fo.Dataset, made: kf.Analysis) -> None:
    alone = kf.compute_agreement(crowd, "alone", raters=THREE)
    assert made.runs["agreement"].metrics == alone.metrics
    assert crowd.values("first_alpha") == crowd.values("alone_alpha")
    found = kf.find_variations(crowd, "found", raters=THREE)
    assert made.runs["variations"].metrics == found.metrics


def test_similarity_threshold_and_selection_are_shared(crowd: fo.Dataset) -> None:
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
def test_without_objects_another_kind_leads(make: Make, samples: Any, leads: str) -> None:
    dataset = make(samples())
    made = kf.analyse(dataset, "first", **({"raters": RATERS} if samples is quiz else {}))
    assert keys_of(made) == {leads: "first"}
    kf.delete_run(dataset, "first")


def test_labels_of_several_families_are_all_read(make: Make) -> None:
    samples = make_samples(crowded(0, 8))
    for number, sample in enumerate(samples):
        for rater in ("ann", "bob"):
            sample[f"{rater}_says"] = fo.Classification(label="cat" if number % 3 or rater == "ann" else "dog")
    dataset = make(samples)
    for fields in ({name: name for name in THREE}, {name: f"{name}_says" for name in THREE[:2]}):
        store_raters(dataset, fields)
    made = kf.analyse(dataset, "first", settings=FEW)
    assert keys_of(made) == {**KEYS, "image_labels": "first_labels"}
    assert kf.load_metrics(dataset, "first", "image_labels").key == "first_labels"


def test_one_rater_is_told_what_is_missing(dataset: fo.Dataset) -> None:
    with pytest.raises(InputError, match="no stored raters"):
        kf.analyse(dataset, "first")
    assert dataset.list_runs() == []


def test_what_the_labels_do_not_allow_is_left_out_and_said(make: Make) -> None:
    dataset = make(make_samples(crowded(0, 1)))
    with pytest.warns(KalosWarning, match="first: no label convergence: "):
        made = kf.analyse(dataset, "first", raters=("ann", "bob"))
    assert "convergence" not in made.runs
    assert made.runs["agreement"].key == "first"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kinds": ["agreement", "noise"]}, "kinds: expected"),
        ({"kinds": []}, "kinds: expected one or more"),
        ({"settings": {"noise": {}}}, "settings: expected"),
        ({"threshold": 2}, "threshold"),
        ({"rater": "ann"}, "unknown argument rater"),
    ],
)
def test_what_is_refused_leaves_nothing(crowd: fo.Dataset, arguments: dict[str, Any], message: str) -> None:
    before = documents(crowd)
    with pytest.raises(InputError, match=message):
        kf.analyse(crowd, "first", **{"raters": THREE, **arguments})
    assert crowd.list_runs() == []
    assert documents(crowd) == before


def test_only_some_kinds(crowd: fo.Dataset) -> None:
    made = kf.analyse(crowd, "some", kinds=["variations", "calibration"], raters=THREE, settings={"variations": {}})
    assert keys_of(made) == {"calibration": "some", "variations": "some_variations"}


# ---- all or nothing ----


def test_the_keys_are_checked_before_anything_is_computed(crowd: fo.Dataset) -> None:
    kf.find_variations(crowd, "first_variations", raters=THREE)
    with pytest.raises(InputError, match="'first_variations' is the key of another run"):
        kf.analyse(crowd, "first", raters=THREE)
    assert crowd.list_runs() == ["first_variations"]
    assert kf.free_analysis_key(crowd, "first") == "first2"


@pytest.mark.parametrize("share", [0.1, 0.6, 0.99, 1.0])
def test_cancelled_or_failed_nothing_stays(crowd: fo.Dataset, share: float) -> None:
    before = documents(crowd)
    seen: list[float] = []

    def progress(done: float, _: str) -> None:
        seen.append(done)
        if done >= share:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kf.analyse(crowd, "first", raters=THREE, settings=FEW, progress=progress)
    assert seen == sorted(seen)
    assert crowd.list_runs() == []
    assert documents(crowd) == before
    assert {path for path in crowd.get_field_schema(flat=True) if "first" in path} == set()


def test_progress_is_one_bar(crowd: fo.Dataset) -> None:
    seen: list[tuple[float, str]] = []
    kf.analyse(crowd, "first", raters=THREE, settings=FEW, progress=lambda share, label: seen.append((share, label)))
    shares = [share for share, _ in seen]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert {label.split(":")[0] for _, label in seen} == {kf.KINDS[kind].title for kind in OBJECTS}


def test_nothing_is_listed_before_all_is_complete(crowd: fo.Dataset) -> None:
    listed: list[list[str]] = []
    kf.analyse(crowd, "first", raters=THREE, settings=FEW, progress=lambda *_: listed.append(kf.list_runs(crowd)))
    assert len(listed) > 10
    assert not any(listed)
    assert len(kf.list_runs(crowd)) == 4


@pytest.mark.usefixtures("made")
def test_what_a_dead_process_left_is_swept(crowd: fo.Dataset) -> None:
    writer = crowd.get_run_info("first_calibration").config.writer
    set_config(crowd, ["first_calibration"], status=WRITING, writer={**writer, "work": "another"})
    assert sorted(kf.list_runs(crowd)) == ["first", "first_convergence", "first_variations"]


# ---- which belong together ----


def test_lone_runs_that_read_the_same_labels_fill_up(crowd: fo.Dataset) -> None:
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
    assert kf.find_analysis(crowd, "newer").key == "two"
    assert kf.find_analysis(crowd, "pair").key == "pair"
    with pytest.raises(InputError, match=r"analysis: expected the key of one \(two, pair, one\), got 'other'"):
        kf.find_analysis(crowd, "other")


def test_without_a_lead_lone_runs_are_one_analysis(crowd: fo.Dataset) -> None:
    kf.find_variations(crowd, "names", raters=THREE)
    kf.calibrate_threshold(crowd, "tau", raters=THREE, bootstrap=0)
    (only,) = kf.list_analyses(crowd)
    assert (only.key, keys_of(only)) == ("tau", {"variations": "names", "calibration": "tau"})


@pytest.mark.usefixtures("made")
def test_the_runs_of_one_analysis_are_not_those_of_another(crowd: fo.Dataset) -> None:
    kf.compute_agreement(crowd, "lone", raters=THREE)
    found = {analysis.key: keys_of(analysis) for analysis in kf.list_analyses(crowd)}
    assert found == {"lone": {"agreement": "lone"}, "first": KEYS}


def test_the_key_of_an_analysis_is_that_of_each_of_its_kinds(crowd: fo.Dataset, made: kf.Analysis) -> None:
    by_analysis = kf.view_of_variation(crowd, "first", "missing")
    assert len(by_analysis) > 0
    assert by_analysis.values("id") == kf.view_of_variation(crowd, "first_variations", "missing").values("id")
    for kind, key in KEYS.items():
        assert kf.load_metrics(crowd, "first", kind).key == key
        assert kf.load_details(crowd, "first", kind).metrics == made.runs[kind].metrics
    assert kf.load_metrics(crowd, "first").kind == "agreement"
    kf.choose_threshold(crowd, "first", "box_iou", 0.3)
    assert kf.load_metrics(crowd, "first_calibration").metrics["chosen"][0]["threshold"] == 0.3
    with pytest.raises(InputError, match="expected one of the pixels runs, of which there are none yet, got 'first'"):
        kf.load_metrics(crowd, "first", "pixels")


# ---- its life ----


def test_deleting_an_analysis_deletes_all_of_its_runs(crowd: fo.Dataset) -> None:
    before = documents(crowd)
    kf.analyse(crowd, "first", raters=THREE, settings=FEW)
    kf.delete_run(crowd, "first_calibration")
    assert keys_of(kf.find_analysis(crowd, "first")) == {
        kind: key for kind, key in KEYS.items() if kind != "calibration"
    }
    kf.delete_run(crowd, "first")
    assert crowd.list_runs() == []
    assert documents(crowd) == before


def test_renaming_an_analysis_renames_all_of_its_runs(crowd: fo.Dataset, made: kf.Analysis) -> None:
    kf.rename_run(crowd, "first_convergence", "ceiling")
    kf.rename_run(crowd, "first", "second")
    found = kf.find_analysis(crowd, "second")
    assert keys_of(found) == {
        "agreement": "second",
        "calibration": "second_calibration",
        "convergence": "ceiling",
        "variations": "second_variations",
    }
    assert {run.analysis for run in found.runs.values()} == {"second"}
    assert [path for path in crowd.get_field_schema(flat=True) if "first" in path] == []
    assert found.runs["agreement"].metrics == made.runs["agreement"].metrics
    assert found.runs["agreement"].made_at == made.runs["agreement"].made_at


@pytest.mark.usefixtures("made")
def test_a_key_that_is_taken_keeps_all_of_them(crowd: fo.Dataset) -> None:
    kf.calibrate_threshold(crowd, "second_calibration", raters=THREE, bootstrap=0)
    before = documents(crowd)
    with pytest.raises(InputError, match="'second_calibration' is the key of another run"):
        kf.rename_run(crowd, "first", "second")
    assert keys_of(kf.find_analysis(crowd, "first")) == KEYS
    assert documents(crowd) == before


@pytest.mark.usefixtures("made")
def test_renaming_that_fails_half_way_is_taken_back(crowd: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    before, copied, copy = documents(crowd), [], renaming.copy_fields

    def failing(dataset: fo.Dataset, moves: dict[str, str]) -> None:
        copied.append(moves)
        if len(copied) == 3:
            raise RuntimeError("the database is gone")
        copy(dataset, moves)

    monkeypatch.setattr(renaming, "copy_fields", failing)
    with pytest.raises(RuntimeError, match="the database is gone"):
        kf.rename_run(crowd, "first", "second")
    assert len(copied) == 3
    assert keys_of(kf.find_analysis(crowd, "first")) == KEYS
    assert {run.analysis for run in kf.list_runs(crowd, info=True)} == {"first"}
    assert documents(crowd) == before


def test_a_note_and_a_status_stay_with_a_run(crowd: fo.Dataset, made: kf.Analysis) -> None:
    assert (made.runs["agreement"].note, made.runs["agreement"].status) == ("", "")
    kf.describe_run(crowd, "first", note="before the guideline")
    kf.describe_run(crowd, "first", status="in_review")
    kf.describe_run(crowd, "first_variations", note="look at cats")
    kf.rename_run(crowd, "first", "second")
    runs = kf.find_analysis(crowd, "second").runs
    assert (runs["agreement"].note, runs["agreement"].status) == ("before the guideline", "in_review")
    assert (runs["variations"].note, runs["variations"].status) == ("look at cats", "")
    kf.describe_run(crowd, "second", note="", status="")
    assert (kf.load_metrics(crowd, "second").note, kf.load_metrics(crowd, "second").status) == ("", "")
    with pytest.raises(InputError, match="status: expected one of 'in_review', 'needs_review', 'reviewed', got 'done'"):
        kf.describe_run(crowd, "second", status="done")


def test_the_statuses_are_those_of_the_panel_model_evaluation() -> None:
    from plugins.panels.model_evaluation import STATUS_LABELS

    assert STATUS_LABELS == kf.STATUSES


# ---- what it costs ----


@pytest.mark.usefixtures("made")
def test_listing_reads_no_sample(crowd: fo.Dataset) -> None:
    with counting(crowd) as read:
        kf.list_analyses(crowd)
        kf.find_analysis(crowd, "first")
    assert read == {"answers": 0, "bytes": 0}


@pytest.mark.usefixtures("made")
def test_listing_takes_milliseconds(crowd: fo.Dataset) -> None:
    crowd.add_samples([fo.Sample(f"/more/{number}.jpg") for number in range(2_000)], progress=False)
    kf.list_analyses(crowd)
    before = time.process_time()
    for _ in range(10):
        kf.list_analyses(crowd)
        kf.find_analysis(crowd, "first")
    assert (time.process_time() - before) / 20 < 0.05
