from pathlib import Path

import numpy as np
import pytest

from kalos_core import LabelTable, read_wide_labels


@pytest.fixture(scope="session")
def bluebirds(data_folder: Path) -> tuple[LabelTable, np.ndarray]:
    """Read labels of 39 raters for 108 images, indigo bunting or not, and the correct labels."""
    path = data_folder / "bluebirds.csv"
    if not path.exists():
        pytest.skip("bluebirds.csv is not in the data folder")
    truth = read_wide_labels(path, item="image_id").select(raters=["gt"])
    labels = np.array(truth.options())[truth.values()[:, 0]]
    return read_wide_labels(path, item="image_id", ignore=["gt"]), labels
