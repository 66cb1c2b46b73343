"""Image-level labels in the App: from the form to kappas, disputes, raters, curves and rankings."""

from __future__ import annotations

import re
from typing import Any

import fiftyone as fo
import numpy as np
import pandas as pd
import pytest

import kalos_core.fiftyone as kf
from kalos_core.figures import accuracy_title, kappa_title, majority_title, ranking_title
from tests.browser.conftest import GRID, expect

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser")]  # first of all, is there one?

BESIDE = "beside"

GROUPS = {"place": ["harbour", "meadow", "street"], "light": ["day", "dusk", "night"]}
OPTIONAL = ["busy", "pretty", "animals", "vehicles", "water"]
CARE = {"Ada": 0.92, "Ben": 0.85, "Chloé": 0.75, "Dr. Kim": 0.6}
"""How often each rater answers what the scene shows."""


@pytest.fixture
def quizzed(loaded: fo.Dataset) -> fo.Dataset:
    """The images of the demo, with image-level labels of four raters and scores of three classifiers."""
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
    grid, panel = fo.Panel(type="Samples", pinned=True), fo.Panel(type="labels")
    spaces = [fo.Space(children=[shown], active_child=shown.component_id) for shown in (grid, panel)]
    loaded.save_workspace(BESIDE, fo.Space(children=spaces, orientation="horizontal"))
    return loaded


def _shows(truth: dict[str, Any], concept: str) -> float:
    return float(truth[concept] if concept in OPTIONAL else concept in truth.values())


def test_from_nothing_to_disputes(app: Any, quizzed: fo.Dataset) -> None:
    app.open(quizzed.name, GRID)
    panel = app.add_panel("labels")
    expect(panel).to_contain_text("Nothing is computed yet")
    app.picture("labels_0_nothing_yet")
    panel.get_by_role("button", name="Compute agreement on image-level labels").click()
    form = app.form()
    app.picture("labels_1_form")
    for options in GROUPS.values():
        expect(form).to_contain_text(re.compile("Labels that exclude each other"))
        ticked = form.get_by_role("checkbox", name=re.compile(f"{options[0]}"))
        expect(ticked).to_be_checked()
    expect(form).to_contain_text("answers chose one")
    form.get_by_text("Compare two teams of raters").scroll_into_view_if_needed()
    app.picture("labels_2_form_groups")
    summary = app.execute(form)
    assert kf.list_runs(quizzed) == ["labels"]  # what the App did is taken up
    stored = kf.load_details(quizzed, "labels").details.agreement
    assert {frozenset(name.split(" / ")) for name in stored.question if "/" in name} == set(
        map(frozenset, GROUPS.values())
    )
    title = kappa_title(stored.question.tolist(), stored.free_marginal)
    expect(summary).to_contain_text(title)
    app.picture("labels_3_summary")
    app.finish()
    expect(panel).to_contain_text(title)
    app.picture("labels_4_first_run")
    app.choose_tab("labels", "Images")
    disputed = kf.load_metrics(quizzed, "labels").metrics["disputed"]
    panel.get_by_role("button", name=f"Show the {disputed} images in dispute").click()
    app.expect_count(disputed)


def test_every_section_shows_its_part(app: Any, quizzed: fo.Dataset) -> None:
    teams = {"experts": ["Ada", "Ben"], "crowd": ["Chloé", "Dr. Kim"]}
    run = kf.compute_label_agreement(quizzed, "labels", groups=GROUPS, teams=teams, least_accuracy=0.5)
    systems = ["resnet", "clip", "svm"]
    ranked = kf.rank_systems(quizzed, "ranking", systems=systems, groups=GROUPS, teams=teams)
    app.open(quizzed.name, BESIDE)
    panel = app.panel("labels")
    f, accuracy = run.metrics, run.details.accuracy
    said = {
        "Questions": "free-marginal kappa",
        "Concepts": majority_title(f["with_majority"]["concept_all"], f["with_majority"]["concept_chosen"]),
        "Images": majority_title(f["with_majority"]["item_all"], f["with_majority"]["item_chosen"], "image"),
        "Raters": accuracy_title(accuracy.raters.tolist(), accuracy.accuracy),
        "Running": "the interval is",
        "Classifiers": ranking_title(ranked.result.rankings["AUC"]),
    }
    expect(panel).to_contain_text("in dispute")
    for number, (section, text) in enumerate(said.items()):
        app.choose_tab("labels", section)
        expect(panel).to_contain_text(text)
        expect(panel.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        app.expect_idle("labels")
        app.scroll_to(panel.get_by_role("tablist"))
        app.picture(f"labels_5{number}_{section.lower()}", readme="labels" if section == "Questions" else None)
        app.scroll_to(panel.get_by_text("New run"))
        app.picture(f"labels_5{number}_{section.lower()}_below")
        app.expect_nothing_cut_off("labels")
    app.choose_tab("labels", "Raters")
    for part in ("are rejected", "place: ", "Cohen's κ on"):
        app.scroll_to(panel.get_by_text(part).first)
        app.picture(f"labels_57_raters_{part.split()[0].strip(':').lower()}")
    app.choose_tab("labels", "Questions")
    expect(panel.locator("tbody tr")).to_have_count(len(GROUPS) + len(OPTIONAL))
    app.click_bar("labels", 0)
    found = run.details.agreement
    least = found.question[found.free_marginal.argmin()]
    app.expect_count(len(kf.view_of_disputes(quizzed, "labels", question=least)))
    app.use_light_theme()
    for number, section in enumerate(said):
        app.choose_tab("labels", section)
        app.expect_idle("labels")
        app.scroll_to(panel.get_by_role("tablist"))
        app.picture(f"labels_6{number}_{section.lower()}_light")
