"""The benchmarks run, their tables are well-formed, and both sides do the same work. No time is asserted."""

import gzip
import json
from functools import partial

import numpy as np
import pytest

from benchmarks import __main__ as command
from benchmarks import page, readers, reliability
from benchmarks.tables import Measured, Ratio, Row, Table, environment
from benchmarks.timing import Subject, alternate
from tests.tiers import extended


def synthetic(images: int = 4, seed: int = 0) -> dict:
    """Return two raters with squares and their outlines; the last image is empty by agreement."""
    rng = np.random.default_rng(seed)
    annotations = []
    for image in range(1, images):
        for x, y in rng.uniform(0, 80, (5, 2)):
            for rater, shift in (("r1", 0.0), ("r2", rng.uniform(0, 6))):
                left, right = x + shift, x + shift + 15
                outline = [left, y, right, y, right, y + 15, left, y + 15]
                record = {"id": len(annotations) + 1, "image_id": image, "rater_id": rater}
                shapes = {"bbox": [left, y, 15.0, 15.0], "segmentation": [outline]}
                annotations.append(record | shapes | {"category_id": int(rng.integers(1, 3))})
    sizes = {"width": 100, "height": 100, "rater_list": ["r1", "r2"]}
    return {
        "images": [{"id": image, "file_name": f"{image}.png", **sizes} for image in range(1, images + 1)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": annotations,
    }


def check_tables(*tables: Table, note: str = "") -> None:
    """Check that each table is well-formed, and that its first note begins with `note`."""
    for table in tables:
        lines = str(table).splitlines()
        assert lines[0] == table.title
        assert lines[1].split()[0] == "case"
        assert len(lines) == 3 + len(table.rows) + len(table.notes)
        for row in table.rows:
            assert all(value >= 0 for value in row.ours.values)
            assert (table.met(row) is None) == (row.claim is None)
        json.dumps(table.record())
        assert not note or table.notes[0].startswith(note)
        assert not any("NOT" in said for said in table.notes)


def test_ratio_is_of_medians_with_the_range_of_single_rounds() -> None:
    row = Row("boxes", Measured((1.0, 2.0, 4.0)), Measured((20.0, 20.0, 20.0)), claim=8)
    table = Table("t", (row,))
    assert table.ratio(row) == Ratio(10.0, 5.0, 20.0)
    assert table.cpu_ratio(row) is None
    assert table.met(row) is True
    slower = Table("t", (Row("write", row.other, row.ours, claim=2),), speedup=False)
    assert slower.ratio(slower.rows[0]) == Ratio(10.0, 5.0, 20.0)
    assert slower.met(slower.rows[0]) is False
    assert "NO" in str(slower)


def test_cpu_seconds_have_a_ratio_of_their_own() -> None:
    row = Row("boxes", Measured((1.0, 2.0), cpu=(2.0, 4.0)), Measured((6.0, 6.0), cpu=(6.0, 6.0)), claim=5)
    table = Table("t", (row, Row("memory", Measured((1024.0,), "B"))))
    assert table.cpu_ratio(row) == Ratio(2.0, 1.5, 3.0)
    assert table.met(row) is False  # four times in wall-clock time
    assert row.ours.per(2).times(4) == Measured((2.0, 4.0), cpu=(4.0, 8.0))
    head, boxes, memory = table.cells()
    assert head == ("case", "ours", "peer", "peer / ours", "ours: CPU", "peer: CPU", "ratio of CPU", "claim", "met")
    assert boxes[4:] == ("3 s [2, 4]", "6 s", "2 [1.5, 3]", "≥ 5", "NO")
    assert memory[1:] == ("1 KiB", *["-"] * 7)


def test_the_pages_are_made_from_the_results() -> None:
    results = page.read_all()
    assert {file.stem for file in page.RESULTS.glob("*.json")} == {result.name for result in results}
    assert page.PAGE.read_text(encoding="utf-8") == page.page(results)
    text = page.SPEED.read_text(encoding="utf-8")
    assert text == page.speed(text, results)
    plot = page.PLOT.read_text(encoding="utf-8")
    assert all(trace.name in plot for trace in page.growth(results).data)


def test_claims_were_measured_in_five_rounds() -> None:
    for result in page.read_all():
        rows = [row for table in result.tables for row in table.rows if row.headline]
        assert all(len(row.ours.values) >= 5 for row in rows), result.name


def test_pages_by_hand() -> None:
    rows = (
        Row("boxes", Measured((1.0, 2.0, 3.0)), Measured((8.0, 8.0, 8.0)), 3, "agreement on boxes"),
        Row("matching, 10 images", Measured((0.5,)), images=10),
        Row("matching, 20 images", Measured((0.25,)), Measured((0.5,)), images=20),
    )
    about = {"python": "3", "kalos": "not installed"}
    results = [page.Results("growth", "2026-01-02", about, 3, (Table("t", rows),))]
    lines = page.headlines(results).splitlines()
    assert lines[2:] == ["| agreement on boxes | 2 s [1, 3] | 8 s | 4 [2.67, 8] | - |"]
    whole = page.page(results)
    assert "## Growth\n\nMeasured on 2026-01-02 in 3 rounds: python 3.\n\n### T\n\n| case | ours | peer |" in whole
    assert "![Seconds per image by the number of images](images/growth.svg)" in whole
    (line,) = page.growth(results).data
    assert (line.name, list(line.x), list(line.y)) == ("matching", [10, 20], [500.0, 250.0])


def test_subjects_are_timed_in_turns_and_only_their_work() -> None:
    log = []
    subjects = [
        Subject(lambda given: log.append(given) or given.upper(), lambda name=name: name, lambda _: log.append("tidy"))
        for name in "ab"
    ]
    outcomes = alternate(subjects, repeats=2)
    assert log == ["a", "tidy", "b", "tidy"] * 3  # the first round is the warm-up
    assert [(outcome.answer, len(outcome.took.values)) for outcome in outcomes] == [("A", 2), ("B", 2)]
    assert all(len(outcome.took.cpu) == 2 for outcome in outcomes)


@pytest.fixture
def against_kalos(peer_package):
    """Return the agreement benchmark, if its peer is installed."""
    peer_package("kalos")
    from benchmarks import agreement

    return agreement


def test_agreement_against_the_peer_is_the_same_work(against_kalos) -> None:
    coco, agreement = synthetic(), against_kalos
    shared = agreement.SharedAnnotations(coco)
    assert shared.pairs == 3 * 25
    for similarity in (agreement.POLYGONS, agreement.BOXES):
        ours, peer = alternate([shared.ours(similarity), shared.peer(similarity)], 1)
        assert agreement.largest_difference(ours.answer, peer.answer) < 1e-9
        assert (ours.answer.alpha, ours.answer.global_alpha) == pytest.approx(peer.answer[:2], abs=1e-9)
    peer.answer[6][1] += 0.5  # differences are reported
    assert agreement.same_work(ours.answer, peer.answer).startswith("NOT THE SAME WORK")
    table = agreement.against_peer(coco, "synthetic", 1)
    check_tables(table)
    assert all("same alpha on 4 images" in note for note in table.notes)
    # new columns have no cached geometry
    assert shared.annotations.shapes["polygon"].area().min() > 0
    assert "geometries" not in agreement.without_cache(shared.annotations).shapes["polygon"].__dict__


def test_diagnostics_and_calibration_are_the_same_work(peer_package) -> None:
    peer_package("kalos")
    from benchmarks import calibration, diagnostics

    for table in (module.against_peer(synthetic(), "synthetic", 1) for module in (diagnostics, calibration)):
        check_tables(table)
        assert all("same" in note for note in table.notes)


@extended
def test_convergence_is_the_same_work(monkeypatch) -> None:
    from benchmarks import convergence

    monkeypatch.setattr(convergence, "REPLICATES", 5)
    monkeypatch.setattr(convergence, "FRACTION", 0.7)
    coco = synthetic(8)
    for table in (convergence.against_coco(coco, "synthetic", 1), convergence.replicates(coco, "synthetic", 1)):
        check_tables(table)
        assert "same mAP" in table.notes[0]
    check_tables(convergence.memory(coco, "synthetic", 2))


def test_volumes_are_the_same_work(peer_package, tmp_path) -> None:
    peer_package("kalos")
    from benchmarks import volumes

    path = tmp_path / "scans.json.gz"
    path.write_bytes(gzip.compress(json.dumps({"scans": [scan("a", 0), scan("b", 3)]}).encode()))
    check_tables(volumes.against_peer(path, 1), note="grid: same alpha of 2 scans")


def scan(name: str, shift: int) -> dict:
    """Return two sessions with one nodule in two slices, the second slightly shifted."""
    sessions = []
    for session, x in ((1, 100), (2, 100 + shift)):
        outline = [[x, 100], [x + 40, 100], [x + 40, 140], [x, 140]]
        contours = [{"z": z, "incl": 1, "pts": outline} for z in (1.0, 2.0)]
        nodules = [{"nodule_id": "1", "contours": contours}]
        sessions.append({"session": session, "nodules": nodules, "small_nodules": [], "non_nodules": []})
    names = {"pylidc_scan_id": shift, "patient_id": name, "series_uid": name, "n_sessions": 2, "sessions": sessions}
    grid = {"slice_thickness": 1.0, "pixel_spacing": 0.5, "width": 512, "height": 512}
    return names | grid | {"slice_z": [0.0, 1.0, 2.0, 3.0]}


@extended
def test_bridge(monkeypatch: pytest.MonkeyPatch) -> None:
    from benchmarks import bridge

    monkeypatch.setattr(bridge, "alternate", partial(alternate, warm_up=False))
    boxes, polylines = bridge.all_tables(synthetic(), "synthetic", 1, large=False, say=lambda _: None)
    check_tables(boxes, polylines)
    python = ["compute_agreement", "compute_agreement, no bootstrap", "find_variations"]
    assert [row.what for row in boxes.rows][:3] == python
    assert [row.what for row in polylines.rows] == [python[0], python[2]]


def test_command(peer_package, tmp_path, capsys) -> None:
    peer_package("kalos")
    assert command.main(["agreement", "--data", str(tmp_path)]) == 2
    assert "lvis200.json: no such file" in capsys.readouterr().err
    (tmp_path / command.FILE).write_text(json.dumps(synthetic()), encoding="utf-8")
    figures = tmp_path / "results"
    arguments = ["agreement", "--data", str(tmp_path), "--repeats", "1", "--results", str(figures)]
    assert command.main(arguments) == 0
    assert "peer / ours" in capsys.readouterr().out
    result = page.Results.read(figures / "agreement.json")
    assert (result.environment, result.rounds) == (environment(), 1)
    assert [table.title.split()[0] for table in result.tables] == ["agreement,", "reading"]


def test_unusable_arguments_are_refused(capsys) -> None:
    for arguments in (["nothing"], ["--repeats", "0"]):
        with pytest.raises(SystemExit):
            command.main(arguments)
    assert "expected at least 1" in capsys.readouterr().err


def test_staple_and_agreement_about_pixels() -> None:
    from benchmarks import pixels

    table = pixels.staple_against_itk(1, side=48)
    check_tables(table, pixels.agreement_of_stacks(1, side=48))
    assert table.notes[0].startswith(("same mask", "SimpleITK is not installed"))
    table = pixels.boundaries_against_itk(1, side=48)
    check_tables(table)
    assert not table.notes or "difference of one 0.0e+00" in table.notes[0]


@extended
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of what crowd-kit 1.4 calls in pandas 3
def test_labels_are_the_same_work() -> None:
    from benchmarks import labels

    check_tables(labels.against_krippendorff(1, items=50), note="same alpha")
    beside, against, whole = labels.grades(1, items=50)
    assert all(note.startswith("same alpha") for note in beside.notes)
    check_tables(beside, against, whole, *labels.many_categories(1, items=20))
    check_tables(*labels.label_tables(1, items=20, answers=100, concepts=7))
    check_tables(*labels.dawid_skene_of_a_crowd(1, answers=200, raters=20))
    table = labels.skill_on_objects(1, images=20)
    check_tables(table)
    assert len(table.rows) == 3


def test_every_reader_is_measured():
    pytest.importorskip("pyarrow", reason="Parquet needs the optional package pyarrow")
    seconds, memory = readers.of_readers(1, copies=(10, 20))
    check_tables(seconds, memory, note="")
    assert len(seconds.rows) == len(memory.rows) == len(readers.READERS)


def test_the_page_of_reliability_shows_the_stored_results(tmp_path):
    assert reliability.PAGE.read_text(encoding="utf-8") == reliability.page(reliability.read_all())
    one = reliability.Tried("unusual calls", "2 functions", 1_000, 999, "python -m tests.fuzz --seed 3")
    one.note(tmp_path)
    one.note(tmp_path)
    (read,) = reliability.read_all(tmp_path)
    assert read.held == 999
    assert "| unusual calls | 2 functions | 1,000 | 999 | `python -m tests.fuzz --seed 3` |" in reliability.page([read])
