"""Published values, as in their sources, in this library's terms."""

from __future__ import annotations

import pytest

from kalos_core._agreement import AgreementSettings
from kalos_core.figures.published import PUBLISHED_ALPHAS, PUBLISHED_CALIBRATIONS


def test_the_values_are_those_of_the_paper():
    values = {(record.dataset, record.similarity): record.alpha for record in PUBLISHED_ALPHAS}
    assert values[("TexBiG", "polygon_iou")] == 0.9055
    assert values[("MARS", "pose")] == 0.8069
    assert values[("LIDC-IDRI", "volume_iou")] == 0.3683
    assert values[("LVIS", "box_iou")] == pytest.approx(0.688879, abs=1e-4)
    assert values[("LVIS", "polygon_iou")] == pytest.approx(0.703012, abs=1e-4)
    of_boxes = {record.dataset: record for record in PUBLISHED_CALIBRATIONS if record.similarity == "box_iou"}
    assert (of_boxes["LVIS"].tau, of_boxes["LVIS"].tau_interval) == (0.654, (0.643, 0.668))
    assert (of_boxes["TexBiG"].tau, of_boxes["TexBiG"].ks_interval) == (0.435, (0.796, 0.810))
    assert (of_boxes["VinDr-CXR"].ks, of_boxes["VinDr-CXR"].tau_interval) == (0.684, (0.996, 0.997))


def test_every_value_has_a_source_and_a_configuration_quoted_as_printed():
    assert all(record.source for record in (*PUBLISHED_ALPHAS, *PUBLISHED_CALIBRATIONS))
    for record in PUBLISHED_ALPHAS:
        assert record.notation == AgreementSettings(record.similarity, record.threshold).notation
    # KαLOS Eq. 27, 29 and §14.3: there τ is a distance; the threshold here is the similarity τ_s = 1 - τ
    printed = {record.dataset: record for record in PUBLISHED_ALPHAS if "CVPR" in record.source}
    tau = {name: float(record.printed.split("τ=")[1].split(",")[0]) for name, record in printed.items()}
    assert tau == {"TexBiG": 0.5, "MARS": 0.08, "LIDC-IDRI": 0.5}
    assert all(record.threshold == 1 - tau[name] for name, record in printed.items())
