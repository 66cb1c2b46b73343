"""Progress goes up, to whoever wants it, and a bar never outlives its work."""

import sys
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import InputError
from tests.fiftyone_bridge.scenes import RATERS, documents

ONE_IMAGE: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "a.png", "width": 9, "height": 9, "rater_list": ["ann", "bob"]}],
    "categories": [{"id": 1, "name": "cat"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "rater_id": "ann", "bbox": [1, 1, 5, 5]}],
}


def work(name: str, dataset: fo.Dataset, folder: Path, progress: Any) -> None:
    if name == "load":
        Image.new("RGB", (9, 9)).save(folder / "a.png")
        kf.load_raters(ONE_IMAGE, images=folder, progress=progress)
    else:
        {"agree": kf.compute_agreement, "vary": kf.find_variations}[name](
            dataset, "run", raters=RATERS, progress=progress
        )


@pytest.mark.parametrize("name", ["load", "agree", "vary"])
def test_shares_rise_from_0_to_1(dataset: fo.Dataset, tmp_path: Path, name: str) -> None:
    told: list[tuple[float, str]] = []
    work(name, dataset, tmp_path, lambda share, label: told.append((share, label)))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert 0 <= shares[0] <= 0.1
    assert shares[-1] == 1
    assert all(label for _, label in told)


@pytest.mark.parametrize("name", ["load", "agree", "vary"])
def test_a_bar_on_the_terminal(
    dataset: fo.Dataset, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    work(name, dataset, tmp_path, True)
    assert "/100" in capsys.readouterr().out


@pytest.mark.parametrize("progress", [None, False])
def test_nothing_is_printed_unless_asked(
    dataset: fo.Dataset, tmp_path: Path, capsys: pytest.CaptureFixture[str], progress: Any
) -> None:
    work("agree", dataset, tmp_path, progress)
    work("load", dataset, tmp_path, progress)
    assert capsys.readouterr() == ("", "")


def test_a_bar_gives_the_terminal_back_when_work_fails(dataset: fo.Dataset) -> None:
    before = sys.stdout
    for call in (kf.compute_agreement, kf.find_variations):
        with pytest.raises(InputError):
            call(dataset, "run", raters=("ann", "eve"), progress=True)
        assert sys.stdout is before
    with pytest.raises(InputError):
        kf.load_raters(ONE_IMAGE, progress=True)
    assert sys.stdout is before


@pytest.mark.parametrize("name", ["load", "agree", "vary"])
def test_what_is_cancelled_at_the_very_last_report_is_not_kept(dataset: fo.Dataset, tmp_path: Path, name: str) -> None:
    before, there = documents(dataset), fo.list_datasets()

    def cancel(share: float, _: str) -> None:
        if share == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(name, dataset, tmp_path, cancel)
    assert (documents(dataset), fo.list_datasets(), kf.list_runs(dataset)) == (before, there, [])
