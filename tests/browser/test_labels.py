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
from tests.browser.conftest import expect
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

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
    grid, panel = fo.Panel(type="Samples", pinned=True), fo.Panel(type="raters")
    spaces = [fo.Space(children=[shown], active_child=shown.component_id) for shown in (grid, panel)]
    loaded.save_workspace(BESIDE, fo.Space(children=spaces, orientation="horizontal"))
    return loaded


def _shows(truth: dict[str, Any], concept: str) -> float:
    return float(truth[concept] if concept in OPTIONAL else concept in truth.values())


def test_from_nothing_to_disputes(app: Any, quizzed: fo.Dataset) -> None:
    kf.rank_systems(quizzed, "ranking", systems=["resnet", "clip", "svm"], groups=GROUPS)
    app.open(quizzed.name, BESIDE)
    panel = app.choose_part("Questions")
    expect(panel).to_contain_text("Nothing is computed yet")
    app.picture("labels_0_nothing_yet")
    panel.get_by_role("button", name="Image-level labels: new run").click()
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
    assert kf.list_runs(quizzed, "image_labels") == ["labels"]  # what the App did is taken up
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
    app.choose_part("Questions", "Images")
    disputed = kf.load_metrics(quizzed, "labels").metrics["disputed"]
    panel.get_by_role("button", name=f"Show the {disputed} images in dispute").click()
    app.expect_count(disputed)


def test_every_section_shows_its_part(app: Any, quizzed: fo.Dataset) -> None:
    teams = {"experts": ["Ada", "Ben"], "crowd": ["Chloé", "Dr. Kim"]}
    run = kf.compute_label_agreement(quizzed, "labels", groups=GROUPS, teams=teams, least_accuracy=0.5)
    systems = ["resnet", "clip", "svm"]
    ranked = kf.rank_systems(quizzed, "ranking", systems=systems, groups=GROUPS, teams=teams)
    app.open(quizzed.name, BESIDE)
    panel = app.choose_part("Questions")
    f, accuracy = run.metrics, run.details.accuracy
    said = {
        ("Questions", "Agreement"): "Raters agree well on",
        ("Questions", "Concepts"): majority_title(
            f["with_majority"]["concept_all"], f["with_majority"]["concept_chosen"]
        ),
        ("Questions", "Images"): majority_title(
            f["with_majority"]["item_all"], f["with_majority"]["item_chosen"], "image"
        ),
        ("Questions", "Raters"): accuracy_title(accuracy.raters.tolist(), accuracy.accuracy),
        ("Questions", "Over time"): "the interval is",
        ("Teams",): "experts and crowd differ on",
        ("Ranking",): ranking_title(ranked.result.rankings["AUC"]),
    }
    top = panel.get_by_role("button", name="Questions", exact=True)
    for number, (part, text) in enumerate(said.items()):
        app.choose_part(*part)
        expect(panel).to_contain_text(text)
        expect(panel.locator(".js-plotly-plot .main-svg").first).to_be_visible()
        app.expect_idle("raters")
        name = "_".join(part).lower().replace(" ", "_")
        app.picture(f"labels_5{number}_{name}", readme="labels" if number == 0 else None, of=top)
        app.picture(f"labels_5{number}_{name}_below", of=panel.locator("table, .js-plotly-plot").last)
        app.expect_nothing_cut_off("raters")
    app.choose_part("Questions", "Raters")
    for part in ("are rejected", "Cohen's κ"):
        app.scroll_to(panel.get_by_text(part).first)
        app.picture(f"labels_57_raters_{part.split()[0].strip(':').lower()}")
    app.choose_part("Agreement")
    expect(panel.locator("tbody tr")).to_have_count(len(GROUPS) + len(OPTIONAL))
    app.click_bar("raters", 0)
    found = run.details.agreement
    least = found.question[found.free_marginal.argmin()]
    app.expect_count(len(kf.view_of_disputes(quizzed, "labels", question=least)))
    if not app.keeps_pictures:
        return
    app.use_light_theme()
    for number, part in enumerate(said):
        app.choose_part(*part)
        app.picture(f"labels_6{number}_{'_'.join(part).lower().replace(' ', '_')}_light", of=top)
