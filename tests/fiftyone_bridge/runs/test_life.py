"""Whatever happens to the process, the database or the data set: a run or a load is complete, or removed."""

from __future__ import annotations

import errno
import json
from dataclasses import replace
from pathlib import Path
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
from kalos_core.fiftyone.dataset import document
from kalos_core.fiftyone.dataset.document import update_info
from kalos_core.fiftyone.deciding import decide, results
from kalos_core.fiftyone.importing import life as loads
from kalos_core.fiftyone.importing import objects
from kalos_core.fiftyone.kinds.agreement import rerating
from kalos_core.fiftyone.kinds.agreement.rerating import view_of_next
from kalos_core.fiftyone.kinds.calibration import compute as calibration
from kalos_core.fiftyone.runs import arranging, explaining, life, stored, upkeep
from kalos_core.fiftyone.runs.stored import describe_run
from kalos_core.fiftyone.runs.table import Run
from kalos_core.fiftyone.runs.writers import writing_now
from tests.fiftyone_bridge.elsewhere import dying, kill
from tests.fiftyone_bridge.scenes import RATERS, documents, raising, untouched
from tests.fiftyone_bridge.stacks import small
from tests.tiers import first

ROWS = pd.DataFrame([{"item": "0.jpg", "rater": rater, "label": "x"} for rater in ("dan", "eve")])
FULL = OperationFailure("no room", explaining.OUT_OF_DISK_SPACE)
NO_ROOM = "the disk of the database is full"
RESTARTED = "the database was restarted meanwhile"
LOST = f"{RESTARTED}, and may have lost the last"
CUT_OFF = "was interrupted"
SOMEBODY = "another process is changing runs"


def agree(dataset: fo.Dataset, key: str = "run") -> Run:
    return kf.compute_agreement(dataset, key, raters=RATERS, bootstrap=0)


def stored_files(dataset: fo.Dataset) -> int:
    return int(get_db_conn()["kalos.files"].count_documents({"metadata.dataset": dataset._doc.id}))


def served(monkeypatch: pytest.MonkeyPatch, module: Any, *, first_only: bool = True) -> None:
    """Let the database report that it is another one: at the first request, or always."""
    original, answers = module.server, iter(["the one before"])
    monkeypatch.setattr(module, "server", lambda: next(answers, original() if first_only else "the one before"))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a file to load: one cat on an existing image, and a missing image."""
    size = {"width": 100, "height": 100}
    content = {
        "images": [{"id": 0, "file_name": "0.jpg", **size}, {"id": 1, "file_name": "new.jpg", **size}],
        "categories": [{"id": 0, "name": "cat"}],
        "annotations": [{"id": 0, "image_id": 0, "rater_id": "cid", "category_id": 0, "bbox": [1, 1, 9, 9]}],
    }
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def load(path: Path, target: Any, **options: Any) -> Any:
    return kf.load_raters(path, target, canvas=path.parent / "canvas", **options)


class TestKilled:
    @pytest.mark.parametrize("where", first(["delete_fields", "delete_arrays"]))
    def test_while_deleting_a_run(self, make, where):
        """An incomplete run is never listed: the next access completes its deletion."""
        dataset = make(persistent=True)
        files = stored_files(dataset)
        with untouched(dataset):
            agree(dataset)
            kill(dataset, lambda there: kf.delete_run(there, "run"), (upkeep, where))
            dataset.reload()
            assert dataset.list_runs() == ["run"]
            assert kf.list_runs(dataset) == []
        assert stored_files(dataset) == files

    def test_an_index_that_the_database_got_back_goes_without_its_field(self, make):
        """If the database crashes during a deletion, the field may be gone and its index be back."""
        dataset = make(persistent=True)
        agree(dataset)
        samples = dataset._sample_collection
        indexes = samples.index_information()
        (lost,) = (name for name in indexes if "run_alpha" in name)
        kill(dataset, lambda there: kf.delete_run(there, "run"), (upkeep, "delete_arrays"))
        assert lost not in samples.index_information()
        samples.create_index(indexes[lost]["key"], name=lost)
        samples.update_many({}, {"$set": {"run_alpha": 1.0}})
        dataset.reload()
        assert not dataset.has_field("run_alpha")
        assert kf.list_runs(dataset) == []
        assert lost not in samples.index_information()
        assert not any("run_alpha" in sample for sample in documents(dataset).values())

    def test_before_the_folder_of_a_run_is_made(self, make):
        """The folder of the data set exists, and is removed if nothing else is in it."""
        dataset = make(small, persistent=True)
        home = upkeep.folder_of(dataset)
        original = Path.mkdir

        def one(path: Path, *args: Any, **options: Any) -> None:
            original(path, *args, **options)
            if path == home:
                dying()

        def make_it(there: fo.Dataset) -> None:
            Path.mkdir = one
            kf.compute_pixel_agreement(there, "run", raters=RATERS)

        kill(dataset, make_it)
        assert home.exists()
        assert kf.list_runs(dataset) == []
        assert not home.exists()

    @pytest.mark.parametrize("where", first([(objects, "store_raters"), (loads, "write_documents")]))
    def test_while_loading_into_samples_that_are_there(self, make, path, where):
        """The next load reports it, restores everything, and loads."""
        dataset = make(persistent=True)
        before = documents(dataset)
        kill(dataset, lambda there: load(path, there), where)
        dataset.reload()
        assert len(dataset) == 7
        assert dataset.has_field("cid")
        with pytest.warns(KalosWarning, match=f"{CUT_OFF}; its partial data is removed first"):
            done = load(path, dataset)
        assert (done.added_samples, len(dataset)) == (1, 7)
        assert kf.rater_fields(dataset) == {"cid": "cid"}
        own = {key: document for key, document in documents(dataset).items() if key in before}
        assert [document["raters"] for document in own.values()] == [
            [*document["raters"], *(["cid"] if document["filepath"].endswith("/0.jpg") else [])]
            for document in before.values()
        ]
        assert not dataset.tags
        assert not dataset.count_sample_tags()

    def test_while_loading_a_new_data_set(self, make, path):
        kill(make(persistent=True), lambda _: load(path, "half"), (loads, "write_documents"))
        assert fo.dataset_exists("half")
        with pytest.warns(KalosWarning, match=CUT_OFF):
            done = load(path, "half", persistent=False)
        assert done.added_samples == len(done.dataset) == 2


class TestAtTheSameTime:
    def test_of_two_runs_of_one_key_the_database_refuses_one(self, dataset, meanwhile):
        """The other run began after this one had checked that the key is free."""
        kept: list[Run] = []

        def other() -> None:
            kept.append(kf.find_variations(fo.load_dataset(dataset.name), "run", raters=RATERS))

        meanwhile(life, "register_run", before=other)
        with pytest.raises(InputError, match="'run' is the key of another run"):
            agree(dataset)
        assert kf.list_runs(dataset, "variations") == ["run"]
        assert kf.load_run(dataset, "run").metrics == kept[0].metrics
        assert not dataset.has_field("run_alpha")

    def test_claims_that_this_process_gave_up_count_as_dead(self, dataset, meanwhile):
        for name in ("store_arrays", "remove_run"):
            meanwhile(life, name, before=raising(OSError("no answer")))
        with untouched(dataset):
            with pytest.raises(OSError, match="no answer"):
                agree(dataset)
            assert dataset.list_runs() == ["run"]
            assert kf.list_runs(dataset) == []

    def test_files_of_no_run_go_with_the_next_run(self, dataset):
        files = stored_files(dataset)
        with writing_now() as writer:
            life.store_arrays(dataset._doc.id, {}, writer, str(ObjectId()))
        assert stored_files(dataset) == files + 1
        agree(dataset)
        assert stored_files(dataset) == files + 1
        kf.delete_run(dataset, "run")
        assert stored_files(dataset) == files

    def test_runs_being_renamed_are_neither_renamed_nor_deleted(self, dataset):
        agree(dataset)
        with writing_now() as writer:
            update_info(dataset, renaming={"writer": dict(writer), "moves": [], "is_done": False})
            for act in (lambda: kf.rename_run(dataset, "run", "other"), lambda: kf.delete_run(dataset, "run")):
                with pytest.raises(InputError, match=SOMEBODY):
                    act()
            assert kf.list_runs(dataset) == ["run"]
        kf.rename_run(dataset, "run", "other")  # the other one is dead now, and had not begun
        assert kf.list_runs(dataset) == ["other"]
        assert "renaming" not in dataset.info.get("kalos", {})

    def test_a_run_that_another_user_wrote_first(self, dataset, meanwhile):
        """Between looking it up for deletion and recording that: a renamed run stays under its new key."""
        alpha = agree(dataset).result.alpha
        meanwhile(upkeep, "journaled", before=lambda: kf.rename_run(dataset, "run", "other"))
        with pytest.raises(InputError, match=SOMEBODY):
            kf.delete_run(dataset, "run")
        assert kf.list_runs(dataset) == ["other"]
        assert kf.load_run(dataset, "other").result.alpha == alpha
        meanwhile(upkeep, "journaled", before=lambda: kf.delete_run(dataset, "other"))
        kf.delete_run(dataset, "other")
        assert kf.list_runs(dataset) == []

    def test_facts_stored_by_another_process_stay(self, dataset):
        entry = {"$set": {"info.kalos.raters": {"ann": "Ann"}}}
        get_db_conn().datasets.update_one({"_id": dataset._doc.id}, entry)  # without the knowledge of this process
        facts = [{"rater": "Ann", "person": "Ann", "session": "2", "classes": None, "is_local": False}]
        update_info(dataset, rater_facts=facts)
        assert dataset.info["kalos"] == {"raters": {"ann": "Ann"}, "rater_facts": facts}
        update_info(dataset, raters={}, rater_facts=[])
        assert dataset.info == {}


class TestFullDisk:
    def test_it_is_said_in_words(self, dataset, meanwhile):
        for error, expected in [
            (OSError(errno.ENOSPC, "No space left", "a.png"), r"the disk is full \(a.png\); make room, then try again"),
            (FULL, NO_ROOM),
            (AutoReconnect("connection closed"), "the database did not answer for a moment"),
        ]:
            meanwhile(life, "store_arrays", before=raising(error))
            with untouched(dataset), pytest.raises(KalosError, match=f"{expected}.*; nothing of this run is kept"):
                agree(dataset)

    def test_by_all_that_write(self, dataset, meanwhile):
        agree(dataset)
        kf.calibrate_threshold(dataset, "sure", raters=RATERS, bootstrap=0)
        for owner, name, act, outcome in [
            (loads, "claim", lambda: kf.load_label_table(ROWS, dataset), "nothing is loaded"),
            (arranging, "refresh", lambda: kf.arrange_app(dataset), "the labels are there"),
            (results, "update_info", lambda: kf.hand_over(dataset, "run", "arbiter"), "nothing is handed over"),
            (  # it is stored, and the next write finds no space
                calibration,
                "load_metrics",
                lambda: kf.choose_threshold(dataset, "sure", "box_iou", 0.4),
                "the threshold is stored",
            ),
        ]:
            call = 2 if name == "load_metrics" else 1
            meanwhile(owner, name, before=raising(FULL), call=call)
            with pytest.raises(KalosError, match=f"{NO_ROOM}; make room.*; {outcome}"):
                act()

    def test_after_all_is_loaded(self, path, meanwhile):
        """The record of the load is gone, and the next write to the database was lost: the labels stay."""
        meanwhile(loads, "reload_samples", before=raising(FULL))
        with pytest.raises(KalosError, match=rf"{NO_ROOM}.*; the load is complete"):
            load(path, "made by a load")
        assert fo.load_dataset("made by a load").values("cid.detections.label") == [["cat"], []]
        fo.delete_dataset("made by a load")


class TestRestarted:
    @pytest.mark.parametrize("given", ["made by a load", None])
    def test_a_data_set_that_was_just_being_made(self, dataset, path, monkeypatch, given):
        """An index of it may be lost, or its record, for which FiftyOne raises a `ValueError`."""
        served(monkeypatch, loads, first_only=False)
        with untouched(dataset), pytest.raises(KalosError, match=RESTARTED):
            load(path, given)
        monkeypatch.setattr(fo, "Dataset", raising(ValueError("Failed to update document")))
        with pytest.raises(KalosError, match=RESTARTED):
            loads._make("made by a load", False)

    def test_a_data_set_that_the_database_did_not_finish(self, dataset, path, monkeypatch):
        def failing(collection: Any, *_: Any, **__: Any) -> None:
            if collection.name.startswith("samples."):
                raise AutoReconnect("connection closed")

        monkeypatch.setattr(Collection, "create_index", failing)
        message = r"the database did not answer for a moment.*; no data set was made"
        with untouched(dataset), pytest.raises(KalosError, match=message):
            load(path, "made by a load")

    def test_a_load_is_not_complete(self, dataset, path, monkeypatch):
        """Confirmed writes may be lost, so the load is not reported as complete."""
        before = documents(dataset)
        served(monkeypatch, loads)
        with pytest.raises(KalosError, match=LOST):
            load(path, dataset)
        assert documents(dataset) == before
        assert not dataset.has_field("cid")
        assert dataset.info == {}

    def test_a_load_is_not_undone(self, dataset, path, monkeypatch):
        """Confirmed deletions may be undone, so the next load checks again."""
        served(monkeypatch, loads, first_only=False)
        with pytest.raises(KalosError, match=LOST):
            load(path, dataset)
        assert "load" in dataset.info["kalos"]
        monkeypatch.undo()
        with pytest.warns(KalosWarning, match=CUT_OFF):
            assert load(path, dataset).added_samples == 1
        assert "load" not in dataset.info["kalos"]

    def test_an_error_that_comes_of_it_is_said_in_words(self, dataset, monkeypatch):
        """For example that a field does not exist, although the database had confirmed its creation."""
        monkeypatch.setattr(life, "declare", raising(ValueError("field 'run_alpha' does not exist")))
        with pytest.raises(ValueError, match="does not exist"):
            agree(dataset)
        monkeypatch.setattr(life, "declare", raising(ValueError("field 'run_alpha' does not exist")))
        served(monkeypatch, explaining)
        with pytest.raises(KalosError, match=rf"{RESTARTED}.*; nothing of this run is kept"):
            agree(dataset)


class TestWhileRenaming:
    @pytest.fixture
    def decided(self, dataset: fo.Dataset) -> dict[str, Any]:
        """Return a unit in dispute, and a decision about it."""
        agree(dataset)
        sample_id = kf.next_dispute(dataset, "run")
        labels = list(kf.disputed_units(dataset, "run", sample_id)[0].labels)
        return {"labels": labels, "decision": "none", "sample_id": sample_id}

    def test_decisions_about_deleted_fields_are_refused(self, dataset, decided, meanwhile):
        def deciding() -> None:
            with pytest.raises(InputError, match="another process is renaming or deleting 'run'; wait"):
                kf.decide(dataset, "run", **decided)

        meanwhile(upkeep, "_switch", before=deciding)
        kf.rename_run(dataset, "run", "other")
        assert kf.decisions(dataset, "other") == []
        kf.decide(dataset, "other", **decided)
        assert len(kf.decisions(dataset, "other")) == 1

    @pytest.mark.parametrize("act", [lambda of: kf.rename_run(of, "run", "other"), lambda of: kf.delete_run(of, "run")])
    def test_a_decision_that_came_too_late_is_said_to_be_lost(self, dataset, decided, meanwhile, act):
        meanwhile(decide, "add", after=lambda: act(dataset))
        with pytest.raises(KalosError, match="another process renamed or deleted 'run' meanwhile"):
            kf.decide(dataset, "run", **decided)

    def test_decisions_are_not_read_in_part(self, dataset, decided):
        kf.decide(dataset, "run", **decided)
        read = iter(decide.stored_decisions(dataset, "run"))
        next(read)
        kf.rename_run(dataset, "run", "other")
        with pytest.raises(InputError, match=r"expected one of .* got 'run'"):
            list(read)

    def test_an_order_is_written_on_no_run_that_is_gone(self, dataset, meanwhile):
        agree(dataset)
        meanwhile(rerating, "_write", before=lambda: kf.rename_run(dataset, "run", "other"))
        with pytest.raises(KalosError, match="another process renamed or deleted 'run' meanwhile"):
            kf.next_to_rate(dataset, "run", 2, write=True)
        assert not any("run_next" in sample for sample in documents(dataset).values())
        kf.next_to_rate(dataset, "other", 2, write=True)
        assert len(view_of_next(dataset, "other")) == 2

    def test_another_process_that_cleans_up_leaves_the_run(self, dataset, meanwhile):
        """Between two of its steps, the run is listed under its new key, which it does not know yet."""
        alpha = agree(dataset).result.alpha
        meanwhile(upkeep, "_take_over", before=lambda: upkeep.sweep(dataset))
        kf.rename_run(dataset, "run", "other")
        assert kf.list_runs(dataset) == ["other"]
        assert kf.load_run(dataset, "other").result.alpha == alpha

    @pytest.mark.parametrize("where", ["copy_fields", "_switch"])
    def test_attributes_follow_a_renamed_label_field(self, dataset, meanwhile, where):
        agree(dataset)
        meanwhile(upkeep, where, after=lambda: rename_field(dataset))
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
    """Count the files in each bucket, and documents of runs, of a data set."""
    database, wanted = get_db_conn(), {"metadata.dataset": identity}
    files = {bucket: database[f"{bucket}.files"].count_documents(wanted) for bucket in ("kalos", "fs")}
    return files | {"runs": database.runs.count_documents({"_dataset_id": identity})}


NOTHING = {"kalos": 0, "fs": 0, "runs": 0}


class TestChangedMeanwhile:
    def test_a_field_that_was_renamed_is_said_in_words(self, dataset, meanwhile):
        meanwhile(life, "write_values", before=lambda: rename_field(dataset))
        with pytest.raises(KalosError, match=r"or renamed meanwhile|changed|was deleted"):
            agree(dataset)
        assert dataset.list_runs() == []
        assert not [path for path in dataset.get_field_schema(flat=True) if "run" in path]

    @pytest.mark.parametrize(
        ("act", "owner", "where"),
        [
            ("compute_agreement", life, "write_values"),
            ("compute_agreement", life, "declare"),
            ("analyse", life, "store_arrays"),
            ("compute_agreement", life, "store_arrays"),
            ("analyse", life, "set_config"),
        ],
    )
    def test_nothing_stays_of_a_data_set_that_was_deleted(self, make, meanwhile, act, owner, where):
        """Its last run finds that the data set is gone, at its next step, and removes its files."""
        dataset = make()
        dataset_id = dataset._doc.id
        meanwhile(owner, where, before=lambda: delete_data(dataset), call=2 if act == "analyse" else 1)
        with pytest.raises(KalosError, match=r"was deleted (by another process )?meanwhile"):
            getattr(kf, act)(dataset, "run", raters=RATERS)
        assert files_of(dataset_id) == NOTHING

    def test_an_index_makes_no_collection_of_a_data_set_that_another_process_deleted(self, make, meanwhile):
        dataset, stored = make(), get_db_conn()
        own = {"_id": dataset._doc.id}

        def deleted() -> None:
            stored.datasets.delete_one(own)
            dataset._sample_collection.drop()

        meanwhile(life, "add_index", before=deleted)
        with pytest.raises(KalosError, match="was deleted meanwhile"):
            agree(dataset)
        assert dataset._sample_collection_name not in stored.list_collection_names()

    def test_no_file_stays_of_a_data_set_that_was_deleted(self, make, meanwhile):
        dataset = make(small)
        folder = upkeep.folder_of(dataset)

        def act() -> None:
            assert any(folder.rglob("*.png"))
            delete_data(dataset)

        meanwhile(life, "store_arrays", before=act)
        with pytest.raises(KalosError, match="was deleted meanwhile"):
            kf.compute_pixel_agreement(dataset, "run", raters=RATERS)
        assert not folder.exists()

    def test_no_record_stays_of_a_data_set_that_was_deleted_or_renamed_while_its_run_was_deleted(self, make, meanwhile):
        dataset, other, runs = make(persistent=True), make(persistent=True), get_db_conn().runs
        for each in (dataset, other):
            agree(each)
        identity, record = dataset._doc.id, runs.find_one({"_id": dataset._doc.runs["run"].id})

        def deleted() -> None:
            dataset.delete()
            runs.replace_one({"_id": record["_id"]}, record, upsert=True)  # FiftyOne left it

        meanwhile(upkeep, "delete_arrays", after=deleted)
        with pytest.raises(KalosError, match="was deleted meanwhile"):
            kf.delete_run(dataset, "run")
        assert files_of(identity) == NOTHING

        names = {"name": "renamed", "slug": "renamed"}  # by another process, without the knowledge of this one
        own = {"_id": other._doc.id}
        meanwhile(upkeep, "delete_arrays", after=lambda: get_db_conn().datasets.update_one(own, {"$set": names}))
        kf.delete_run(other, "run")
        renamed = fo.load_dataset("renamed")
        assert kf.list_runs(renamed) == []
        assert files_of(own["_id"]) == NOTHING
        renamed.delete()

    def test_files_of_a_deleted_data_set_go_with_the_next_run_and_a_copy_keeps_its_own(self, make):
        first, other = make(), make()
        alpha = agree(first).result.alpha
        copy, identity = first.clone(), first._doc.id
        record = get_db_conn().runs.find_one({"_dataset_id": identity})
        first.delete()
        assert files_of(identity) == {"kalos": 1, "fs": 0, "runs": 0}  # FiftyOne deletes its own files
        get_db_conn().runs.insert_one(record)  # except those that it finds in no list
        agree(other)  # cleans up
        assert kf.load_run(copy, "run").result.alpha == alpha
        copy.delete()
        agree(other, "more")
        assert files_of(identity) == NOTHING

    def test_a_copy_keeps_the_files_of_a_deleted_run(self, make):
        dataset = make(small, persistent=True)
        kf.compute_pixel_agreement(dataset, "run", raters=RATERS)
        copy, masks = dataset.clone(), [Path(path) for path in dataset.values("run_rater_count.map_path") if path]
        kf.delete_run(dataset, "run")
        agreed = kf.compute_pixel_agreement(dataset, "other", raters=RATERS)  # cleans up
        assert kf.load_run(copy, "run").result.mean_f1 == agreed.result.mean_f1
        assert all(path.exists() for path in masks)
        kf.delete_run(copy, "run")
        kf.delete_run(dataset, "other")
        upkeep.sweep(dataset)
        assert not any(path.exists() for path in masks)
        assert stored_files(dataset) == 0

    def test_a_run_under_two_keys_is_deleted_under_both(self, make):
        dataset = make()
        kf.analyse(dataset, "run", kinds=["agreement"], raters=RATERS)
        entry = {"runs.copy": dataset._doc.runs["run"].id, "last_modified_at": document.now()}
        get_db_conn().datasets.update_one({"_id": dataset._doc.id}, {"$set": entry})
        assert set(kf.list_runs(dataset)) == {"run", "copy"}
        kf.delete_run(dataset, "run")
        assert kf.list_runs(dataset) == []
        assert stored_files(dataset) == 0

    def test_a_view_that_holds_no_sample_anymore_is_named(self, make):
        dataset = make()
        dataset.tag_samples("in")
        kf.compute_agreement(dataset.match_tags("in"), "run", raters=RATERS, bootstrap=0)
        dataset.untag_samples("in")
        with pytest.raises(InputError, match="run 'run': expected at least one sample in its view, got none"):
            kf.load_run(dataset, "run")

    @pytest.mark.parametrize("stage", ['{"_cls": "fiftyone.core.stages.Unknown", "kwargs": []}', "{"])
    def test_a_view_that_cannot_be_built_is_named(self, make, stage):
        run = replace(agree(make()), stages=[stage])
        with pytest.raises(InputError, match=r"expected a view of stages that FiftyOne knows, got .*; compute the"):
            run.view  # noqa: B018

    def test_files_of_operators_stay(self, make):
        dataset = make()
        report = upkeep.folder_of(dataset) / "files" / "report.html"
        report.parent.mkdir(parents=True)
        report.touch()
        agree(dataset)
        upkeep.sweep(dataset)
        assert report.exists()

    @pytest.mark.parametrize("folder", ["..", ".", "files", "link"])
    def test_a_damaged_record_deletes_no_other_folder(self, make, tmp_path, folder):
        dataset, own = make(), tmp_path / "own.txt"
        agree(dataset)
        home = upkeep.folder_of(dataset)
        (home / "files").mkdir(parents=True)
        own.touch()
        (home / "link").symlink_to(tmp_path)
        entry = {"$set": {"config.folder": f"{home}/{folder}"}}
        get_db_conn().runs.update_one({"_id": dataset._doc.runs["run"].id}, entry)
        kf.delete_run(dataset, "run")
        assert (home / "files").exists()
        assert own.exists()

    def test_a_run_that_was_deleted_cannot_be_described(self, dataset, meanwhile):
        agree(dataset)
        record = {"_id": dataset._doc.runs["run"].id}
        meanwhile(stored, "set_config", before=lambda: get_db_conn().runs.delete_one(record))
        with pytest.raises(KalosError, match="run key: 'run' was deleted by another process meanwhile"):
            describe_run(dataset, "run", note="look")
