"""Every section of the panel in both themes and on both screen sizes: the finding is shown, nothing is cut off."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import fiftyone as fo
import numpy as np
import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core.text import plain
from tests.browser.app import RATERS
from tests.browser.conftest import brightness, expect
from tests.browser.windows import SIZE
from tests.fiftyone_bridge.stacks import add_scores, drawn_stack
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

LARGE = {"width": 1920, "height": 1080}

Pages = dict[str, dict[str, str]]
"""Section -> its pages ("" if it has none) -> text on each."""

OBJECTS: Pages = {
    "Overview": {"": "Next steps"},
    "Published": {"": "Configuration"},
    "Images": {"": "images with the lowest agreement"},
    "Variations": {
        "Types": "How often each rater differs, per object",
        "Outlines": "How far apart are they in pixels?",
        "Merged": "several annotations of one rater are one of another's",
        "Attributes": "Do raters agree on more than the class?",
    },
    "Classes": {"Agreement": "Raters agree least about", "Confusions": "findings of two classes for one object"},
    "Raters": {
        "Each rater": "How often each rater differs, per object",
        "Pairs": "agree most",
        "Sessions": "No rater has several sessions",
    },
    "Threshold": {
        "Calibration": "",
        "Sensitivity": "its images, the lowest alpha first",
        "Types": "Findings of each type",
        "Published": "Similarity",
    },
    "Ceiling": {
        "Interval": "No model can be expected to pass",
        "Subsets": "Statistics over the subsets",
        "Raters": "",
        "Checks": "Do the data support this estimate?",
    },
    "Decide": {"": "decisions made"},
    "Training list": {"": ""},
    "Guideline": {"": ""},
    "Results": {"": "Hand over"},
    "Runs": {"List": "All runs, newest first", "Compare": "There is only one analysis"},
}

MASKS: Pages = {
    "Masks": {
        "Raters": "eve stands out among 5 raters",
        "Boundaries": "Boundaries of two raters are",
        "Divisions": "Regions of two raters: adjusted Rand index",
        "Images": "agree on",
    },
    "Truth": {"": "Click a row to compare raters with it"},
    "Ranking": {"Detectors": "The best depends on the reference", "Curves": "sharp reaches"},
    "Overview": {"": "Key findings"},
    "Decide": {"": "decisions made"},
    "Results": {"": "Hand over"},
}

LABELS: Pages = {
    "Overview": {"": "Key findings"},
    "Decide": {"": "decisions made"},
    "Questions": {
        "Agreement": "Coefficients of each question",
        "Concepts": "",
        "Images": "images in dispute",
        "Raters": "Agreement of every two raters on this question",
        "Over time": "the interval is",
        "Who is right": "most often take",
    },
    "Teams": {"": "experts and crowd differ on"},
    "Ranking": {"": ""},
}

NOISE: Pages = {
    "Noise": {
        "Events": "",
        "Images": "",
        "Raters": "Events of each rater",
        "Loss": "Signal loss at λ = 1",
        "Fidelity": "Tests of the number of unmatched annotations",
        "Used": "",
    }
}

IN_README = {
    "Raters": "raters",
    "Threshold": "calibration",
    "Masks": "truth",
    "Questions": "labels",
}
"""Section -> image of its first page in the README."""


@pytest.fixture
def masks(tmp_path: Any, analysed_once: fo.Dataset) -> Iterator[fo.Dataset]:
    """Create masks of five raters and score maps of two detectors, with a run of each kind."""
    drawn_stack(tmp_path)
    dataset = kf.load_mask_folders(tmp_path / "masks", "masks", images=tmp_path / "images").dataset
    add_scores(dataset, tmp_path)
    more = {"regions": True, "region_area": 60}
    kf.compute_pixel_agreement(dataset, "pixels", images=True, boundaries=True, divisions=True, **more)
    kf.estimate_truth(dataset, "truth", methods=["any", "0.5", "excl-0.5", "staple"])
    options = {"truths": ["truth_staple"], "shares": "all", "boundaries": 9}
    kf.rank_detectors(dataset, "detectors", detectors=["sharp", "broad"], **options)
    dataset.save_workspace(WORKSPACE, analysed_once.load_workspace(WORKSPACE))
    yield dataset
    dataset.delete()


GROUPS = {"place": ["harbour", "meadow", "street"], "light": ["day", "dusk", "night"]}
OPTIONAL = ["busy", "pretty", "animals", "vehicles", "water"]
CARE = {"Ada": 0.92, "Ben": 0.85, "Chloé": 0.75, "Dr. Kim": 0.6}
"""Probability that each rater answers correctly."""


@pytest.fixture
def quizzed(loaded: fo.Dataset, analysed_once: fo.Dataset) -> fo.Dataset:
    """Add image-level labels of four raters and scores of three classifiers to the images of the demo."""
    rng = np.random.default_rng(6)
    truth = [
        {question: str(rng.choice(options)) for question, options in GROUPS.items()}
        | {name: bool(rng.random() < 0.5) for name in OPTIONAL}
        for _ in range(len(loaded))
    ]
    ids = loaded.values("id")
    answers = []
    for image, shown in zip(ids, truth, strict=True):
        for rater, care in CARE.items():
            chosen = [str(rng.choice(of)) if rng.random() > care else shown[name] for name, of in GROUPS.items()]
            chosen += [name for name in OPTIONAL if (rng.random() < care) == shown[name]]
            time = float(rng.integers(1000))
            answers += [{"item": image, "rater": rater, "label": name, "time": time} for name in chosen]
    kf.load_label_table(pd.DataFrame(answers), loaded, time="time", groups=GROUPS)
    concepts = [*GROUPS["place"], *GROUPS["light"], *OPTIONAL]
    for system, noise in (("resnet", 0.8), ("clip", 0.82), ("svm", 0.84)):
        scores = [
            fo.Classifications(
                classifications=[
                    fo.Classification(label=name, confidence=float(_shows(shown, name) + noise * rng.normal()))
                    for name in concepts
                ]
            )
            for shown in truth
        ]
        loaded.set_values(system, scores)
    teams = {"experts": ["Ada", "Ben"], "crowd": ["Chloé", "Dr. Kim"]}
    options = {"groups": GROUPS, "teams": teams}
    kf.compute_label_agreement(loaded, "labels", least_accuracy=0.5, truth="confusion", bootstrap=50, **options)
    kf.rank_systems(loaded, "ranking", systems=["resnet", "clip", "svm"], **options)
    loaded.save_workspace(WORKSPACE, analysed_once.load_workspace(WORKSPACE))
    return loaded


def _shows(truth: dict[str, Any], concept: str) -> float:
    return float(truth[concept] if concept in OPTIONAL else concept in truth.values())


@pytest.fixture
def noisy(loaded: fo.Dataset, analysed_once: fo.Dataset) -> fo.Dataset:
    """Create synthetic raters from a model fitted to the real ones."""
    kf.inject_noise(loaded, "noise", reference="ana", raters=2, model="fit")
    loaded.save_workspace(WORKSPACE, analysed_once.load_workspace(WORKSPACE))
    return loaded


@pytest.mark.parametrize(("looks", "size"), [("dark", SIZE), ("light", LARGE)])
@pytest.mark.parametrize(
    ("name", "sections"), [("analysed", OBJECTS), ("masks", MASKS), ("quizzed", LABELS), ("noisy", NOISE)]
)
def test_every_section_says_its_finding_and_fits(
    looks: str, size: dict[str, int], name: str, sections: Pages, app: Any, request: pytest.FixtureRequest
) -> None:
    """Test the first page of each section in the light theme, and all pages if screenshots are requested."""
    dataset = request.getfixturevalue(name)
    app.page.set_viewport_size(size)
    app.open(dataset.name, WORKSPACE)
    panel = app.raters()
    if name == "analysed":
        said_of = {statement.leads_to: statement.text for statement in kf.overview_of(dataset, KEY)}
        for section in ("Images", "Variations", "Classes"):  # other pages show them shortened; hover for the full text
            expect(panel).to_contain_text(plain(said_of[section], None))
    if looks == "light":
        app.use_light_theme()
    cut_off = {}
    for number, (section, pages) in enumerate(sections.items()):
        for page, said in list(pages.items())[: None if looks == "dark" or app.keeps_pictures else 1]:
            app.choose_part(section, *filter(None, [page]))
            expect(panel).to_contain_text(said)
            is_first = looks == "dark" and page == next(iter(pages))
            readme = IN_README.get(section) if is_first else None
            app.picture(f"{name}-{number}-{section}-{page}-{looks}".lower(), readme=readme)
            app.expect_accessible(RATERS)
            cut_off[section, page] = app.cut_off("raters")
    assert (brightness(panel.evaluate("e => getComputedStyle(e).color")) < 160) == (looks == "light")  # dark on light
    assert not any(cut_off.values()), {where: found for where, found in cut_off.items() if found}
