"""What is shown of a calibration: the distances of each similarity, observed and expected."""

from __future__ import annotations

from kalos_core.calibration import Calibration
from kalos_core.fiftyone.kinds.calibration.details import (
    CalibrationDetails,
    CalibrationMetrics,
    CalibrationSettings,
    SeparationDetails,
)
from kalos_core.fiftyone.runs.table import Part, Run
from kalos_core.figures import calibration_figure, calibration_title


def figures(
    run: Run[CalibrationSettings, CalibrationMetrics, CalibrationDetails, Calibration],
) -> dict[str, Part]:
    """A figure for each similarity, by its name, the one that separates best first; the note says what was compared."""
    details = run.details
    return {found["name"]: _distances(found, details) for found in details["similarities"]}


COMPARED = {
    "relative": "Annotations of two images are compared relative to the size of each image.",
    "pixels": "Annotations of two images are compared in pixels.",
    "own": "How annotations of two images are compared is part of this similarity.",
}
"""What the expected distances are distances of."""


def _distances(found: SeparationDetails, details: CalibrationDetails) -> Part:
    """The plot of shares; stored are counts and densities."""
    width = details["edges"][1] - details["edges"][0]
    sides = [found["observed"], found["expected"]]
    shares = [[count / max(side["count"], 1) for count in side["histogram"]] for side in sides]
    curves = [[width * value for value in side["density"] or ()] for side in sides]
    return Part(
        calibration_title(found["name"], found["ks"], found["tau"], found["reason"], found["why"]),
        calibration_figure(
            shares[0], shares[1], found["tau"], found["ks_at"], found["tau_interval"], curves, points=details["grid"]
        ),
        COMPARED[found["coordinates"]],
    )
