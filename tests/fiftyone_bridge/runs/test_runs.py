"""Runs write everything under their key, and delete it completely."""

import os
import signal
import subprocess
from typing import Any

import fiftyone as fo
import pytest
from fiftyone import ViewField as F
from pymongo.collection import Collection

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError
from kalos_core.fiftyone import internals
from kalos_core.fiftyone.dataset import document, writing
from kalos_core.fiftyone.kinds.agreement.views import image_alphas
from kalos_core.fiftyone.kinds.calibration.kind import default_threshold
from kalos_core.fiftyone.runs import life, upkeep
from kalos_core.fiftyone.runs.arrays import drop
from kalos_core.fiftyone.runs.keys import RunNames, check_run_key, free_run_key
from kalos_core.fiftyone.runs.table import Run
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
    make_sample,
    make_samples,
    polylines,
    raising,
    stop_at,
    untouched,
    without,
)

NAMES = RunNames("run")
WRITTEN = {*NAMES.of_samples, *NAMES.of_labels}
ANALYSES = {"agreement": kf.compute_agreement, "variations": kf.find_variations}
WRITTEN_UNIT = {"agreement": ("run_unit", UNITS), "variations": ("run", VARIATIONS)}

every_analysis = pytest.mark.parametrize("kind", ANALYSES)


def run_analysis(kind: str, samples: Any, key: str = "run", **options: Any) -> Run:
    return ANALYSES[kind](samples, key, **{"raters": RATERS, **options})


def paths(dataset: fo.Dataset) -> list[str]:
    return list(dataset.get_field_schema(flat=True))


class TestWhatIsWritten:
    def test_alpha_and_units(self, dataset):
        sample, times = dataset.first(), dataset.values("last_modified_at")
        run = run_analysis("agreement", dataset)
        assert run.result.alpha == pytest.approx(MEAN)
        assert dataset.values("run_alpha") == pytest.approx(ALPHAS)  # None, not NaN, where undefined
        assert [dataset.values(f"{name}.detections.run_unit") for name in RATERS] == UNITS
        assert sample["run_alpha"] == 1.0  # loaded samples are updated
        assert sample.ann.detections[0]["run_unit"] == 0
        assert dataset.values("last_modified_at") == times  # no label has changed

    @pytest.mark.parametrize(("make_labels", "union"), [(detections, 1.0), (polylines, 0.95)])
    def test_variations(self, make, make_labels, union):
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

    @pytest.mark.parametrize(("kind", "make_labels"), [("agreement", polylines), ("variations", detections)])
    def test_nothing_else_changes(self, make, kind, make_labels):
        dataset = make(make_samples(SCENES, make_labels))
        dataset.set_values("mine", [{"a": number} for number in range(6)])
        before, fields = documents(dataset), paths(dataset)
        with untouched(dataset):
            run_analysis(kind, dataset)
            assert without(documents(dataset), WRITTEN) == before
            assert [path for path in paths(dataset) if path.split(".")[-1] not in WRITTEN] == fields
            kf.delete_run(dataset, "run")

    @every_analysis
    def test_one_field_for_all_raters(self, make, kind):
        dataset = make(in_one_field(SCENES))
        with untouched(dataset):
            run_analysis(kind, dataset, raters=None, field="marks")
            name, expected = WRITTEN_UNIT[kind]
            both = [(ann or []) + (bob or []) for ann, bob in zip(*expected, strict=True)]
            assert dataset.values(f"marks.detections.{name}") == both
            assert kf.load_run(dataset, "run").stale == ()
            kf.delete_run(dataset, "run")

    def test_two_runs_side_by_side(self, dataset):
        run_analysis("agreement", dataset, "first")
        with untouched(dataset):
            run_analysis("agreement", dataset, "second", threshold=0.4)
            run_analysis("variations", dataset, "third")
            assert dataset.values("second_alpha")[3] == pytest.approx(1 - (2 / 4) / (6 / 12))  # one half is sufficient
            assert kf.list_runs(dataset) == ["third", "second", "first"]
            assert kf.list_runs(dataset, "variations") == ["third"]
            kf.delete_run(dataset, "second")
            kf.delete_run(dataset, "third")
        assert kf.load_run(dataset, "first").result.alpha == pytest.approx(MEAN)

    def test_fields_are_declared_so_that_the_sidebar_can_filter(self, make):
        halves: list[Any] = [("bench", LEFT_HALF)]
        dataset = make(make_samples([*SCENES[:3], {"ann": halves, "bob": [("bench", [10, 10, 38, 19])]}]))
        run_analysis("variations", dataset, "found")
        run_analysis("agreement", dataset, "run")
        assert dataset.bounds("ann.detections.found_similarity") == pytest.approx((0.95, 1))
        assert dataset.count_values("bob.detections.found") == {"correct": 2, "wrong_class": 1}
        schema = dataset.get_field_schema(flat=True)
        assert isinstance(schema["ann.detections.run_unit"], fo.IntField)
        assert isinstance(schema["run_alpha"], fo.FloatField)

    def test_a_reference_gets_nothing(self, make):
        dataset = make(make_samples([{**scene, "gold": [("cat", CAT)]} for scene in SCENES]))
        run_analysis("agreement", dataset, raters=(*RATERS, "gold"), reference="gold")
        assert dataset.values("run_alpha") == pytest.approx(ALPHAS)
        assert not [path for path in paths(dataset) if path.startswith("gold") and path.endswith("run_unit")]

    def test_a_label_drawn_twice_is_two_labels(self, make):
        """Identical labels keep separate values."""
        twice = fo.Detections(detections=[detection("cat", CAT), detection("cat", CAT)])
        dataset = make([make_sample(0, {}, raters=list(RATERS), ann=twice, bob=detections([("cat", CAT)]))])
        run_analysis("agreement", dataset)
        assert sorted(dataset.values("ann.detections.run_unit")[0]) == [0, 1]


VIEWS: list[tuple[str, Any]] = [
    ("agreement", lambda data: data.match(F("bob.detections").length() > 1)),
    ("agreement", lambda data: data.shuffle().limit(3)),
    ("variations", lambda data: data.take(3)),
    ("agreement", lambda data: data.sort_by("filepath", reverse=True).select_fields(["bob", "ann"])),
    ("variations", lambda data: data.filter_labels("ann", F("label") == "cat")),
]


class TestViews:
    @pytest.mark.parametrize(("kind", "make_view"), VIEWS)
    def test_a_run_remembers_its_view(self, dataset, kind, make_view):
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
            assert None not in image_alphas(dataset, "run")[1] or "/pictures/5.jpg" in view.values("filepath")
        assert set(outside.count_values(f"ann.detections.{WRITTEN_UNIT[kind][0]}")) <= {None}

    def test_only_labels_that_were_read(self, dataset):
        view = dataset.filter_labels("bob", F("label") == "bench", only_matches=False)
        run_analysis("agreement", view)
        assert dataset.values("bob.detections.run_unit") == [[None], [None], [], [4, 5], [], None]
        document = dataset._sample_collection.find_one({"filepath": "/pictures/0.jpg"})
        assert "run_unit" not in document["bob"]["detections"][0]
        run_analysis("variations", dataset, "cats", classes=("cat",))
        assert dataset.values("bob.detections.cats") == [["correct"], [None], [], [None, None], [], None]

    def test_the_second_of_filtered_labels_gets_its_own_value(self, make):
        dataset = make(make_samples([{"ann": [("dog", [60, 60, 9, 9]), ("cat", CAT)], "bob": [("cat", CAT)]}]))
        run_analysis("agreement", dataset.filter_labels("ann", F("label") == "cat"))
        assert dataset.values("ann.detections.run_unit") == [[None, 0]]


class TestKeys:
    def test_of_the_wrong_form(self, unchanged):
        refused = dict.fromkeys(["", "1a", "a b", "a.b", "a-b", "class", "None", "$a", None, 3], "a name of letters")
        refused |= dict.fromkeys(["a__b", "a_"], "no underscore at the end and no two in a row")
        refused |= {"_a": "starts with a letter, got '_a'"}
        attributes = ["id", "label", "tags", "mask", "copy", "points", "closed", "confidence", "bounding_box", "index"]
        refused |= {key: f"'{key}' would overwrite the attribute '{key}' of a" for key in [*attributes, "attributes"]}
        for key, message in refused.items():
            with pytest.raises(InputError, match=rf"run key: .*{message}"):
                check_run_key(unchanged, key)
        with pytest.raises(InputError, match="run key"):
            free_run_key(unchanged, "a b")

    def test_is_not_used_twice(self, dataset):
        """This includes keys of other kinds, of FiftyOne's evaluations, or of anything else."""
        dataset.match(F("bob").exists()).evaluate_detections("bob", gt_field="ann", eval_key="ev", progress=False)
        dataset.register_run("foreign", dataset.init_run())
        assert kf.list_runs(dataset) == []
        with pytest.raises(InputError, match="got 'foreign'"):
            kf.delete_run(dataset, "foreign")
        run_analysis("agreement", dataset)
        with untouched(dataset):
            for key in ("run", "ev", "foreign"):
                for kind in ANALYSES:
                    with pytest.raises(InputError, match=f"'{key}' is the key of another run"):
                        run_analysis(kind, dataset, key)

    def test_overwrites_no_label_attribute(self, dataset):
        for suffix, declared in [("", True), ("_similarity", False), ("_match", True), ("_unit", False)]:
            name = f"mine{len(suffix)}{suffix}"
            sample = dataset.first()
            sample.bob.detections[0][name] = 0
            sample.save()
            if declared:
                dataset.add_dynamic_sample_fields()
            assert dataset.has_field(f"bob.detections.{name}") == declared
            for samples in (dataset, dataset.limit(0), dataset.skip(2)):
                with pytest.raises(InputError, match=rf"would overwrite the attribute 'bob\.detections\.{name}'"):
                    check_run_key(samples, name.removesuffix(suffix))

    def test_names_of_two_runs_never_meet(self, dataset):
        for kind, first, second in [
            ("agreement", "a", "a_unit"),
            ("agreement", "b_unit", "b"),
            ("variations", "c_match", "c"),
        ]:
            run_analysis(kind, dataset, first)
            with pytest.raises(InputError, match=f"would overwrite .*the names of the run '{first}'"):
                run_analysis(kind, dataset, second)

    def test_overwrites_no_field_and_the_first_free_one(self, dataset):
        assert free_run_key(dataset, "agreement") == "agreement"
        run_analysis("agreement", dataset, "agreement")
        dataset.add_sample_field("agreement2_alpha", fo.StringField)
        with pytest.raises(InputError, match="'agreement2' would overwrite the field 'agreement2_alpha'"):
            run_analysis("agreement", dataset, "agreement2")
        assert free_run_key(dataset, "agreement") == "agreement3"


class TestDeleteAndRename:
    @every_analysis
    def test_rename(self, dataset, kind):
        with untouched(dataset):
            run = run_analysis(kind, dataset)
            kf.rename_run(dataset, "run", "other")
            assert kf.list_runs(dataset) == ["other"]
            assert not [path for path in paths(dataset) if path.split(".")[-1] in WRITTEN]
            loaded = kf.load_run(dataset, "other")
            assert (loaded.key, loaded.stale) == ("other", ())
            assert loaded.metrics == run.metrics
            name, expected = WRITTEN_UNIT[kind]
            assert dataset.values(f"ann.detections.{name.replace('run', 'other')}") == expected[0]
            check_run_key(dataset, "run")
            kf.delete_run(dataset, "other")

    def test_rename_refuses_what_a_new_run_would(self, dataset):
        run_analysis("agreement", dataset)
        run_analysis("agreement", dataset, "taken")
        with untouched(dataset):
            for key in ("taken", "label", "1", "run"):
                with pytest.raises(InputError, match="run key"):
                    kf.rename_run(dataset, "run", key)
        assert kf.load_run(dataset, "run").stale == ()

    def test_a_failing_rename_changes_nothing(self, dataset, meanwhile):
        run_analysis("agreement", dataset)
        for method, when in (("copy_fields", "after"), ("_switch", "before")):
            meanwhile(upkeep, method, **{when: raising(KeyboardInterrupt())})
            with untouched(dataset), pytest.raises(KeyboardInterrupt):
                kf.rename_run(dataset, "run", "other")
        assert kf.load_run(dataset, "run").stale == ()
        kf.delete_run(dataset, "run")
        assert "run_alpha" not in paths(dataset)

    def test_delete_although_a_field_is_gone(self, dataset):
        run_analysis("agreement", dataset)
        dataset.delete_sample_fields(["bob", "run_alpha"])
        kf.delete_run(dataset, "run")
        assert not [path for path in paths(dataset) if "run" in path]

    def test_a_result_that_is_gone(self, dataset):
        run_analysis("agreement", dataset)
        drop(dataset.get_run_info("run").config.arrays)
        with pytest.raises(InputError, match="'run': its stored result is gone; delete the run"):
            kf.load_run(dataset, "run")


STEPS: list[tuple[str, Any, str]] = [
    ("agreement", life, "declare"),
    ("agreement", life, "write_values"),
    ("variations", life, "write_values"),
    ("variations", Collection, "bulk_write"),
    ("variations", life, "set_config"),
    ("agreement", life, "store_arrays"),
]


class TestFailures:
    def test_while_writing_leave_nothing(self, dataset, meanwhile):
        """Any error, even an interrupt, after the damage is done."""
        for kind, owner, method in STEPS:
            meanwhile(owner, method, after=raising(KeyboardInterrupt()))
            with untouched(dataset), pytest.raises(KeyboardInterrupt):
                run_analysis(kind, dataset)

    def test_so_does_stopping_it_by_its_progress_and_what_is_refused(self, unchanged):
        with untouched(unchanged):
            for share in (0.0, 0.2, 0.7):
                with pytest.raises(KeyboardInterrupt):
                    run_analysis("agreement", unchanged, progress=stop_at(share))
            for name, value in [("threshold", 2), ("similarity", "near"), ("bootstrap", -1), ("seed", 0.5)]:
                with pytest.raises(InputError, match=name):
                    run_analysis("agreement", unchanged, **{name: value})
            for kind in ANALYSES:
                with pytest.raises(InputError, match=r"at least two raters, got 1 \(ann\)"):
                    run_analysis(kind, unchanged, raters=("ann",))


def remove_first(dataset: fo.Dataset) -> None:
    sample = dataset.skip(3).first()
    sample.bob.detections = sample.bob.detections[1:]
    sample.save()


def reverse(dataset: fo.Dataset) -> None:
    sample = dataset.skip(3).first()
    sample.bob.detections = sample.bob.detections[::-1]
    sample.save()


def remove_all(dataset: fo.Dataset) -> None:
    dataset.skip(3).limit(1).set_values("bob", [None])


def remove_sample(dataset: fo.Dataset) -> None:
    dataset.delete_samples(dataset.skip(3).first())


COMPUTED, WRITING = (writing, "_stored_ids"), (Collection, "bulk_write")


class TestChangesMeanwhile:
    @pytest.mark.parametrize(
        ("change", "when"),
        [(remove_first, COMPUTED), (remove_all, COMPUTED), (remove_first, WRITING), (remove_sample, WRITING)],
    )
    def test_are_an_error_and_nothing_is_kept(self, dataset, meanwhile, change, when):
        after: dict[str, Any] = {}
        meanwhile(*when, before=lambda: (change(dataset), after.update(documents(dataset))))
        with pytest.raises(KalosError, match="while this run was computed"):
            run_analysis("variations", dataset)
        assert documents(dataset) == without(after, WRITTEN)
        assert dataset.list_runs() == []

    def test_of_places_only_are_no_harm_while_computing(self, dataset, meanwhile):
        meanwhile(*COMPUTED, before=lambda: reverse(dataset))
        run_analysis("agreement", dataset)
        assert dataset.values("bob.detections.run_unit")[3] == [5, 4]

    def test_of_a_class_are_stale_at_once(self, dataset, meanwhile):
        first = dataset.limit(1)
        meanwhile(*COMPUTED, before=lambda: first.set_values("ann.detections.label", [["dog"]]))
        run = run_analysis("agreement", dataset)
        assert run.result.image_alpha[0] == 1.0
        assert kf.load_run(dataset, "run").stale == (dataset.first().id,)


def register_as_writing(dataset: fo.Dataset, **writer: Any) -> None:
    """Register a run that another process has only begun to write."""
    with writing_now() as now:
        config = {"method": "kalos/agreement", "status": "writing", "fields": [], "folder": None, "arrays": "0" * 24}
        dataset.register_run("run", dataset.init_run(**config, writer={**now, **writer}))


class TestOtherProcesses:
    def test_changes_of_others_are_seen(self, make):
        dataset = make(persistent=True)
        run_analysis("agreement", dataset)
        kf.calibrate_threshold(dataset, "tuned", raters=RATERS, similarities=["box_iou"], bootstrap=0)
        assert kf.list_runs(dataset) == ["tuned", "run"]  # nothing is pending in this process
        elsewhere(dataset, lambda there: kf.compute_agreement(there, "theirs", raters=RATERS))
        with pytest.raises(InputError, match="'theirs' is the key of another run"):
            check_run_key(dataset, "theirs")
        elsewhere(dataset, lambda there: kf.delete_run(there, "theirs"))
        elsewhere(dataset, lambda there: kf.choose_threshold(there, "tuned", "box_iou", 0.3))
        assert kf.load_metrics(dataset, "tuned").metrics["chosen"]["box_iou"]["threshold"] == 0.3
        assert default_threshold(dataset, "box_iou") == 0.3
        elsewhere(dataset, lambda there: kf.rename_run(there, "run", "other"))
        assert kf.list_runs(dataset) == ["tuned", "other"]
        assert image_alphas(dataset, "other")[1] == pytest.approx(ALPHAS)
        elsewhere(dataset, lambda there: kf.delete_run(there, "tuned"))
        assert (kf.list_runs(dataset), default_threshold(dataset, "box_iou")) == (["other"], None)

    def test_changes_of_others_before_a_noted_change_are_seen(self, dataset):
        document.refresh(dataset)
        document.touch(dataset)
        stored, own = internals.database().datasets, {"_id": internals.id_of(dataset)}
        assert internals.changed_at(dataset) == stored.find_one(own)["last_modified_at"]  # nothing to read again
        stored.update_one(own, {"$set": {"info.about": "cats", "last_modified_at": document.now()}})
        document.touch(dataset)
        document.refresh(dataset)
        assert dataset.info == {"about": "cats"}

    def test_changes_of_others_during_the_computation_are_seen(self, make, meanwhile):
        dataset = make(persistent=True)

        def act() -> None:
            elsewhere(dataset, lambda there: there.add_sample_field("theirs", fo.IntField))

        meanwhile(life, "register_run", before=act)
        kf.find_variations(dataset, "run", raters=RATERS)
        assert dataset.has_field("theirs")

    def test_leftovers_of_a_killed_writer_are_removed(self, make):
        dataset = make(persistent=True)

        def writes(there: fo.Dataset) -> None:
            life.store_arrays = dying
            kf.compute_agreement(there, "run", raters=("ann", "bob"))

        with untouched(dataset):
            before = documents(dataset)
            child = begin_elsewhere(dataset, writes)
            os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # dead, but a zombie until it is reaped
            dataset.reload()
            assert dataset.list_runs() == ["run"]
            assert "run_alpha" in paths(dataset)
            assert documents(dataset) != before
            assert kf.list_runs(dataset) == []
            assert child.wait().code == -signal.SIGKILL
        run_analysis("agreement", dataset)

    def test_the_work_of_a_living_writer_is_not_touched(self, dataset, meanwhile):
        seen = []

        def look() -> None:
            seen.append(kf.list_runs(dataset))
            for call, message in ((kf.load_run, "got 'run'"), (check_run_key, "key of another run")):
                with pytest.raises(InputError, match=message):
                    call(dataset, "run")

        meanwhile(life, "write_values", before=look)
        run_analysis("agreement", dataset, progress=lambda share, _: share == 1 and seen.append(kf.list_runs(dataset)))
        assert seen == [[], ["run"]]

    def test_whether_a_writer_lives(self, dataset):
        """Not if its number belongs to no process, or to another one; processes of other machines are left alone."""
        gone = subprocess.Popen(["true"])
        gone.wait()
        for writer, left in [
            ({"started": 1000.0}, []),
            ({"started": 1000.0, "pid": gone.pid}, []),
            ({"host": "elsewhere", "pid": 1, "started": 0.0}, ["run"]),
        ]:
            register_as_writing(dataset, **writer)
            assert kf.list_runs(dataset) == []
            assert dataset.list_runs() == left
