"""Limits are checked before the work, with the number and how to raise them; endless work is never started."""

import gzip
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest
from PIL import Image

import kalos_core as k
from kalos_core import Annotations, InputError, agreement, draw_image, read_coco, read_mask_folders, write_coco
from kalos_core.errors import LONGEST_MESSAGE
from kalos_core.figures import save_figure
from kalos_core.files import open_image, read_bytes, write_whole
from kalos_core.limits import LIMITS, check_limit, limit
from kalos_core.readers import FORMATS, read_labels, read_long_labels, read_wide_labels, stream_coco
from kalos_core.readers.vocabulary import Vocabulary
from kalos_core.report import study, write_report
from kalos_core.results import Result
from tests.test_refusals import ANNOTATIONS


def test_a_limit_is_as_the_environment_says(monkeypatch):
    assert limit("KALOS_MOST_PIXELS") == LIMITS["KALOS_MOST_PIXELS"].most == 2**30
    monkeypatch.setenv("KALOS_MOST_PIXELS", "12")
    check_limit("KALOS_MOST_PIXELS", 12, "a.png")
    with pytest.raises(InputError, match=r"^a.png: expected at most 12 pixels in an image, got 13: KALOS"):
        check_limit("KALOS_MOST_PIXELS", 13, "a.png")


def test_a_small_file_does_not_unpack_to_more_than_memory_should_take(tmp_path, monkeypatch):
    monkeypatch.setattr("kalos_core.limits.SMALL", 1_000)
    file = tmp_path / "labels.json.gz"
    file.write_bytes(gzip.compress(b"[" + b" " * 1_000_000 + b"]"))
    match = r"labels.json.gz: expected at most 100 unpacked bytes per packed byte.* KALOS_MOST_PACKING in the env"
    with pytest.raises(InputError, match=match):
        read_labels(file)
    with pytest.raises(InputError, match=match):
        next(stream_coco(file))
    monkeypatch.setenv("KALOS_MOST_PACKING", "2000")
    with pytest.raises(InputError, match="got an empty list"):
        read_labels(file, format="label_studio")


@pytest.mark.parametrize("given", ["", "-1", "1e9", "0", "²", "9" * 5000])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, given):
    monkeypatch.setenv("KALOS_MOST_PIXELS", given)
    with pytest.raises(InputError, match="KALOS_MOST_PIXELS: expected a whole number above 0 in the environment, got"):
        limit("KALOS_MOST_PIXELS")


TOO_MANY = 10**12
LABELS = k.LabelTable.from_rows([{"item": i, "rater": r, "label": "x"} for i in (1, 2, 3) for r in "abcd"])


def test_more_replicates_than_anybody_could_wait_for_are_refused_at_once():
    result = agreement(ANNOTATIONS, bootstrap=0)
    for call in (
        lambda: agreement(ANNOTATIONS, bootstrap=TOO_MANY),
        lambda: k.sensitivity(ANNOTATIONS, [0.5], bootstrap=TOO_MANY),
        lambda: k.compare(result, result, bootstrap=TOO_MANY),
        lambda: k.calibrate(ANNOTATIONS, ["box_iou"], bootstrap=TOO_MANY),
        lambda: k.calibrate(ANNOTATIONS, ["box_iou"], repeats=TOO_MANY),
        lambda: k.label_convergence(ANNOTATIONS, TOO_MANY),
        lambda: k.label_agreement(LABELS, bootstrap=TOO_MANY),
        lambda: k.compare_teams(LABELS, {"one": ["a", "b"], "two": ["c", "d"]}, bootstrap=TOO_MANY),
        lambda: k.sparse_agreement([[2, 0], [1, 1]], bootstrap=TOO_MANY),
    ):
        with pytest.raises(InputError, match=r"at most 10,000,000,000 resampled images .* KALOS_MOST_DRAWN in the"):
            call()


def test_the_limit_of_replicates_is_of_their_product_with_images(monkeypatch):
    monkeypatch.setenv("KALOS_MOST_DRAWN", "30")
    assert len(ANNOTATIONS.images) == 3
    assert agreement(ANNOTATIONS, bootstrap=10).configuration.bootstrap == 10
    with pytest.raises(InputError, match=r"bootstrap: expected at most 30 .* got 33"):
        agreement(ANNOTATIONS, bootstrap=11)


def test_the_documentation_names_every_limit():
    page = (Path(__file__).resolve().parents[1] / "docs" / "limits.md").read_text(encoding="utf-8")
    for name, limit_of in LIMITS.items():
        assert f"| `{name}` | {limit_of.most:,} | {limit_of.of} |" in page


def test_masks_of_too_many_pixels_are_refused(tmp_path, monkeypatch):
    masks = tmp_path / "masks"
    for rater in ("ann", "bob"):
        (masks / rater).mkdir(parents=True)
        Image.new("L", (8, 8)).save(masks / rater / "scan.png")
    monkeypatch.setenv("KALOS_MOST_PIXELS", "63")
    with pytest.raises(InputError, match=r"ann.scan.png: expected at most 63 pixels in an .* 64"):
        next(read_mask_folders(masks).stacks())
    with pytest.raises(InputError, match="got 64: KALOS_MOST_PIXELS in the environment raises the limit"):
        draw_image(ANNOTATIONS, 1, masks / "ann" / "scan.png")


def test_images_above_the_limit_of_pillow_are_read_and_its_limit_stays(tmp_path, recwarn):
    usual = Image.MAX_IMAGE_PIXELS
    Image.new("1", (20_000, 10_000)).save(tmp_path / "large.png")  # Pillow refuses 178,956,970 pixels and more
    with open_image(tmp_path / "large.png") as opened:
        assert opened.size == (20_000, 10_000)
        assert usual == Image.MAX_IMAGE_PIXELS
    assert not recwarn.list


def test_a_broken_image_is_named(tmp_path):
    path = tmp_path / "broken.png"
    Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(path)
    whole = path.read_bytes()
    for kept in (40, 20, 0):
        path.write_bytes(whole[:kept] + b"GIF89a")
        with pytest.raises(InputError, match=r"broken.png: expected a readable image"), open_image(path) as opened:
            np.asarray(opened)


def test_packed_files_are_unpacked_up_to_the_limit(tmp_path, monkeypatch):
    path = tmp_path / "labels.json.gz"
    path.write_bytes(gzip.compress(b" " * 1_000_000))
    monkeypatch.setenv("KALOS_MOST_UNPACKED", "1000000")
    assert len(read_bytes(path, "COCO file")) == 1_000_000
    monkeypatch.setenv("KALOS_MOST_UNPACKED", "999999")
    with pytest.raises(InputError, match=r"gz: expected at most 999,999 bytes in a packed file.*MOST_UNPACKED in"):
        read_coco(path)


READERS = {
    **{name: lambda path, name=name: read_labels(path, name) for name in FORMATS},
    "auto": read_labels,
    "stream": lambda path: list(stream_coco(path)),
    "long": read_long_labels,
    "wide": read_wide_labels,
    "masks": read_mask_folders,
    "noise": k.NoiseModel.from_json,
    "result": Result.from_json,
    "image": lambda path: open_image(path).__enter__(),
}


NAMES = ("labels.json", "labels.csv", "labels.xml", "labels.parquet", "labels.json.gz")


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_is_refused_by_every_reader(tmp_path, reader):
    for name in NAMES:
        os.mkfifo(tmp_path / name)  # opening it would block forever
        with pytest.raises(InputError, match=r"expected .*, got .*(pipe|none)|expected a folder of CVAT"):
            READERS[reader](tmp_path / name)


def test_a_file_that_cannot_be_written_is_refused_and_leaves_nothing(tmp_path):
    for name in ("x" * 300 + ".json", "a\0b", "a\ud800b", "", "none/labels.json"):
        with pytest.raises(InputError, match=r"expected (a file to write to|an existing folder to write into), got"):
            write_whole(tmp_path / name, "{}")
    assert list(tmp_path.iterdir()) == []


def test_a_draft_of_a_process_that_died_goes_when_its_file_is_written(tmp_path: Path) -> None:
    path = tmp_path / "found.json"
    program = f"""import os
from pathlib import Path
from kalos_core.files import write_whole
Path.replace = lambda *_: os._exit(9)
write_whole(Path({str(path)!r}), "half")
"""
    assert subprocess.run([sys.executable, "-c", program]).returncode == 9
    (draft,) = tmp_path.iterdir()
    assert draft.read_text() == "half"
    living = tmp_path / draft.name.replace(draft.name.split("-")[2], str(os.getpid()))
    living.write_text("half")
    write_whole(tmp_path / "other.json", "{}")
    assert draft.exists()
    write_whole(path, "{}", overwrite=True)
    assert {found.name for found in tmp_path.iterdir()} == {"found.json", "other.json", living.name}


def test_messages_stay_short():
    for text in ("x" * 200_000, "a " * 200_000, "\0" * 200_000, "line\n" * 90_000):
        message = str(InputError(f"rater: expected a name, got {text}: nothing else"))
        assert message.startswith("rater: expected a name, got ")
        assert message.endswith(": nothing else")
        assert len(message) <= 4 * LONGEST_MESSAGE  # an unprintable character takes four


def test_an_expression_that_backtracks_is_stopped(monkeypatch):
    monkeypatch.setattr("kalos_core.readers.vocabulary.SECONDS", 0.05)
    vocabulary = Vocabulary.from_aliases({"/(a|aa)+$b/": "car"})
    with pytest.raises(InputError, match=r"aliases: expected an expression that matches within 0.05 s, got /\(a\|aa"):
        vocabulary.reconcile("ann", "a" * 40)


TABLE = Annotations.from_rows([{"image": 1, "rater": rater, "category": "cat", "box": [0, 0, 9, 9]} for rater in "ab"])

WRITERS: dict[str, Callable[..., object]] = {
    "labels.json": lambda path, **how: write_coco(TABLE, path, **how),
    "report.html": lambda path, **how: write_report(study(TABLE), path, **how),
    "figure.html": lambda path, **how: save_figure(go.Figure(), path, **how),
}


@pytest.mark.parametrize("name", WRITERS)
def test_only_files_of_the_same_kind_are_replaced(tmp_path: Path, name: str) -> None:
    path, write = tmp_path / name, WRITERS[name]
    write(path)
    written = path.read_bytes()
    write(path)
    path.write_bytes(b"")
    write(path)
    assert len(path.read_bytes()) == len(written)
    others = [written[1:], written[:20], b"mine", b"{}", b"<!doctype html>"]
    for other in others:
        path.write_bytes(other)
        with pytest.raises(InputError, match=r"expected a new file, or one that this library wrote, got"):
            write(path)
        assert path.read_bytes() == other
    path.rename(tmp_path / "away")
    path.symlink_to(tmp_path / "away")
    with pytest.raises(InputError, match="expected a new file"):
        write(path)
    write(path, overwrite=True)
    assert (tmp_path / "away").read_bytes() == others[-1]
    assert len(path.read_bytes()) == len(written)
    assert not path.is_symlink()
