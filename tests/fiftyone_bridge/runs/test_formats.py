"""Runs of another version or with damaged records: listed, refused with a message, deleted and replaced."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
from bson import ObjectId, json_util

import kalos_core.fiftyone as kf
from kalos_core import InputError, KalosError, KalosWarning, __version__
from kalos_core.fiftyone.dataset import document
from kalos_core.fiftyone.dataset.formats import FORMAT, SEAL, Record, sealed
from kalos_core.fiftyone.internals import collection_of, database, id_of
from kalos_core.fiftyone.runs.stored import count_changes, describe_run, find_analysis
from kalos_core.fiftyone.runs.writers import writing_now
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.tiers import extended

Document = dict[str, Any]
Place = tuple[str, ...]

BEFORE = Path(__file__).parent / "before_formats.json.gz"
"""Database content of runs that were stored before they had a format."""
GARBAGE: tuple[Any, ...] = (5, "x", [1, {}], {"a": {"b": 1}}, None)
HARMLESS = ("metadata", "uploadDate")
"""Keys of a run's file that are used only for cleanup, so that it loads without them."""
READERS: tuple[Callable[..., Any], ...] = (kf.load_run, count_changes)


def agree(dataset: fo.Dataset) -> Any:
    return kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)


@pytest.fixture
def two(make: Any) -> fo.Dataset:
    """Return two runs, one of which will be damaged."""
    dataset: fo.Dataset = make(lively(2), persistent=True)
    kf.find_variations(dataset, "other", raters=RATERS)
    agree(dataset)
    return dataset


def stored(dataset: fo.Dataset, key: str = "run") -> Document:
    found: Document = database().runs.find_one({"_id": database().datasets.find_one(id_of(dataset))["runs"][key]})
    return found


def replace(found: Document) -> None:
    """Overwrite the document of a run, without the knowledge of this process."""
    database().runs.replace_one({"_id": found["_id"]}, found)
    document._OWN.clear()


def places(found: Any, at: Place = ()) -> Iterator[Place]:
    """Yield every stored key, at any depth."""
    for name, value in found.items() if isinstance(found, dict) else ():
        yield (*at, name)
        yield from places(value, (*at, name))


def damaged(found: Document, at: Place, value: Any = None, *, removed: bool = False) -> Document:
    """Return a document with one key removed or changed."""
    whole = copy.deepcopy(found)
    inner = whole
    for name in at[:-1]:
        inner = inner[name]
    del inner[at[-1]]
    if not removed:
        inner[at[-1]] = value
    return whole


def sealed_anew(found: Document) -> Document:
    """Return a document whose seals fit its record, as a program stores it that changed the record on purpose."""
    record = {name: value for name, value in found["config"].items() if name != SEAL}
    return {**found, "config": sealed(record, found.get("view_stages"))}


def damages(found: Document) -> list[tuple[Place, Document]]:
    """Return the document with each key removed, and changed to another type, in turn."""
    made = []
    for number, at in enumerate(at for at in places(found) if at != ("_id",)):
        garbage = [value for value in GARBAGE if not isinstance(value, type(_at(found, at)))]
        made += [(at, damaged(found, at, removed=True)), (at, damaged(found, at, garbage[number % len(garbage)]))]
    return made


def _at(found: Any, at: Place) -> Any:
    for name in at:
        found = found[name]
    return found


def assert_usable(dataset: fo.Dataset) -> None:
    """Check that all but one run works, and that this one loads completely or is refused with a message."""
    runs = {run.key: run for run in kf.list_runs(dataset, info=True)}
    assert set(runs) == {"run", "other"}
    run = runs["run"]
    assert [analysis.key for analysis in kf.list_analyses(dataset)][-1:] == (["other"] if run.unreadable else ["run"])
    assert kf.load_metrics(dataset, "other").settings == runs["other"].settings
    for read in READERS:
        if run.unreadable:
            with pytest.raises(InputError, match=r"run 'run' cannot be read: .*; delete it and recompute it"):
                read(dataset, "run")
        else:
            read(dataset, "run")


def carrying(dataset: fo.Dataset, key: str = "run") -> list[str]:
    """Return everything that is left of a run: fields and attributes, indexes, its document and its file."""
    samples, own = collection_of(dataset), id_of(dataset)
    found = [path for path in dataset.get_field_schema(flat=True) if key in path]
    found += [name for name in samples.index_information() if key in name]
    found += [str(sample["_id"]) for sample in samples.find() if f"{key}_" in str(sample)]
    runs, listed = database().runs, database().datasets.find_one(own)["runs"]
    found += [str(run["_id"]) for run in runs.find({"_dataset_id": own}) if run["_id"] not in listed.values()]
    files = {str(file["_id"]) for file in database()["kalos.files"].find({"metadata.dataset": own})}
    return found + sorted(files - {stored(dataset, other)["config"]["arrays"] for other in listed})


def assert_replaceable(dataset: fo.Dataset) -> None:
    """Check that the rest can be deleted without a trace, and that the run can be created again."""
    kf.delete_run(dataset, "run")
    assert carrying(dataset) == []
    agree(dataset)
    assert kf.load_run(dataset, "run").stale == ()


class TestDamaged:
    def test_every_key_of_a_record(self, two):
        """For each key, the other runs work, and so does this one, or a message says why not."""
        whole = stored(two)
        tried = damages(whole)
        assert len(tried) > 150
        unreadable = []
        for at, found in tried:
            replace(found)
            assert_usable(two)
            if "run" not in kf.list_runs(two, "agreement"):
                unreadable.append(at)
        harmless = {("_dataset_id",), ("key",), ("version",), ("results_meta",), ("config", "cls"), ("config", "type")}
        assert {at for at, _ in tried} - set(unreadable) == harmless

    @pytest.mark.parametrize("value", GARBAGE)
    def test_entries_of_another_type_that_are_sealed_anew(self, two, value):
        whole = stored(two)
        for name in Record.__annotations__:
            replace(sealed_anew(damaged(whole, ("config", name), value)))
            with suppress(InputError):
                kf.load_run(two, "run")
            assert "other" in [run.key for analysis in kf.list_analyses(two) for run in analysis.runs.values()]

    @pytest.mark.parametrize("part", [pytest.param(0, marks=extended), pytest.param(1, marks=extended), 2])
    def test_each_is_deleted_without_a_trace_and_made_anew(self, two, part):
        count = len(damages(stored(two)))
        numbers = range(part, count, 2) if part < 2 else range(0, count, 24)
        for number in numbers:
            replace(damages(stored(two))[number][1])
            assert_replaceable(two)

    @pytest.mark.parametrize("how", ["no record", "no document", "no run", "results of nobody"])
    def test_runs_named_by_a_list(self, two, how):
        found = stored(two)
        if how == "no document":
            database().runs.delete_one({"_id": found["_id"]})
            document._OWN.clear()
        else:
            more = {"config": 5} if how == "no record" else {"config": {"a": 1}} if how == "no run" else {}
            replace({**found, **more, "results": ObjectId()})
        if how == "no run":  # another program's run, which is ignored
            assert kf.list_runs(two) == ["other"]
            with pytest.raises(InputError, match="got 'run'"):
                kf.delete_run(two, "run")
            return
        assert_usable(two)
        assert_replaceable(two)

    @pytest.mark.parametrize("seal", [dict, sealed_anew])
    def test_a_rater_whose_field_a_damaged_record_names_stays(self, two, seal):
        before, found = two.values("ann.detections.id"), stored(two)
        more = [*found["config"]["fields"], "ann", "ann.detections.label"]
        replace(seal(damaged(found, ("config", "fields"), more)))
        assert_replaceable(two)
        assert two.values("ann.detections.id") == before

    def test_every_key_of_the_file_of_a_run(self, two):
        """Arrays are loaded unchanged, or reported as damaged; the run can be deleted normally."""
        files = database()["kalos.files"], database()["kalos.chunks"]
        name = ObjectId(stored(two)["config"]["arrays"])
        expected = kf.load_run(two, "run").metrics
        for stored_in, own in zip(files, ({"_id": name}, {"files_id": name}), strict=True):
            whole = stored_in.find_one(own)
            for at, found in damages(whole):
                stored_in.delete_one({"_id": whole["_id"]})
                stored_in.insert_one(found)
                with (
                    nullcontext()
                    if at[0] in HARMLESS
                    else pytest.raises(InputError, match="its stored result is damaged")
                ):
                    assert kf.load_run(two, "run").metrics == expected
                assert "run" in kf.list_runs(two)
                stored_in.delete_one({"_id": found["_id"]})
                stored_in.insert_one(whole)
        files[0].delete_one({"_id": name})
        with pytest.raises(InputError, match="its stored result is gone; delete the run and compute it again"):
            kf.load_run(two, "run")
        assert_replaceable(two)


class TestOtherVersions:
    @pytest.fixture
    def before(self) -> fo.Dataset:
        """Return an analysis and a single run as stored before formats."""
        found = json_util.loads(gzip.decompress(BEFORE.read_bytes()))
        for name, documents in found.items():
            database()[name].insert_many(documents)
        return fo.load_dataset(found["datasets"][0]["name"])

    def test_runs_without_a_format(self, before):
        assert set(kf.list_runs(before)) == {"first", "first_variations", "tuned"}
        assert {run.unreadable for run in kf.list_runs(before, info=True)} == {
            f"an unknown version wrote it in an unknown format, and this version, {__version__}, reads format {FORMAT}"
        }
        assert (kf.list_runs(before, "agreement"), kf.list_analyses(before)) == ([], [])
        for act in (kf.load_run, lambda *run: describe_run(*run, note="look"), lambda *run: kf.rename_run(*run, "b")):
            with pytest.raises(InputError, match=r"run 'tuned' cannot be read: an unknown version wrote it"):
                act(before, "tuned")
        kf.delete_run(before, "first")
        assert kf.list_runs(before) == ["tuned"]
        assert carrying(before, "first") == []
        made = kf.analyse(before, "first", kinds=["agreement", "variations"], raters=RATERS)
        assert find_analysis(before, "first").runs.keys() == made.runs.keys()
        kf.delete_run(before, "tuned")
        assert carrying(before, "tuned") == []

    @pytest.mark.parametrize("more", [{}, {"status": "writing"}, {"method": "kalos/telepathy"}])
    def test_a_newer_one_is_named(self, two, more):
        found = stored(two)
        newer = {"format": FORMAT + 1, "version": "9.9.0", **more}
        replace({**found, "config": {"cls": "a.b.C", "kind": 7, **found["config"], **newer}})
        if "status" in more:  # as a newer version writes it: another process, which is dead
            assert kf.list_runs(two) == ["other"]
            assert carrying(two) == []
            return
        (run,) = (run for run in kf.list_runs(two, info=True) if run.key == "run")
        reason = (
            f"version 9.9.0 wrote it in format {FORMAT + 1}, and this version, {__version__}, reads format {FORMAT}"
        )
        assert (run.unreadable, run.title) == (reason, "Unreadable run")
        assert_usable(two)
        assert_replaceable(two)

    def test_unfinished_writes_are_not_touched(self, two):
        found = stored(two)
        with writing_now() as writer:
            at_work = {"format": FORMAT + 1, "version": "9.9.0", "status": "writing", "writer": dict(writer)}
            replace({**found, "config": {**found["config"], **at_work}})
            assert kf.list_runs(two) == ["other"]
            assert stored(two)["config"]["status"] == "writing"


REMEMBERED: Document = {
    "raters": {"ann": "Ann"},
    "rater_facts": [{"rater": "Ann", "person": "Ann", "session": "", "classes": None, "is_local": False}],
    "load": {"writer": {}, "is_new": True, "is_complete": False},
    "renaming": {"writer": {"pid": 1}, "moves": [{}], "is_done": True},
    "handing_over": {"key": "arbiter"},
}


def remember(dataset: fo.Dataset, value: Any) -> None:
    entry = {"$set": {"info.kalos": value, "last_modified_at": document.now()}}
    database().datasets.update_one({"_id": id_of(dataset)}, entry)


class TestInformation:
    def test_garbage_is_forgotten_with_a_warning(self, two):
        for value in [*GARBAGE[:3], *({name: of} for name in REMEMBERED for of in GARBAGE)]:
            remember(two, value)
            with pytest.warns(KalosWarning, match=r"dataset: .* cannot be read and was deleted"):
                assert set(kf.list_runs(two)) == {"run", "other"}
            assert "kalos" not in two.info
        kf.rename_run(two, "run", "new")
        kf.delete_run(two, "new")

    def test_a_foreign_record_of_a_load_deletes_nothing(self, two, tmp_path):
        """Data sets of others bring their information along; undoing a load deletes a collection and files."""
        own = tmp_path / "own.txt"
        own.write_text(json.dumps(str(tmp_path.parent)))
        with writing_now() as writer:
            pass  # dead afterwards
        right = {"writer": dict(writer), "tag": f"{document.LOAD_TAG}{ObjectId()}", "is_new": False,
                 "is_complete": False, "fields": [], "had_assigned": True, "default_classes": [], "mask_targets": [],
                 "files": None, "makes_folder": False}  # fmt: skip
        for wrong in ({"tag": "datasets"}, {"tag": f"{document.LOAD_TAG}x"}, {"files": str(own)}):
            remember(two, {"load": {**right, **wrong}})
            with pytest.warns(KalosWarning, match="'load' in the info"):
                assert set(kf.list_runs(two)) == {"run", "other"}
        assert own.exists()
        assert fo.dataset_exists(two.name)

    def test_readable_entries_stay(self, two):
        """This includes entries that this version does not know."""
        kept = {"raters": REMEMBERED["raters"], "later": 5}
        remember(two, {**REMEMBERED, **kept})
        with pytest.warns(KalosWarning, match="'load', 'renaming', 'handing_over' in the info"):
            kf.list_runs(two)
        assert two.info["kalos"] == {**kept, "rater_facts": REMEMBERED["rater_facts"]}


def test_a_whole_run_is_in_the_way(two):
    with pytest.raises(KalosError, match="key of another run"):
        agree(two)
