"""Runs: all they write is under their key, and nothing outlives them."""

import os
import signal
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
from fiftyone import ViewField as F

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError
from kalos_core.fiftyone import internals
from kalos_core.fiftyone.dataset import database, writing
from kalos_core.fiftyone.kinds.agreement import compute as of_agreement
from kalos_core.fiftyone.kinds.variations import compute as of_variations
from kalos_core.fiftyone.runs import life, renaming
from kalos_core.fiftyone.runs.writers import writing_now
from tests.fiftyone_bridge.elsewhere import begin_elsewhere, dying, elsewhere
from tests.fiftyone_bridge.scenes import (
    ALPHAS,
    CAT,
    LEFT_HALF,
    MEAN,
    RATERS,
    SCENES,
    UNITS,
    VARIATIONS,
    detection,
    detections,
    documents,
    in_one_field,
    make_samples,
    polylines,
    without,
)

ROOT = Path(__file__).resolve().parents[3]
NAMES = kf.RunNames("run")
WRITTEN = {*NAMES.of_samples, *NAMES.of_labels}
ANALYSES = {"agreement": kf.compute_agreement, "variations": kf.find_variations}
MODULES = {"agreement": of_agreement, "variations": of_variations}

NOTHING_WRITTEN: dict[str, Any] = {"fields": [], "folder": None, "arrays": None}

every_analysis = pytest.mark.parametrize("kind", ANALYSES)


def run_analysis(kind: str, samples: Any, key: str = "run", **options: Any) -> kf.Run:
    return ANALYSES[kind](samples, key, **{"raters": RATERS, **options})


def paths(dataset: fo.Dataset) -> list[str]:
    return list(dataset.get_field_schema(flat=True))


class TestWhatIsWritten:
    def test_alpha_and_units(self, dataset: fo.Dataset) -> None:
        run = run_analysis("agreement", dataset)
        assert run.result.alpha == pytest.approx(MEAN)
        assert dataset.values("run_alpha") == pytest.approx(ALPHAS)  # None, not NaN, where undefined
        assert [dataset.values(f"{name}.detections.run_unit") for name in RATERS] == UNITS

    @pytest.mark.parametrize(("make_labels", "union"), [(detections, 1.0), (polylines, 0.95)])
    def test_variations(self, make: Callable[..., fo.Dataset], make_labels: Any, union: float) -> None:
        dataset = make(make_samples(SCENES, make_labels))
        run = run_analysis("variations", dataset)
        ann, bob = (kf.label_fields(dataset)[name] for name in RATERS)
        assert [dataset.values(f"{path}.run") for path in (ann, bob)] == VARIATIONS
        # the two halves enclose all of the bench, and cover 2 * 38 of its 80 columns
        similarity = dataset.values(f"{ann}.run_similarity")
        assert similarity == [[1.0], [1.0], [None], [pytest.approx(union)], [], [None]]
        theirs, own = dataset.values(f"{bob}.id"), dataset.values(f"{ann}.id")
        assert dataset.values(f"{ann}.run_match") == [[theirs[0]], [theirs[1]], [[]], [theirs[3]], [], [[]]]
        assert dataset.values(f"{bob}.run_match")[3] == [own[3], own[3]]
        assert run.metrics["counts"]["merged"] == 1

    @every_analysis
    @pytest.mark.parametrize("make_labels", [detections, polylines])
    def test_nothing_else_changes(self, make: Callable[..., fo.Dataset], kind: str, make_labels: Any) -> None:
        dataset = make(make_samples(SCENES, make_labels))
        dataset.set_values("mine", [{"a": number} for number in range(6)])
        before, fields = documents(dataset), paths(dataset)
        run_analysis(kind, dataset)
        assert without(documents(dataset), WRITTEN) == before
        assert [path for path in paths(dataset) if path.split(".")[-1] not in WRITTEN] == fields
        kf.delete_run(dataset, "run")
        assert documents(dataset) == before
        assert paths(dataset) == fields
        assert dataset.list_runs() == []

    @every_analysis
    def test_one_field_for_all_raters(self, make: Callable[..., fo.Dataset], kind: str) -> None:
        dataset = make(in_one_field(SCENES))
        before = documents(dataset)
        run = run_analysis(kind, dataset, raters=None, field="marks")
        expected = UNITS if kind == "agreement" else VARIATIONS
        name = run.names.unit if kind == "agreement" else run.names.main
        both = [(ann or []) + (bob or []) for ann, bob in zip(*expected, strict=True)]
        assert dataset.values(f"marks.detections.{name}") == both
        assert kf.load_run(dataset, "run").stale == ()
        kf.delete_run(dataset, "run")
        assert documents(dataset) == before

    def test_two_runs_side_by_side(self, dataset: fo.Dataset) -> None:
        run_analysis("agreement", dataset, "first")
        between = documents(dataset)
        run_analysis("agreement", dataset, "second", threshold=0.4)
        run_analysis("variations", dataset, "third")
        assert dataset.values("second_alpha")[3] == pytest.approx(1 - (2 / 4) / (6 / 12))  # a half is enough
        assert kf.list_runs(dataset) == ["third", "second", "first"]
        assert kf.list_runs(dataset, "variations") == ["third"]
        kf.delete_run(dataset, "second")
        kf.delete_run(dataset, "third")
        assert documents(dataset) == between
        assert kf.load_run(dataset, "first").result.alpha == pytest.approx(MEAN)

    def test_the_sidebar_can_filter(self, make: Callable[..., fo.Dataset]) -> None:
        halves: list[Any] = [("bench", LEFT_HALF)]
        dataset = make(make_samples([*SCENES[:3], {"ann": halves, "bob": [("bench", [10, 10, 38, 19])]}]))
        run_analysis("variations", dataset, "found")
        run_analysis("agreement", dataset, "run")
        found = dataset.filter_labels("ann", F("found") == "additional")
        assert found.values("filepath") == ["/pictures/2.jpg"]
        assert len(dataset.filter_labels("bob", F("found_similarity") < 0.97)) == 1
        assert len(dataset.filter_labels("bob", F("run_unit") == 3)) == 1
        assert dataset.bounds("run_alpha") == (0, 1)
        assert dataset.bounds("ann.detections.found_similarity") == pytest.approx((0.95, 1))
        assert dataset.count_values("bob.detections.found") == {"correct": 2, "wrong_class": 1}
        schema = dataset.get_field_schema(flat=True)
        for name, field in [("found", fo.StringField), ("found_similarity", fo.FloatField), ("run_unit", fo.IntField)]:
            for rater in RATERS:
                assert isinstance(schema[f"{rater}.detections.{name}"], field)
        assert isinstance(schema["ann.detections.found_match"], fo.ListField)
        assert isinstance(schema["run_alpha"], fo.FloatField)

    def test_samples_already_loaded_see_it(self, dataset: fo.Dataset) -> None:
        sample = dataset.first()
        run_analysis("agreement", dataset)
        assert sample["run_alpha"] == 1.0
        assert sample.ann.detections[0]["run_unit"] == 0

    def test_the_time_of_the_change_is_kept(self, dataset: fo.Dataset) -> None:
        before = dataset.values("last_modified_at")
        run_analysis("variations", dataset)
        assert dataset.values("last_modified_at") == before  # no label has changed

    def test_a_reference_gets_nothing(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(make_samples([{**scene, "gold": [("cat", CAT)]} for scene in SCENES]))
        run_analysis("agreement", dataset, raters=(*RATERS, "gold"), reference="gold")
        assert dataset.values("run_alpha") == pytest.approx(ALPHAS)
        assert not [path for path in paths(dataset) if path.startswith("gold") and path.endswith("run_unit")]


class TestViews:
    @pytest.mark.parametrize(
        "make_view",
        [
            lambda data: data.limit(2),
            lambda data: data.match(F("bob.detections").length() > 1),
            lambda data: data.shuffle().limit(3),
            lambda data: data.take(3),
            lambda data: data.sort_by("filepath", reverse=True).select_fields(["bob", "ann"]),
            lambda data: data.filter_labels("ann", F("label") == "cat"),
        ],
    )
    @every_analysis
    def test_a_run_remembers_its_view(self, dataset: fo.Dataset, make_view: Any, kind: str) -> None:
        view = make_view(dataset)
        ids = view.values("id")
        run = run_analysis(kind, view)
        assert kf.load_run_view(dataset, "run").values("id") == ids
        assert list(run.result.annotations.images) == ids
        loaded = kf.load_run(dataset, "run")
        assert loaded.stale == ()
        assert list(loaded.result.annotations.id) == list(run.result.annotations.id)
        outside = dataset.exclude(ids)
        if kind == "agreement":
            assert outside.values("run_alpha") == [None] * len(outside)
            assert None not in kf.image_alphas(dataset, "run")[1] or "/pictures/5.jpg" in view.values("filepath")
        assert set(
            outside.count_values("ann.detections.run_unit" if kind == "agreement" else "ann.detections.run")
        ) <= {None}

    def test_only_labels_that_were_read(self, dataset: fo.Dataset) -> None:
        view = dataset.filter_labels("bob", F("label") == "bench", only_matches=False)
        run_analysis("agreement", view)
        assert dataset.values("bob.detections.run_unit") == [[None], [None], [], [4, 5], [], None]
        document = dataset._sample_collection.find_one({"filepath": "/pictures/0.jpg"})
        assert "run_unit" not in document["bob"]["detections"][0]
        run_analysis("variations", dataset, "cats", classes=("cat",))
        assert dataset.values("bob.detections.cats") == [["correct"], [None], [], [None, None], [], None]

    def test_the_second_of_filtered_labels_gets_its_own_value(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(make_samples([{"ann": [("dog", [60, 60, 9, 9]), ("cat", CAT)], "bob": [("cat", CAT)]}]))
        run_analysis("agreement", dataset.filter_labels("ann", F("label") == "cat"))
        assert dataset.values("ann.detections.run_unit") == [[None, 0]]


class TestKeys:
    @pytest.mark.parametrize("key", ["", "1a", "a b", "a.b", "a-b", "class", "None", "$a", None, 3, ["a"]])
    def test_has_to_be_an_identifier(self, unchanged: fo.Dataset, key: Any) -> None:
        with pytest.raises(InputError, match="run key: expected a name of letters"):
            kf.check_run_key(unchanged, key)

    @pytest.mark.parametrize("key", ["a__b", "a_"])
    def test_never_looks_like_that_of_another_run(self, unchanged: fo.Dataset, key: str) -> None:
        with pytest.raises(InputError, match="no underscore at the end and no two in a row"):
            kf.check_run_key(unchanged, key)

    def test_does_not_start_with_an_underscore(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match="starts with a letter, got '_a'"):
            kf.check_run_key(unchanged, "_a")

    @pytest.mark.parametrize(
        "key",
        [
            "id",
            "label",
            "tags",
            "mask",
            "copy",
            "points",
            "closed",
            "confidence",
            "bounding_box",
            "index",
            "attributes",
        ],
    )
    def test_is_no_attribute_of_labels(self, unchanged: fo.Dataset, key: str) -> None:
        with pytest.raises(InputError, match=f"'{key}' would overwrite the attribute '{key}' of a"):
            kf.check_run_key(unchanged, key)

    def test_is_not_used_twice(self, dataset: fo.Dataset) -> None:
        run_analysis("agreement", dataset)
        before = documents(dataset)
        for kind in ANALYSES:
            with pytest.raises(InputError, match="'run' is the key of another run"):
                run_analysis(kind, dataset)
        assert documents(dataset) == before

    def test_is_not_that_of_an_evaluation_or_a_foreign_run(self, dataset: fo.Dataset) -> None:
        dataset.match(F("bob") != None).evaluate_detections(  # noqa: E711
            "bob", gt_field="ann", eval_key="ev", progress=False
        )
        dataset.register_run("foreign", dataset.init_run())
        for key in ("ev", "foreign"):
            with pytest.raises(InputError, match=f"'{key}' is the key of another run"):
                kf.check_run_key(dataset, key)
        assert kf.list_runs(dataset) == []
        with pytest.raises(InputError, match="got 'foreign'"):
            kf.delete_run(dataset, "foreign")

    def test_overwrites_no_field(self, dataset: fo.Dataset) -> None:
        dataset.add_sample_field("mine_alpha", fo.StringField)
        with pytest.raises(InputError, match="'mine' would overwrite the field 'mine_alpha'"):
            run_analysis("agreement", dataset, "mine")

    @pytest.mark.parametrize(
        ("suffix", "declared"), [("", True), ("_similarity", False), ("_match", True), ("_unit", False)]
    )
    def test_overwrites_no_label_attribute(self, dataset: fo.Dataset, suffix: str, declared: bool) -> None:
        sample = dataset.first()
        sample.bob.detections[0][f"mine{suffix}"] = 0
        sample.save()
        if declared:
            dataset.add_dynamic_sample_fields()
        assert dataset.has_field(f"bob.detections.mine{suffix}") == declared
        for samples in (dataset, dataset.limit(0), dataset.skip(2)):
            with pytest.raises(InputError, match=rf"would overwrite the attribute 'bob\.detections\.mine{suffix}'"):
                kf.check_run_key(samples, "mine")

    @pytest.mark.parametrize(("first", "second"), [("a", "a_unit"), ("a_unit", "a"), ("a_match", "a")])
    @every_analysis
    def test_names_of_two_runs_never_meet(self, dataset: fo.Dataset, first: str, second: str, kind: str) -> None:
        run_analysis(kind, dataset, first)
        with pytest.raises(InputError, match=f"would overwrite .*the names of the run '{first}'"):
            run_analysis(kind, dataset, second)

    def test_the_first_free_one(self, dataset: fo.Dataset) -> None:
        assert kf.free_run_key(dataset, "agreement") == "agreement"
        run_analysis("agreement", dataset, "agreement")
        dataset.add_sample_field("agreement2_alpha", fo.StringField)
        assert kf.free_run_key(dataset, "agreement") == "agreement3"

    def test_free_key_of_a_name_that_can_never_be_one(self, unchanged: fo.Dataset) -> None:
        with pytest.raises(InputError, match="run key"):
            kf.free_run_key(unchanged, "a b")

    def test_unknown_runs(self, dataset: fo.Dataset) -> None:
        for call in (kf.load_run, kf.load_run_view, kf.load_metrics, kf.delete_run, kf.image_alphas):
            with pytest.raises(InputError, match="of which there are none yet, got 'eve'"):
                call(dataset, "eve")
        run_analysis("agreement", dataset)
        with pytest.raises(InputError, match="expected one of the runs run, got 'eve'"):
            kf.load_run(dataset, "eve")


class TestDeleteAndRename:
    @every_analysis
    def test_rename(self, dataset: fo.Dataset, kind: str) -> None:
        before = documents(dataset)
        run = run_analysis(kind, dataset)
        kf.rename_run(dataset, "run", "other")
        assert kf.list_runs(dataset) == ["other"]
        assert not [path for path in paths(dataset) if path.split(".")[-1] in WRITTEN]
        loaded = kf.load_run(dataset, "other")
        assert (loaded.key, loaded.stale) == ("other", ())
        assert loaded.metrics == run.metrics
        name = "other_unit" if kind == "agreement" else "other"
        expected = (UNITS if kind == "agreement" else VARIATIONS)[0]
        assert dataset.values(f"ann.detections.{name}") == expected
        kf.check_run_key(dataset, "run")
        kf.delete_run(dataset, "other")
        assert documents(dataset) == before

    @pytest.mark.parametrize("key", ["taken", "label", "1", "run"])
    def test_rename_refuses_what_a_new_run_would(self, dataset: fo.Dataset, key: str) -> None:
        run_analysis("agreement", dataset)
        run_analysis("agreement", dataset, "taken")
        before = documents(dataset)
        with pytest.raises(InputError, match="run key"):
            kf.rename_run(dataset, "run", key)
        assert documents(dataset) == before
        assert kf.load_run(dataset, "run").stale == ()

    @pytest.mark.parametrize("method", ["copy_fields", "_switch"])
    def test_a_failing_rename_changes_nothing(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, method: str
    ) -> None:
        run_analysis("agreement", dataset)
        before, original = documents(dataset), getattr(renaming, method)

        def failing(*arguments: Any, **options: Any) -> None:
            monkeypatch.undo()
            if method == "copy_fields":
                original(*arguments, **options)
            raise KeyboardInterrupt

        monkeypatch.setattr(renaming, method, failing)
        with pytest.raises(KeyboardInterrupt):
            kf.rename_run(dataset, "run", "other")
        assert documents(dataset) == before
        assert kf.load_run(dataset, "run").stale == ()
        kf.delete_run(dataset, "run")
        assert "run_alpha" not in paths(dataset)

    def test_delete_although_a_field_is_gone(self, dataset: fo.Dataset) -> None:
        run_analysis("agreement", dataset)
        dataset.delete_sample_fields(["bob", "run_alpha"])
        kf.delete_run(dataset, "run")
        assert not [path for path in paths(dataset) if "run" in path]

    def test_a_result_that_is_gone(self, dataset: fo.Dataset) -> None:
        run_analysis("agreement", dataset)
        config = dataset.get_run_info("run").config
        dataset.register_run("run", config, overwrite=True)  # deletes the results
        with pytest.raises(InputError, match="'run': its stored result is gone; delete the run"):
            kf.load_run(dataset, "run")


class Stop(BaseException):
    """As unexpected as an interrupt."""


class TestFailuresWhileWriting:
    @pytest.mark.parametrize(
        ("owner", "method"),
        [
            (life, "declare"),
            (None, "write_values"),
            (fo.core.odm, "bulk_write"),
            (life, "store_results"),
            (life, "set_config"),
            (life, "store_arrays"),
        ],
    )
    @every_analysis
    def test_leave_nothing(
        self,
        dataset: fo.Dataset,
        monkeypatch: pytest.MonkeyPatch,
        owner: Any,
        method: str,
        kind: str,
    ) -> None:
        owner = owner or MODULES[kind]
        before, fields, original = documents(dataset), paths(dataset), getattr(owner, method)

        def failing(*arguments: Any, **options: Any) -> None:
            monkeypatch.undo()
            original(*arguments, **options)  # the harm is done, then it fails
            raise Stop

        monkeypatch.setattr(owner, method, failing)
        with pytest.raises(Stop):
            run_analysis(kind, dataset)
        assert documents(dataset) == before
        assert paths(dataset) == fields
        assert dataset.list_runs() == []

    @pytest.mark.parametrize("share", [0.0, 0.2, 0.7])
    def test_so_does_stopping_it_by_its_progress(self, unchanged: fo.Dataset, share: float) -> None:
        before = documents(unchanged)

        def stop(done: float, _: str) -> None:
            if done >= share:
                raise Stop

        with pytest.raises(Stop):
            run_analysis("agreement", unchanged, progress=stop)
        assert documents(unchanged) == before
        assert unchanged.list_runs() == []

    @pytest.mark.parametrize("options", [{"threshold": 2}, {"similarity": "near"}, {"bootstrap": -1}, {"seed": 0.5}])
    def test_options_that_cannot_be(self, unchanged: fo.Dataset, options: dict[str, Any]) -> None:
        before = documents(unchanged)
        with pytest.raises(InputError, match=next(iter(options))):
            run_analysis("agreement", unchanged, **options)
        assert documents(unchanged) == before
        assert unchanged.list_runs() == []

    def test_one_rater_only(self, unchanged: fo.Dataset) -> None:
        for kind in ANALYSES:
            with pytest.raises(InputError, match=r"at least two raters, got 1 \(ann\)"):
                run_analysis(kind, unchanged, raters=("ann",))
        assert unchanged.list_runs() == []


def remove_first(dataset: fo.Dataset) -> None:
    sample = dataset.skip(3).first()
    sample.bob.detections = sample.bob.detections[1:]
    sample.save()


def reverse(dataset: fo.Dataset) -> None:
    sample = dataset.skip(3).first()
    sample.bob.detections = sample.bob.detections[::-1]
    sample.save()


def remove_all(dataset: fo.Dataset) -> None:
    sample = dataset.skip(3).first()
    sample.bob = None
    sample.save()


def remove_sample(dataset: fo.Dataset) -> None:
    dataset.delete_samples(dataset.skip(3).first())


class TestChangesMeanwhile:
    @pytest.mark.parametrize("change", [remove_first, remove_all, remove_sample])
    @pytest.mark.parametrize("when", ["computing", "writing"])
    def test_are_an_error_and_nothing_is_kept(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, change: Any, when: str
    ) -> None:
        owner, method = (writing, "_stored_ids") if when == "computing" else (fo.core.odm, "bulk_write")
        original, after = getattr(owner, method), {}

        def changed(*arguments: Any, **options: Any) -> Any:
            monkeypatch.undo()
            change(dataset)
            after.update(documents(dataset))
            return original(*arguments, **options)

        monkeypatch.setattr(owner, method, changed)
        with pytest.raises(KalosError, match="change"):
            run_analysis("variations", dataset)
        assert without(documents(dataset), WRITTEN) == without(after, WRITTEN)
        assert documents(dataset) == without(after, WRITTEN)
        assert dataset.list_runs() == []

    def test_of_places_only_are_no_harm_while_computing(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original = writing._stored_ids

        def changed(*arguments: Any) -> Any:
            reverse(dataset)
            return original(*arguments)

        monkeypatch.setattr(writing, "_stored_ids", changed)
        run_analysis("agreement", dataset)
        assert dataset.values("bob.detections.run_unit")[3] == [5, 4]

    def test_of_a_class_are_stale_at_once(self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
        original = writing._stored_ids

        def changed(*arguments: Any) -> Any:
            dataset.limit(1).set_values("ann.detections.label", [["dog"]])
            return original(*arguments)

        monkeypatch.setattr(writing, "_stored_ids", changed)
        run = run_analysis("agreement", dataset)
        assert run.result.image_alpha[0] == 1.0
        assert kf.load_run(dataset, "run").stale == (dataset.first().id,)


def python(code: str, **options: Any) -> str:
    """What another process prints; it sees the same database."""
    program = "import fiftyone as fo, kalos_core.fiftyone as kf\n" + textwrap.dedent(code)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120, **options
    )
    if options.get("check", True) and done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


class TestOtherProcesses:
    def test_a_persistent_data_set_keeps_its_runs(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(persistent=True)
        run_analysis("agreement", dataset)
        run_analysis("variations", dataset, "found")
        printed = python(
            f"""
            dataset = fo.load_dataset({dataset.name!r})
            print(kf.list_runs(dataset), kf.load_run(dataset, "run").result.alpha, kf.load_run(dataset, "found").stale)
            kf.delete_run(dataset, "found")
            kf.compute_agreement(dataset, "theirs", raters=("ann", "bob"))
            """
        )
        with pytest.raises(InputError, match="'theirs' is the key of another run"):
            kf.check_run_key(dataset, "theirs")
        alpha = kf.load_run(dataset, "run").result.alpha
        assert printed == f"['found', 'run'] {alpha} ()\n"
        assert kf.list_runs(dataset) == ["theirs", "run"]

    def test_what_others_change_is_seen(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(persistent=True)
        run_analysis("agreement", dataset)
        kf.calibrate_threshold(dataset, "tuned", raters=RATERS, similarities=["box_iou"])
        assert kf.list_runs(dataset) == ["tuned", "run"]  # nothing is pending in this process
        elsewhere(dataset, lambda there: kf.choose_threshold(there, "tuned", "box_iou", 0.3))
        assert kf.load_metrics(dataset, "tuned").metrics["chosen"] == [{"similarity": "box_iou", "threshold": 0.3}]
        assert kf.default_threshold(dataset, "box_iou") == 0.3
        elsewhere(dataset, lambda there: kf.rename_run(there, "run", "other"))
        assert kf.list_runs(dataset) == ["tuned", "other"]
        assert kf.image_alphas(dataset, "other")[1] == pytest.approx(ALPHAS)
        elsewhere(dataset, lambda there: kf.delete_run(there, "tuned"))
        assert (kf.list_runs(dataset), kf.default_threshold(dataset, "box_iou")) == (["other"], None)

    def test_nothing_is_loaded_again_where_nothing_changed(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run_analysis("agreement", dataset)
        kf.list_runs(dataset)
        monkeypatch.setattr(fo.Dataset, "reload", None)
        assert kf.load_metrics(dataset, "run").key == "run"
        assert kf.list_runs(dataset) == ["run"]

    def test_a_run_loads_nothing_again_and_declares_all_at_once(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where nobody else changed the data set, also right after another run; each costs as much as all its reads."""
        merged, original = [], database.merge_schema
        monkeypatch.setattr(database, "merge_schema", lambda *given: merged.append(original(*given)))
        kf.list_runs(dataset)
        monkeypatch.setattr(fo.Dataset, "reload", None)
        kf.compute_agreement(dataset, "first", raters=RATERS)
        kf.find_variations(dataset, "second", raters=RATERS)
        assert len(merged) == 2
        assert dataset.has_field("first_alpha")
        assert dataset.has_field("ann.detections.second")
        assert kf.list_runs(dataset) == ["second", "first"]

    def test_what_others_changed_before_this_process_noted_a_change_is_seen(self, dataset: fo.Dataset) -> None:
        database.refresh(dataset)
        database.touch(dataset)
        stored, own = internals.database().datasets, {"_id": internals.id_of(dataset)}
        assert internals.changed_at(dataset) == stored.find_one(own)["last_modified_at"]  # nothing to read again
        stored.update_one(own, {"$set": {"info.about": "cats", "last_modified_at": database.now()}})
        database.touch(dataset)
        database.refresh(dataset)
        assert dataset.info == {"about": "cats"}

    def test_what_others_change_while_it_is_computed_is_seen(
        self, make: Callable[..., fo.Dataset], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dataset, original = make(persistent=True), life._register

        def overtaken(*given: Any) -> Any:
            monkeypatch.undo()
            elsewhere(dataset, lambda there: there.add_sample_field("theirs", fo.IntField))
            return original(*given)

        monkeypatch.setattr(life, "_register", overtaken)
        kf.find_variations(dataset, "run", raters=RATERS)
        assert dataset.has_field("theirs")

    @pytest.mark.parametrize("copies", [1, 20])
    def test_no_sample_is_read_or_written_by_a_command_of_its_own(
        self, make: Callable[..., fo.Dataset], copies: int
    ) -> None:
        """What the database carried out for a run, as it says itself: one update a sample, many in a command."""
        dataset = make([sample for _ in range(copies) for sample in make_samples(SCENES)])
        kf.list_runs(dataset)
        stored, samples = internals.database(), internals.collection_of(dataset)
        stored.command("profile", 2)
        try:
            kf.find_variations(dataset, "run", raters=RATERS)
        finally:
            stored.command("profile", 0)
        seen = Counter((entry["op"], entry["ns"]) for entry in stored.system.profile.find())
        stored.system.profile.drop()
        assert 0 < seen.pop(("update", samples.full_name)) <= len(dataset)
        swept = {"remove"}  # what other tests left
        assert sum(count for (name, _), count in seen.items() if name not in swept) <= 46

    def test_what_a_killed_writer_left_is_swept(self, make: Callable[..., fo.Dataset]) -> None:
        dataset = make(persistent=True)
        before, fields = documents(dataset), paths(dataset)

        def writes(there: fo.Dataset) -> None:
            life.store_results = dying
            kf.compute_agreement(there, "run", raters=("ann", "bob"))

        child = begin_elsewhere(dataset, writes)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, but a zombie until it is reaped
        dataset.reload()
        assert dataset.list_runs() == ["run"]
        assert "run_alpha" in paths(dataset)
        assert documents(dataset) != before
        assert kf.list_runs(dataset) == []
        assert child.wait().code == -signal.SIGKILL
        assert dataset.list_runs() == []
        assert documents(dataset) == before
        assert paths(dataset) == fields
        run_analysis("agreement", dataset)

    def test_what_a_living_writer_is_at_is_left_alone(self, dataset: fo.Dataset) -> None:
        seen = []

        def look(share: float, _: str) -> None:
            if share == 1.0:
                seen.append(kf.list_runs(dataset))

        original = of_agreement.write_values

        def watching(*arguments: Any, **options: Any) -> None:
            seen.append(kf.list_runs(dataset))
            with pytest.raises(InputError, match="got 'run'"):
                kf.load_run(dataset, "run")
            with pytest.raises(InputError, match="key of another run"):
                kf.check_run_key(dataset, "run")
            original(*arguments, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(of_agreement, "write_values", watching)
            run_analysis("agreement", dataset, progress=look)
        assert seen == [[], ["run"]]

    def test_a_writer_on_another_machine_is_left_alone(self, dataset: fo.Dataset) -> None:
        writer = {"host": "elsewhere", "pid": 1, "started": 0.0}
        config = dataset.init_run(method="kalos/agreement", status="writing", writer=writer, **NOTHING_WRITTEN)
        dataset.register_run("run", config)
        assert kf.list_runs(dataset) == []
        assert dataset.list_runs() == ["run"]

    @pytest.mark.parametrize("reused", [True, False])
    def test_the_number_of_a_dead_writer(self, dataset: fo.Dataset, reused: bool) -> None:
        gone = subprocess.Popen(["true"])
        gone.wait()
        with writing_now() as now:
            writer = {**now, "started": 1000.0, **({} if reused else {"pid": gone.pid})}
        config = dataset.init_run(method="kalos/agreement", status="writing", writer=writer, **NOTHING_WRITTEN)
        dataset.register_run("run", config)
        assert kf.list_runs(dataset) == []
        assert dataset.list_runs() == []


def test_a_label_drawn_twice_is_two_labels(make: Callable[..., fo.Dataset]) -> None:
    """Several labels that look the same keep their own values."""
    twice = fo.Detections(detections=[detection("cat", CAT), detection("cat", CAT)])
    dataset = make([fo.Sample("/pictures/0.jpg", raters=list(RATERS), ann=twice, bob=detections([("cat", CAT)]))])
    run_analysis("agreement", dataset)
    assert sorted(dataset.values("ann.detections.run_unit")[0]) == [0, 1]
