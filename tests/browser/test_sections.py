"""Every section of the panel, in both themes and on both sizes of screen: the finding is said, nothing is cut off."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.text import plain
from tests.browser.conftest import SIZE, brightness, expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

LARGE = {"width": 1920, "height": 1080}

SAID = {
    "Overview": {"Findings": "", "Published": "Published values, those of your similarity first"},
    "Images": {"": "Worst images: click one to open it"},
    "Variations": {
        "Types": "For every 100 annotations of one's own",
        "Outlines": "",
        "Merged": "several annotations of one rater are one of another's",
        "Confusions": "findings of two classes for one object",
    },
    "Classes": {"": "Click a class to see its images"},
    "Raters": {
        "Scorecards": "Findings for every 100 own labels",
        "Pairs": "Click a cell to see the images",
        "Sessions": "No rater has several sessions",
    },
    "Threshold": {"Calibration": "", "Sensitivity": "", "Types": "", "Published": "Similarity"},
    "Ceiling": {
        "Interval": "No model can be expected to pass",
        "Subsets": "Over the subsets",
        "Raters": "",
        "Checks": "Can the data carry this?",
    },
    "Decide": {"Queue": "units in dispute decided", "Training list": "", "Guideline": "", "Results": "Hand over"},
    "Runs": {"List": "All runs, the newest first", "Compare": "There is only one analysis"},
}
"""Section -> its pages ("": it has none), and what is said on each."""


IN_README = {"Overview": "overview", "Raters": "raters", "Threshold": "calibration"}
"""Section -> the picture of its first page."""


@pytest.mark.parametrize(("looks", "size"), [("dark", SIZE), ("light", LARGE)])
def test_every_section_says_its_finding_and_fits(
    looks: str, size: dict[str, int], app: Any, analysed: fo.Dataset
) -> None:
    """In the light theme the first page of each, and all if pictures are asked for."""
    app.page.set_viewport_size(size)
    app.open(analysed.name, WORKSPACE)
    panel = app.raters()
    for statement in kf.overview_of(analysed, KEY):
        expect(panel).to_contain_text(plain(statement.text, None))
    if looks == "light":
        app.use_light_theme()
    cut_off = {}
    for number, (section, pages) in enumerate(SAID.items()):
        for page, said in list(pages.items())[: None if looks == "dark" or app.keeps_pictures else 1]:
            app.choose_part(section, *filter(None, [page]))
            expect(panel).to_contain_text(said)
            is_first = looks == "dark" and page == next(iter(pages))
            readme = IN_README.get(section) if is_first else None
            app.picture(f"1{number}-{section}-{page}-{looks}".lower(), readme=readme)
            cut_off[section, page] = app.cut_off("raters")
    text = panel.get_by_role("button", name="Overview").evaluate("e => getComputedStyle(e).color")
    assert (brightness(text) < 160) == (looks == "light")  # dark on light
    assert not any(cut_off.values()), {where: found for where, found in cut_off.items() if found}
