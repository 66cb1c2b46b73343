"""Response times for a user of the App: sections, decisions and views, in a browser with a live Python session.

Every data set is synthetic as in `benchmarks.clicks`; its images are links to one picture.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import fiftyone as fo
from PIL import Image

import kalos_core.fiftyone as kf
from benchmarks.clicks import LABELS, SIDE, dataset_of, table_of
from benchmarks.tables import Measured, Row, Table
from demo.__main__ import WORKSPACE, _arrange
from scripts.setup_environment import find_browser
from tests.browser.living import Living, free_port
from tests.browser.windows import DECIDE, FLAGS, QUIET, SIZE

SAMPLES = (72, 5_000)
MANY_SAMPLES = 20_000

ROOT = Path(__file__).resolve().parents[1]

KEY = "first"

SWITCH, DECISION, PAINT = (Measured((seconds,)) for seconds in (0.1, 0.1, 1.5))
"""Maximum seconds for another section, for the next dispute, and until the panel shows *Overview*."""

OF_FIFTYONES_OWN = 1.3
"""Maximum factor of a view by a click vs. the same stages typed into the view bar."""

LOOK, AIM = 1_000, 200
"""Milliseconds for looking at the screen, and for the pointer resting on a name before a click."""

BIN = re.compile(r"^[-−\d.]+ to ")
"""Bar of the histogram of alphas, by its name."""

PICK = """async name => {
    const there = () => document.querySelector(`main[aria-label="${name}"]`);
    const start = performance.now();
    [...document.querySelectorAll('[role=tab]')].find(tab => tab.textContent === name).click();
    while (!there() || document.querySelector('[role=status][aria-label=Loading]')) {
        await new Promise(requestAnimationFrame);
    }
    return performance.now() - start;
}"""
"""Milliseconds from a click on the tab of a section until it is drawn."""


def all_tables(repeats: int, large: bool, say: Callable[[str], None]) -> Iterator[Table]:
    for samples in (*SAMPLES, *([MANY_SAMPLES] if large else [])):
        say(f"the App with {samples:,} samples")
        yield panels(samples, repeats)


def panels(samples: int, repeats: int) -> Table:
    """Measure the median time from a click to the result on the screen."""
    with _shown(samples) as (dataset, page, address):
        page.goto(f"{address}/datasets/{dataset.name}?workspace={WORKSPACE}")
        page.locator("[data-cy=looker]").first.wait_for()
        page.locator("[data-cy=alpha]").first.wait_for()
        rows = [
            Row("Overview stands in the panel", _times(repeats, lambda: _opened(page)), PAINT, 1.0),
            Row("another section", _switches(page, repeats), SWITCH, 1.0),
            Row("the next dispute after a decision", _decisions(page, repeats), DECISION, 1.0),
        ]
        clicked, typed = _views(page, dataset, repeats)
        rows.append(Row("a view in the grid by a click", clicked, typed, OF_FIFTYONES_OWN))
    title = f"the App with {samples:,} samples, {LABELS} labels of each of 2 raters"
    return Table(title, tuple(rows), other="allowed, or typed into the view bar", speedup=False)


@contextmanager
def _shown(samples: int) -> Iterator[tuple[Any, Any, str]]:
    """Yield an analysed data set, a window, and the address of the App that shows it."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with dataset_of(table_of(samples)) as dataset:
            _draw(dataset, folder)
            kf.analyse(dataset, KEY, settings={"calibration": {"bootstrap": 0}, "convergence": {"subsets": 5}})
            _arrange(dataset, fo)
            dataset.persistent = True
            session = Living(folder, free_port(), dataset.name, _environment(folder))
            try:
                with sync_playwright() as playwright:
                    found = (find_browser() or "").split(" (")[0]
                    browser = playwright.chromium.launch(executable_path=found, args=[*FLAGS, "--no-sandbox"])
                    page = browser.new_context(viewport=SIZE, reduced_motion="reduce").new_page()
                    page.set_default_timeout(120_000)
                    page.add_init_script(QUIET)
                    yield dataset, page, session.address
                    browser.close()
            finally:
                session.end()


def _draw(dataset: Any, folder: Path) -> None:
    Image.new("RGB", (SIDE, SIDE), (90, 120, 90)).save(folder / "one.jpg")
    paths = [folder / Path(path).name for path in dataset.values("filepath")]
    for path in paths:
        path.symlink_to(folder / "one.jpg")
    dataset.set_values("filepath", list(map(str, paths)))


def _environment(folder: Path) -> dict[str, str]:
    from fiftyone.core.odm import get_db_client

    (folder / "plugins").mkdir()
    (folder / "plugins" / "kalos").symlink_to(ROOT, target_is_directory=True)
    host, port = get_db_client().address
    return {
        **os.environ,
        "FIFTYONE_PLUGINS_DIR": str(folder / "plugins"),
        "FIFTYONE_DATABASE_URI": f"mongodb://{host}:{port}",
        "FIFTYONE_DO_NOT_TRACK": "true",
        "FIFTYONE_PLUGINS_CACHE_ENABLED": "true",  # as in `make demo`
    }


def _times(repeats: int, act: Callable[[], float]) -> Measured:
    """Return the seconds of each round after a first that does not count; `act` returns milliseconds."""
    act()
    return Measured(tuple(act() / 1_000 for _ in range(repeats)))


def _opened(page: Any) -> float:
    """Measure from a click on the panel's name in the list of panels until its number is visible."""
    page.locator("[data-cy=panel-tab-raters] button[title=Close]").click()
    page.locator("[data-cy=panel-content-raters]").wait_for(state="detached")
    page.wait_for_timeout(LOOK)
    page.locator('[data-cy="new-panel-btn"]').first.click()
    start = time.perf_counter()
    page.locator('[data-cy="new-panel-option-raters"]').click()
    page.locator("[data-cy=alpha]").first.wait_for()
    return 1_000 * (time.perf_counter() - start)


def _switches(page: Any, repeats: int) -> Measured:
    names = cycle(("Raters", "Differences", "Overview"))

    def switch() -> float:
        name = next(names)
        page.wait_for_timeout(LOOK)
        page.get_by_role("tab", name=name, exact=True).hover()
        page.wait_for_timeout(AIM)
        return page.evaluate(PICK, name)

    return _times(repeats, switch)


def _decisions(page: Any, repeats: int) -> Measured:
    page.get_by_role("tab", name="Decide", exact=True).click()
    page.locator("[data-cy=crop] svg image").first.wait_for()
    page.get_by_role("group", name="Decide by keys").focus()

    def decide() -> float:
        page.wait_for_timeout(LOOK)
        return page.evaluate(DECIDE, "1")

    return _times(repeats, decide)


def _views(page: Any, dataset: Any, repeats: int) -> tuple[Measured, Measured]:
    """Measure the images with an alpha in a range, by a click and with typed stages, in turns."""
    page.get_by_role("tab", name="Differences", exact=True).click()
    page.get_by_role("radio", name="Images", exact=True).click()
    bar = page.get_by_role("main", name="Images").get_by_role("button", name=BIN, disabled=False).first
    bar.wait_for()
    low, high = map(float, bar.get_attribute("aria-label").split(":")[0].replace("−", "-").split(" to "))
    stage = {"$and": [{f"{KEY}_alpha": {"$gte": low}}, {f"{KEY}_alpha": {"$lt": high}}]}
    whole, clicked, typed = f"{len(dataset):,} samples", [], []
    for turn in range(repeats + 1):
        took = _until_other(page, whole, bar.click)
        page.get_by_role("button", name="Back", exact=True).click()
        page.locator("[data-cy=entry-counts]").get_by_text(whole).wait_for()
        _type(page, json.dumps(stage))
        other = _until_other(page, whole, page.get_by_role("button", name="Submit").click)
        page.locator("[data-cy=btn-clear-view-bar]").click()
        page.locator("[data-cy=entry-counts]").get_by_text(whole).wait_for()
        if turn:
            clicked.append(took)
            typed.append(other)
    return Measured(tuple(clicked)), Measured(tuple(typed))


def _type(page: Any, stage: str) -> None:
    page.locator("[data-cy=input-view-stage]").last.click()
    page.keyboard.type("Match")
    page.keyboard.press("Enter")
    page.locator("[data-cy=view-bar] textarea").fill(stage)


def _until_other(page: Any, whole: str, act: Callable[[], None]) -> float:
    """Return the seconds until the grid shows another count and its first image."""
    start = time.perf_counter()
    act()
    page.wait_for_function(
        """whole => {
            const found = document.querySelector('[data-cy="entry-counts"]')?.textContent ?? "";
            return /^\\d/.test(found) && found !== whole && document.querySelector('[data-cy="looker"]');
        }""",
        arg=whole,
    )
    return time.perf_counter() - start
