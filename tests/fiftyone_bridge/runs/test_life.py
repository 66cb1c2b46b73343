"""Whatever happens to the process, the database or the data set: a run and a load are whole, or gone."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import fiftyone as fo
import pandas as pd
import pytest
from bson import ObjectId
from fiftyone.core.odm import get_db_conn
from pymongo.collection import Collection
from pymongo.errors import AutoReconnect, OperationFailure

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, KalosWarning
from kalos_core.fiftyone.dataset.database import delete_fields
from kalos_core.fiftyone.dataset.info import update_info
from kalos_core.fiftyone.deciding import decide, results
from kalos_core.fiftyone.importing import life as loads
from kalos_core.fiftyone.importing import objects
from kalos_core.fiftyone.kinds.agreement import compute, rerating
from kalos_core.fiftyone.kinds.calibration import compute as calibration
from kalos_core.fiftyone.runs import arranging, explaining, life, renaming, stored
from kalos_core.fiftyone.runs.writers import writing_now
from tests.fiftyone_bridge.conftest import Make
from tests.fiftyone_bridge.elsewhere import dying, kill
from tests.fiftyone_bridge.scenes import RATERS, documents
from tests.fiftyone_bridge.stacks import small

ROWS = pd.DataFrame([{"item": "0.jpg", "rater": rater, "label": "x"} for rater in ("dan", "eve")])


def stored_files(dataset: fo.Dataset) -> int:
    return int(get_db_conn()["kalos.files"].count_documents({"metadata.dataset": dataset._doc.id}))


class TestKilled:
    @pytest.mark.parametrize("where", ["delete_fields", "delete_arrays"])
    def test_while_deleting_a_run(self, make: Make, where: str) -> None:
        """Half a run is never listed: whoever looks next finishes."""
        dataset = make(persistent=True)
        before, files = documents(dataset), stored_files(dataset)
        kf.compute_agreement(dataset, "run", raters=RATERS)
        kill(dataset, lambda there: kf.delete_run(there, "run"), (life, where))
        dataset.reload()
        assert dataset.list_runs() == ["run"]
        assert kf.list_runs(dataset) == []
        assert dataset.list_runs() == []
        assert documents(dataset) == before
        assert stored_files(dataset) == files

    def test_an_index_that_the_database_got_back_goes_without_its_field(self, make: Make) -> None:
        """Where the database died in mid of a deletion, too, the field may be gone and its index be back."""
        dataset = make(persistent=True)
        kf.compute_agreement(dataset, "run", raters=RATERS)
        samples = dataset._sample_collection
        indexes = samples.index_information()
        (lost,) = (name for name in indexes if "run_alpha" in name)
        kill(dataset, lambda there: kf.delete_run(there, "run"), (life, "_delete_files"))
        assert lost not in samples.index_information()
        samples.create_index(indexes[lost]["key"], name=lost)
        samples.update_many({}, {"$set": {"run_alpha": 1.0}})
        dataset.reload()
        assert not dataset.has_field("run_alpha")
        assert kf.list_runs(dataset) == []
        assert lost not in samples.index_information()
        assert not any("run_alpha" in sample for sample in documents(dataset).values())

    def test_while_an_order_is_written(self, make: Make) -> None:
        """A field without a value goes, and the run is as it was; one with values stays, and goes with the run."""
        dataset = make(persistent=True)
        run = kf.compute_agreement(dataset, "run", raters=RATERS)
        for where, is_there in (("_write", False), ("reload_samples", True)):
            kill(dataset, lambda there: kf.next_to_rate(there, "run", 2), (rerating, where))
            dataset.reload()
            assert dataset.has_field("run_next")
            assert kf.list_runs(dataset) == ["run"]
            assert dataset.has_field("run_next") == is_there
            assert ("run_next" in dataset.get_run_info("run").config.fields) == is_there
            assert "renaming" not in dataset.info.get("kalos", {})
        assert kf.load_run(dataset, "run").metrics == run.metrics
        kf.delete_run(dataset, "run")
        assert not any("run_next" in sample for sample in documents(dataset).values())

    def test_before_the_folder_of_a_run_is_made(self, make: Make) -> None:
        """That of the data set is there already, and goes if nothing else is in it."""
        dataset = make(small(), persistent=True)
        home = life.folder_of(dataset)
        original = os.mkdir

        def one(path: Any, *more: Any) -> None:
            original(path, *more)
            if Path(path) == home:
                dying()

        def make_it(there: fo.Dataset) -> None:
            os.mkdir = one
            kf.compute_pixel_agreement(there, "run", raters=RATERS)

        kill(dataset, make_it)
        assert home.exists()
        assert kf.list_runs(dataset) == []
        assert not home.exists()

    @pytest.mark.parametrize(("module", "where"), [(loads, "write_documents"), (objects, "store_raters")])
    def test_while_loading_into_samples_that_are_there(
        self, make: Make, tmp_path: Path, module: ModuleType, where: str
    ) -> None:
        """The next load says so, puts everything back, and loads."""
        dataset = make(persistent=True)
        before, path = documents(dataset), tmp_path / "labels.json"
        path.write_text(json.dumps(labels_of("cid")), encoding="utf-8")
        kill(dataset, lambda there: kf.load_raters(path, there, canvas=tmp_path / "canvas"), (module, where))
        dataset.reload()
        assert len(dataset) == 7
        assert dataset.has_field("cid")
        with pytest.warns(KalosWarning, match="was cut off half-way; what it left is removed first"):
            done = kf.load_raters(path, dataset, canvas=tmp_path / "canvas")
        assert (done.added_samples, len(dataset)) == (1, 7)
        assert kf.rater_fields(dataset) == {"cid": "cid"}
        own = {key: document for key, document in documents(dataset).items() if key in before}
        assert [document["raters"] for document in own.values()] == [
            [*document["raters"], *(["cid"] if document["filepath"].endswith("/0.jpg") else [])]
            for document in before.values()
        ]
        assert not dataset.tags
        assert not dataset.count_sample_tags()

    def test_while_loading_a_new_data_set(self, make: Make, tmp_path: Path) -> None:
        other, path = make(persistent=True), tmp_path / "labels.json"
        path.write_text(json.dumps(labels_of("cid")), encoding="utf-8")
        kill(other, lambda _: kf.load_raters(path, "half", canvas=tmp_path / "canvas"), (loads, "write_documents"))
        assert fo.dataset_exists("half")
        with pytest.warns(KalosWarning, match="was cut off half-way"):
            done = kf.load_raters(path, "half", canvas=tmp_path / "canvas", persistent=False)
        assert done.added_samples == len(done.dataset) == 2


def labels_of(rater: str) -> dict[str, Any]:
    """One cat on an image that is there, and an image that is not."""
    return {
        "images": [
            {"id": 0, "file_name": "0.jpg", "width": 100, "height": 100},
            {"id": 1, "file_name": "new.jpg", "width": 100, "height": 100},
        ],
        "categories": [{"id": 0, "name": "cat"}],
        "annotations": [{"id": 0, "image_id": 0, "rater_id": rater, "category_id": 0, "bbox": [1, 1, 9, 9]}],
    }


class TestAtTheSameTime:
    def test_of_two_runs_of_one_key_the_database_refuses_one(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The other began after this one had looked whether the key is free."""
        original, kept = life._register, []

        def overtaken(*arguments: Any) -> None:
            monkeypatch.undo()
            kept.append(kf.find_variations(fo.load_dataset(dataset.name), "run", raters=RATERS))
            original(*arguments)

        monkeypatch.setattr(life, "_register", overtaken)
        with pytest.raises(InputError, match="'run' is the key of another run"):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        assert kf.list_runs(dataset, "variations") == ["run"]
        assert kf.load_run(dataset, "run").metrics == kept[0].metrics
        assert not dataset.has_field("run_alpha")

    def test_what_this_process_gave_up_is_dead_though_it_lives(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = documents(dataset)

        def failing(*_: Any) -> None:
            raise OSError("no answer")

        monkeypatch.setattr(life, "store_arrays", failing)
        monkeypatch.setattr(life, "remove_run", failing)
        with pytest.raises(OSError, match="no answer"):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        monkeypatch.undo()
        assert dataset.list_runs() == ["run"]
        assert kf.list_runs(dataset) == []
        assert documents(dataset) == before

    def test_files_of_no_run_go_with_the_next_run(self, dataset: fo.Dataset) -> None:
        files = stored_files(dataset)
        with life.writing_now() as writer:
            life.store_arrays(dataset, {}, writer, str(ObjectId()))
        assert stored_files(dataset) == files + 1
        kf.compute_agreement(dataset, "run", raters=RATERS)
        assert stored_files(dataset) == files + 1
        kf.delete_run(dataset, "run")
        assert stored_files(dataset) == files

    def test_runs_that_somebody_renames_are_neither_renamed_nor_deleted(self, dataset: fo.Dataset) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS)
        with writing_now() as writer:
            update_info(dataset, renaming={"writer": dict(writer), "moves": [], "is_done": False})
            with pytest.raises(InputError, match="another process is changing runs"):
                kf.rename_run(dataset, "run", "other")
            with pytest.raises(InputError, match="another process is changing runs"):
                kf.delete_run(dataset, "run")
            assert kf.list_runs(dataset) == ["run"]
        kf.rename_run(dataset, "run", "other")  # the other one is dead now, and had not begun
        assert kf.list_runs(dataset) == ["other"]
        assert "renaming" not in dataset.info.get("kalos", {})

    @pytest.mark.parametrize("what", ["rename", "delete"])
    def test_a_run_that_somebody_was_quicker_with(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, what: str
    ) -> None:
        """After it was looked up to be deleted, and before that is noted: a renamed run stays under its new key."""
        alpha, original = kf.compute_agreement(dataset, "run", raters=RATERS).result.alpha, life.server

        def overtaken() -> Any:
            monkeypatch.undo()
            kf.rename_run(dataset, "run", "other") if what == "rename" else kf.delete_run(dataset, "run")
            return original()

        monkeypatch.setattr(life, "server", overtaken)
        if what == "delete":
            kf.delete_run(dataset, "run")
            assert kf.list_runs(dataset) == []
            return
        with pytest.raises(InputError, match="another process is changing runs"):
            kf.delete_run(dataset, "run")
        assert kf.list_runs(dataset) == ["other"]
        assert kf.load_run(dataset, "other").result.alpha == alpha

    def test_what_somebody_else_remembers_stays(self, dataset: fo.Dataset) -> None:
        entry = {"$set": {"info.kalos.raters": {"ann": "Ann"}}}
        get_db_conn().datasets.update_one({"_id": dataset._doc.id}, entry)  # this process has not seen it
        update_info(dataset, rater_facts=[{"rater": "Ann"}])
        assert dataset.info["kalos"] == {"raters": {"ann": "Ann"}, "rater_facts": [{"rater": "Ann"}]}
        update_info(dataset, raters={}, rater_facts=[])
        assert dataset.info == {}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file to load."""
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(labels_of("cid")), encoding="utf-8")
    return path


class TestFullDisk:
    @pytest.mark.parametrize(
        ("error", "expected"),
        [
            (OSError(errno.ENOSPC, "No space left", "a.png"), r"the disk is full \(a.png\); make room, then try again"),
            (OperationFailure("no room", explaining.OUT_OF_DISK_SPACE), "the disk of the database is full"),
            (AutoReconnect("connection closed"), "the database did not answer for a moment"),
        ],
    )
    def test_it_is_said_in_words(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, error: Exception, expected: str
    ) -> None:
        before = documents(dataset)

        def failing(*_: Any) -> None:
            raise error

        monkeypatch.setattr(life, "store_arrays", failing)
        with pytest.raises(KalosError, match=f"{expected}.*; nothing of this run is kept"):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        assert dataset.list_runs() == []
        assert documents(dataset) == before

    @pytest.mark.parametrize(
        ("where", "act", "outcome"),
        [
            ((loads, "_claim"), lambda data: kf.load_label_table(ROWS, data), "nothing is loaded"),
            ((arranging, "refresh"), lambda data: kf.arrange_app(data), "the labels are there"),
            ((results, "update_info"), lambda data: kf.hand_over(data, "run", "arbiter"), "nothing is handed over"),
            (
                (calibration, "store_choice"),
                lambda data: kf.choose_threshold(data, "sure", "box_iou", 0.4),
                "the threshold is stored",
            ),
        ],
    )
    def test_by_all_that_write(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, where: Any, act: Callable[[Any], Any], outcome: str
    ) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
        kf.calibrate_threshold(dataset, "sure", raters=RATERS, bootstrap=0)

        def failing(*_: Any, **__: Any) -> None:
            def fails(*_: Any) -> None:
                raise OperationFailure("no room", explaining.OUT_OF_DISK_SPACE)

            if where[1] == "store_choice":  # it is stored, and what follows finds no room
                monkeypatch.setattr(calibration, "load_metrics", fails)
            else:
                fails()

        monkeypatch.setattr(*where, failing)
        with pytest.raises(KalosError, match=f"the disk of the database is full; make room.*; {outcome}"):
            act(dataset)

    def test_by_an_analysis_of_which_all_runs_are_there(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original = life.set_config

        def failing(samples: Any, keys: Any, **entries: Any) -> None:
            if entries == {"status": "complete"}:
                raise OperationFailure("no room", explaining.OUT_OF_DISK_SPACE)
            original(samples, keys, **entries)

        monkeypatch.setattr(life, "set_config", failing)
        with pytest.raises(KalosError, match=r"the disk of the database is full.*; nothing of this run is kept"):
            kf.analyse(dataset, "run", raters=RATERS, kinds=["agreement", "variations"])
        assert kf.list_runs(dataset) == []

    def test_after_all_is_loaded(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The note of the load is gone, and what the database should have been told next was not: the labels stay."""

        def failing(*_: Any) -> None:
            raise OperationFailure("no room", explaining.OUT_OF_DISK_SPACE)

        monkeypatch.setattr(loads, "reload_samples", failing)
        with pytest.raises(KalosError, match=r"the disk of the database is full.*; the load is complete"):
            kf.load_raters(path, "made by a load", canvas=path.parent / "canvas")
        assert fo.load_dataset("made by a load").values("cid.detections.label") == [["cat"], []]
        fo.delete_dataset("made by a load")


class TestRestarted:
    @pytest.mark.parametrize("given", ["made by a load", None])
    def test_a_data_set_that_was_just_being_made(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, given: str | None
    ) -> None:
        """An index of it may be lost, or its record, about which FiftyOne raises a `ValueError`."""
        before = fo.list_datasets()
        monkeypatch.setattr(loads, "server", lambda: "the one before")
        with pytest.raises(KalosError, match="the database was restarted meanwhile"):
            kf.load_raters(path, given, canvas=path.parent / "canvas")
        assert fo.list_datasets() == before

        def failing(*_: Any, **__: Any) -> None:
            raise ValueError("Failed to update document")

        monkeypatch.setattr(fo, "Dataset", failing)
        with pytest.raises(KalosError, match="the database was restarted meanwhile"):
            loads._make("made by a load", False)

    def test_a_data_set_that_the_database_did_not_finish(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        before = fo.list_datasets()

        def failing(collection: Any, *_: Any, **__: Any) -> None:
            if collection.name.startswith("samples."):
                raise AutoReconnect("connection closed")

        monkeypatch.setattr(Collection, "create_index", failing)
        with pytest.raises(KalosError, match=r"the database did not answer for a moment.*; no data set was made"):
            kf.load_raters(path, "made by a load", canvas=path.parent / "canvas")
        assert fo.list_datasets() == before

    def test_an_arrangement(self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
        """FiftyOne does not wait until it is on disk."""
        monkeypatch.setattr(arranging, "server", lambda: "the one before")
        with pytest.raises(KalosError, match="the database was restarted meanwhile, and may have lost the last"):
            kf.arrange_app(dataset)

    def test_fields_that_are_shown_and_were_lost_before_they_were_there(self, dataset: fo.Dataset) -> None:
        """The App was told to show them, and the database lost that they were made."""
        dataset.add_sample_field("run_alpha", fo.FloatField)
        kf.arrange_app(dataset)
        dataset.app_config.active_fields.paths.append("run_alpha")
        dataset.app_config.sidebar_groups[0].paths.append("run_lost")
        dataset.app_config.active_fields.paths.append("run_lost")
        dataset.save()
        delete_fields(dataset, ["run_alpha", "run_lost"])
        dataset.reload()
        assert not {"run_alpha", "run_lost"} & set(dataset.app_config.active_fields.paths)
        assert "run_lost" not in dataset.app_config.sidebar_groups[0].paths
        assert not dataset.has_field("run_alpha")

    def test_a_load_is_not_complete(self, dataset: fo.Dataset, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What the database said was written may be lost, so nobody says that it is there."""
        before, original, first = documents(dataset), loads.server, iter(["the one before"])
        monkeypatch.setattr(loads, "server", lambda: next(first, None) or original())
        with pytest.raises(KalosError, match="the database was restarted meanwhile, and may have lost the last"):
            kf.load_raters(path, dataset, canvas=path.parent / "canvas")
        assert documents(dataset) == before
        assert not dataset.has_field("cid")
        assert dataset.info == {}

    def test_a_load_is_not_undone(self, dataset: fo.Dataset, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """What the database said was taken back may be there again, so the next load looks once more."""
        monkeypatch.setattr(loads, "server", lambda: "the one before")
        with pytest.raises(KalosError, match="the database was restarted meanwhile, and may have lost the last"):
            kf.load_raters(path, dataset, canvas=path.parent / "canvas")
        assert "load" in dataset.info["kalos"]
        monkeypatch.undo()
        with pytest.warns(KalosWarning, match="was cut off half-way"):
            assert kf.load_raters(path, dataset, canvas=path.parent / "canvas").added_samples == 1
        assert "load" not in dataset.info["kalos"]

    def test_an_error_that_comes_of_it_is_said_in_words(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Such as that there is no field, which the database said that it had made."""

        def failing(*_: Any) -> None:
            raise ValueError("field 'run_alpha' does not exist")

        monkeypatch.setattr(life, "declare", failing)
        with pytest.raises(ValueError, match="does not exist"):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        original, first = explaining.server, iter(["the one before"])
        monkeypatch.setattr(explaining, "server", lambda: next(first, None) or original())
        with pytest.raises(KalosError, match=r"the database was restarted meanwhile.*; nothing of this run is kept"):
            kf.compute_agreement(dataset, "run", raters=RATERS)


class TestWhileRenaming:
    @pytest.fixture
    def decided(self, dataset: fo.Dataset) -> tuple[str, list[str]]:
        """A sample with a unit in dispute, and its labels."""
        kf.compute_agreement(dataset, "run", raters=RATERS)
        sample_id = kf.next_dispute(dataset, "run")
        assert sample_id is not None
        return sample_id, list(kf.disputed_units(dataset, "run", sample_id)[0].labels)

    def test_nobody_decides_what_is_lost_with_the_old_fields(
        self, dataset: fo.Dataset, decided: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        original, (sample_id, labels) = renaming._switch, decided

        def deciding(*arguments: Any) -> None:
            with pytest.raises(InputError, match="another process is renaming or deleting 'run'; wait"):
                kf.decide(dataset, "run", labels, "none", sample_id=sample_id)
            original(*arguments)

        monkeypatch.setattr(renaming, "_switch", deciding)
        kf.rename_run(dataset, "run", "other")
        assert kf.decisions(dataset, "other") == []
        kf.decide(dataset, "other", labels, "none", sample_id=sample_id)
        assert len(kf.decisions(dataset, "other")) == 1

    @pytest.mark.parametrize("what", ["rename", "delete"])
    def test_a_decision_that_came_too_late_is_said_to_be_lost(
        self, dataset: fo.Dataset, decided: tuple[str, list[str]], monkeypatch: pytest.MonkeyPatch, what: str
    ) -> None:
        original, (sample_id, labels) = decide.add, decided

        def late(*arguments: Any) -> Any:
            done = original(*arguments)
            kf.rename_run(dataset, "run", "other") if what == "rename" else kf.delete_run(dataset, "run")
            return done

        monkeypatch.setattr(decide, "add", late)
        with pytest.raises(KalosError, match="somebody renamed or deleted 'run' meanwhile"):
            kf.decide(dataset, "run", labels, "none", sample_id=sample_id)

    def test_decisions_are_not_read_in_part(self, dataset: fo.Dataset, decided: tuple[str, list[str]]) -> None:
        kf.decide(dataset, "run", decided[1], "none", sample_id=decided[0])
        read = iter(decide.stored_decisions(dataset, "run"))
        next(read)
        kf.rename_run(dataset, "run", "other")
        with pytest.raises(InputError, match=r"expected one of .* got 'run'"):
            list(read)

    def test_nobody_renames_or_deletes_a_run_that_is_given_an_order(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS)
        original = rerating._write

        def meanwhile(*arguments: Any) -> None:
            for changes in (lambda: kf.rename_run(dataset, "run", "other"), lambda: kf.delete_run(dataset, "run")):
                with pytest.raises(InputError, match="another process is changing runs"):
                    changes()
            original(*arguments)

        monkeypatch.setattr(rerating, "_write", meanwhile)
        kf.next_to_rate(dataset, "run", 2)
        assert kf.list_runs(dataset) == ["run"]
        assert len(kf.view_of_next(dataset, "run"))
        monkeypatch.undo()
        kf.delete_run(dataset, "run")
        assert not any("run_next" in sample for sample in documents(dataset).values())

    def test_somebody_else_who_sweeps_leaves_the_run(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Between two steps of it the run is listed under its new key, and does not know that yet."""
        alpha, original = kf.compute_agreement(dataset, "run", raters=RATERS).result.alpha, renaming._take_over

        def swept(*arguments: Any) -> None:
            life.sweep(dataset)
            original(*arguments)

        monkeypatch.setattr(renaming, "_take_over", swept)
        kf.rename_run(dataset, "run", "other")
        assert kf.list_runs(dataset) == ["other"]
        assert kf.load_run(dataset, "other").result.alpha == alpha

    @pytest.mark.parametrize("where", ["copy_fields", "_switch"])
    def test_attributes_go_with_a_label_field_that_somebody_renames(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch, where: str
    ) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS)
        original = getattr(renaming, where)

        def changed(*arguments: Any, **options: Any) -> None:
            original(*arguments, **options)
            dataset.rename_sample_field("ann", "anna")

        monkeypatch.setattr(renaming, where, changed)
        kf.rename_run(dataset, "run", "other")
        paths = dataset.get_field_schema(flat=True)
        assert "anna.detections.other_unit" in paths
        assert not [path for path in paths if "run" in path]
        kf.delete_run(dataset, "other")
        assert not [path for path in dataset.get_field_schema(flat=True) if "other" in path]
        assert not any("_unit" in str(document) for document in documents(dataset))


def rename_field(dataset: fo.Dataset) -> None:
    dataset.rename_sample_field("ann", "anna")


def delete_data(dataset: fo.Dataset) -> None:
    fo.load_dataset(dataset.name).delete()


def files_of(identity: ObjectId) -> dict[str, int]:
    """How many files in each bucket, and documents of runs, there are of a data set."""
    database, wanted = get_db_conn(), {"metadata.dataset": identity}
    files = {bucket: database[f"{bucket}.files"].count_documents(wanted) for bucket in ("kalos", "fs")}
    return files | {"runs": database.runs.count_documents({"_dataset_id": identity})}


class TestChangedMeanwhile:
    @pytest.mark.parametrize(
        ("change", "expected"),
        [
            (rename_field, r"were renamed meanwhile|were changed|is gone"),
            (delete_data, r"was deleted meanwhile"),
        ],
    )
    def test_is_said_in_words(
        self, make: Make, monkeypatch: pytest.MonkeyPatch, change: Callable[[fo.Dataset], None], expected: str
    ) -> None:
        dataset, original = make(), compute.write_values

        def changed(*arguments: Any, **options: Any) -> None:
            change(dataset)
            original(*arguments, **options)

        monkeypatch.setattr(compute, "write_values", changed)
        with pytest.raises(KalosError, match=expected):
            kf.compute_agreement(dataset, "run", raters=RATERS)
        if not dataset.deleted:
            assert dataset.list_runs() == []
            assert not [path for path in dataset.get_field_schema(flat=True) if "run" in path]

    @pytest.mark.parametrize("where", ["declare", "store_arrays", "store_results", "set_config"])
    @pytest.mark.parametrize("act", ["compute_agreement", "analyse"])
    def test_nothing_stays_of_a_data_set_that_was_deleted(
        self, make: Make, monkeypatch: pytest.MonkeyPatch, where: str, act: str
    ) -> None:
        """Its last run finds that the data set is gone, at whatever it does next, and takes its files along."""
        dataset, original, calls = make(), getattr(life, where), []
        dataset_id = dataset._doc.id

        def changed(*arguments: Any, **options: Any) -> Any:
            calls.append(where)
            if len(calls) == (2 if act == "analyse" else 1):
                delete_data(dataset)
            return original(*arguments, **options)

        monkeypatch.setattr(life, where, changed)
        with pytest.raises(KalosError, match=r"was deleted (by somebody else )?meanwhile"):
            getattr(kf, act)(dataset, "run", raters=RATERS)
        assert files_of(dataset_id) == {"kalos": 0, "fs": 0, "runs": 0}

    def test_no_file_stays_of_a_data_set_that_was_deleted(self, make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        dataset, original = make(small()), life.store_arrays
        folder = life.folder_of(dataset)

        def changed(*arguments: Any) -> None:
            assert any(folder.rglob("*.png"))
            delete_data(dataset)
            original(*arguments)

        monkeypatch.setattr(life, "store_arrays", changed)
        with pytest.raises(KalosError, match="was deleted meanwhile; nothing of this run is kept"):
            kf.compute_pixel_agreement(dataset, "run", raters=RATERS)
        assert not folder.exists()

    def test_no_record_stays_of_a_data_set_that_was_deleted_while_its_run_was(
        self, make: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dataset = make(persistent=True)
        kf.compute_agreement(dataset, "run", raters=RATERS)
        identity, record = dataset._doc.id, get_db_conn().runs.find_one({"_id": dataset._doc.runs["run"].id})
        original = life._delete_files

        def changed(*arguments: Any) -> None:
            original(*arguments)
            dataset.delete()
            get_db_conn().runs.replace_one({"_id": record["_id"]}, record, upsert=True)  # FiftyOne passed over it

        monkeypatch.setattr(life, "_delete_files", changed)
        with pytest.raises(KalosError, match="was deleted meanwhile"):
            kf.delete_run(dataset, "run")
        assert files_of(identity) == {"kalos": 0, "fs": 0, "runs": 0}

    def test_no_record_stays_where_the_data_set_is_renamed_while_its_run_is_deleted(
        self, make: Make, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        dataset = make(persistent=True)
        kf.compute_agreement(dataset, "run", raters=RATERS)
        identity, original = dataset._doc.id, life._delete_files

        def changed(*arguments: Any) -> None:
            original(*arguments)
            names = {"name": "renamed", "slug": "renamed"}  # by another process: this one has not seen it
            get_db_conn().datasets.update_one({"_id": identity}, {"$set": names})

        monkeypatch.setattr(life, "_delete_files", changed)
        with pytest.raises(KalosError, match="was renamed to 'renamed' meanwhile"):
            kf.delete_run(dataset, "run")
        renamed = fo.load_dataset("renamed")
        assert kf.list_runs(renamed) == []
        assert files_of(identity) == {"kalos": 0, "fs": 0, "runs": 0}
        renamed.delete()

    def test_a_copy_keeps_its_runs_when_the_first_is_deleted(self, make: Make) -> None:
        first, other = make(), make()
        alpha = kf.compute_agreement(first, "run", raters=RATERS).result.alpha
        copy = first.clone()
        first.delete()
        kf.compute_agreement(other, "run", raters=RATERS)  # sweeps
        assert kf.load_run(copy, "run").result.alpha == alpha
        copy.delete()

    def test_files_of_a_deleted_data_set_go_with_the_next_run(self, make: Make) -> None:
        first, other = make(), make()
        kf.compute_agreement(first, "run", raters=RATERS)
        identity = first._doc.id
        record = get_db_conn().runs.find_one({"_dataset_id": identity})
        first.delete()
        assert files_of(identity) == {"kalos": 1, "fs": 0, "runs": 0}  # FiftyOne deletes what is its own
        get_db_conn().runs.insert_one(record)  # but for what it finds in no list
        kf.compute_agreement(other, "run", raters=RATERS)
        assert files_of(identity) == {"kalos": 0, "fs": 0, "runs": 0}

    def test_a_run_that_was_deleted_cannot_be_described(
        self, dataset: fo.Dataset, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        kf.compute_agreement(dataset, "run", raters=RATERS)
        original = stored.set_config

        def too_late(*arguments: Any, **entries: Any) -> None:
            get_db_conn().runs.delete_one({"_id": dataset._doc.runs["run"].id})
            original(*arguments, **entries)

        monkeypatch.setattr(stored, "set_config", too_late)
        with pytest.raises(KalosError, match="run key: 'run' was deleted by somebody else meanwhile"):
            kf.describe_run(dataset, "run", note="look")

    def test_fields_are_known_before_anybody_named_the_raters(self, make: Make) -> None:
        dataset = make()
        update_info(dataset, raters={})

        @explaining.explained(dataset)
        def fails() -> None:
            rename_field(dataset)
            raise ValueError("no such field")

        with pytest.raises(KalosError, match="label fields are gone or were renamed meanwhile: 'ann'; run again"):
            fails()
