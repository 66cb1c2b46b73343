"""Progress increases and is reported to callbacks; a bar never outlives its work."""

from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.runs.progress import Report
from tests.fiftyone_bridge.scenes import RATERS, stop_at, untouched

ONE_IMAGE: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 9, "rater_list": ["ann", "bob"]}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "rater_id": "ann", "bbox": [1, 1, 5, 5]}],
}


def load(_: fo.Dataset, folder: Path, **options: Any) -> None:
    Image.new("RGB", (9, 9)).save(folder / "a.png")
    kf.load_raters(ONE_IMAGE, images=folder, **options)


def agree(dataset: fo.Dataset, _: Path, **options: Any) -> None:
    kf.compute_agreement(dataset, "run", raters=RATERS, **options)


def vary(dataset: fo.Dataset, _: Path, **options: Any) -> None:
    kf.find_variations(dataset, "run", raters=RATERS, **options)


works = pytest.mark.parametrize("work", [load, agree, vary])


def shares_of(work: Any, *arguments: Any, **options: Any) -> list[float]:
    """Return the reported fractions; they only increase."""
    told: list[tuple[float, str]] = []
    work(*arguments, **options, progress=lambda share, label: told.append((share, label)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert all(label for _, label in told)
    return shares


@works
def test_shares_rise_from_0_to_1(dataset, tmp_path, work):
    first, *_, last = shares_of(work, dataset, tmp_path)
    assert 0 <= first <= 0.1
    assert last == 1


@works
def test_a_run_cancelled_at_its_last_report_is_not_kept(dataset, tmp_path, work):
    with untouched(dataset), pytest.raises(KeyboardInterrupt):
        work(dataset, tmp_path, progress=stop_at(1))


def test_a_part_is_told_within_its_bounds():
    told: list[tuple[float, str]] = []
    with Report(lambda share, label: told.append((round(share, 9), label))) as report:
        report.within(0.2, 0.6, "labels")(0.5)
        report.part(0.5, 1.0, "again")(0.5, "labels")
    assert told == [(0.4, "labels"), (0.75, "again: labels")]
