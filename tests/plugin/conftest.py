"""The plugin as FiftyOne finds it, and the six scenes whose figures are known."""

import os
from collections.abc import Iterator
from pathlib import Path

import fiftyone as fo
import pytest

from tests.fiftyone_bridge.scenes import SCENES, make_samples

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session", autouse=True)
def plugin() -> Path:
    """This folder as the only plugin."""
    folder = Path(os.environ["FIFTYONE_PLUGINS_DIR"])
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "kalos-variation"
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)
    fo.config.plugins_dir = str(folder)
    return folder


@pytest.fixture
def dataset() -> Iterator[fo.Dataset]:
    """Six scenes of two raters, see `tests.fiftyone_bridge.scenes`."""
    made = fo.Dataset(persistent=True)
    made.add_samples(make_samples(SCENES), progress=False)
    made.info["kalos"] = {"raters": {"ann": "ann", "bob": "bob"}}
    made.save()
    yield made
    made.delete()
