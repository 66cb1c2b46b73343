"""A data set or a view of it is written as shards, with the numbers of the data set."""

import pytest

import kalos_core.fiftyone as kf
from kalos_core import agreement, distributed
from kalos_core.fiftyone.dataset.raters import store_raters


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_a_data_set_and_a_view_are_written(dataset, tmp_path):
    store_raters(dataset, {"ann": "ann", "bob": "bob"})
    for name, samples in (("whole", dataset), ("view", dataset[:4])):
        shards = distributed.write_shards(samples, tmp_path / name, 2)
        expected = agreement(kf.read_annotations(samples), bootstrap=20)
        found = distributed.agreement(shards, bootstrap=20)
        assert found.image_alpha.tolist() == pytest.approx(expected.image_alpha.tolist(), nan_ok=True)
        assert found.alpha_interval.tolist() == pytest.approx(expected.alpha_interval.tolist(), abs=1e-12)
        assert found.image_alpha[:4].tolist() == pytest.approx([1, 0, 0, -2 / 3])  # worked out in scenes.py
