"""Variations in the App: over thresholds, in outlines, in parts; each click leads to its labels."""

from __future__ import annotations

from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, WORKSPACE
from kalos_core import VARIATION_TYPES
from kalos_core.display import count_and_share
from kalos_core.figures import VARIATION_LABELS, shares_title, variations_title
from tests.browser.conftest import expect, rows
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

RUN = f"{KEY}_variations"


def test_types_and_confusions_lead_to_their_labels(app: Any, analysed: fo.Dataset) -> None:
    figures = kf.load_metrics(analysed, RUN).metrics
    app.open(analysed.name, WORKSPACE)
    panel = app.choose_part("Variations")
    expect(panel).to_contain_text(variations_title(figures["counts"]))
    expect(panel.locator(".bars .point path")).to_have_count(len(VARIATION_TYPES))
    raters = panel.locator("table")
    expect(raters.locator("tbody tr")).to_have_count(4)
    wrong_class = kf.view_of_variation(analysed, RUN, "wrong_class")
    assert 0 < len(wrong_class) < len(analysed)
    app.click_bar("raters", VARIATION_TYPES.index("wrong_class"))
    app.expect_count(len(wrong_class))
    expect(app.page.get_by_text("FilterLabels").first).to_be_attached()  # only those labels, not all of these images
    app.picture("41-variations-bar-clicked")

    # a row leads to the labels of two classes
    confusions = figures["confusions"]
    app.choose_part("Variations", "Confusions")
    table = panel.locator("table")
    expect(table.locator("tbody tr")).to_have_count(min(len(confusions), 25))
    first = confusions[0]
    assert [cell.splitlines()[0] for cell in rows(table)[0]] == [str(value) for value in first.values()]
    table.locator("tbody tr").first.click()
    pair = kf.view_of_confusion(analysed, RUN, first["category_a"], first["category_b"])
    assert 0 < len(pair) < len(analysed)
    app.expect_count(len(pair))
    app.picture("42-confused-pair-clicked")


def test_counts_are_read_at_any_threshold(app: Any, analysed: fo.Dataset) -> None:
    shares = kf.load_details(analysed, RUN).details.shares
    app.open(analysed.name, WORKSPACE)
    panel = app.choose_part("Threshold", "Types")
    expect(panel).to_contain_text(shares_title(shares.equilibrium, shares.no_equilibrium))
    expect(panel.locator(".js-plotly-plot .main-svg").first).to_be_visible()
    table = panel.locator("table")
    at = dict(zip(shares.threshold.tolist(), shares.counts.tolist(), strict=True))

    def said(level: float) -> list[str]:
        return [count_and_share(count, sum(at[level])) for count in at[level]]

    expect(table.locator("tbody tr")).to_have_count(len(VARIATION_TYPES))
    assert [row[1] for row in rows(table)] == said(0.5)

    # a click on the plot chooses the threshold below the mouse
    plot = panel.locator(".js-plotly-plot")
    box = app.scroll_to(plot.locator(".nsewdrag"))
    x, y = box["x"] + box["width"] * (0.75 - 0.1) / 0.8, box["y"] + box["height"] / 2
    app.page.mouse.move(x - 3, y)
    app.page.mouse.move(x, y)
    expect(plot.locator(".hoverlayer .legend, .hoverlayer .hovertext").first).to_be_visible()
    app.picture("71-thresholds-hover")
    app.page.mouse.click(x, y)
    expect(table.locator("th").nth(2)).to_contain_text("At 0.75")
    labels = [VARIATION_LABELS[name] for name in VARIATION_TYPES]
    assert [row[:3] for row in rows(table)] == [list(row) for row in zip(labels, said(0.5), said(0.75), strict=True)]
    app.scroll_to(table)
    app.picture("72-threshold-clicked")
    app.expect_nothing_cut_off("raters")
    app.expect_idle("raters")
    app.choose_in_menu("raters", "threshold 0.75", "threshold 0.90")
    expect(table.locator("th").nth(2)).to_contain_text("At 0.90")
