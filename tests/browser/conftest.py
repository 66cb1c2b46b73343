"""FiftyOne's server with the plugin, an installed browser, and data sets to show."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

import kalos_core.fiftyone as kf
from demo.__main__ import KEY, _arrange, tag_themes
from demo.files import IMAGES, LABELS, write
from demo.raters import simulate
from demo.scenes import Scene, draw_scenes
from scripts.setup_environment import find_browser
from tests.browser.living import Living, free_port
from tests.browser.windows import FLAGS, QUIET, SIZE

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "artifacts" / "screenshots"
GRID = "grid"  # a workspace that shows only the grid
QUICK = {"calibration": {"bootstrap": 20}, "convergence": {"subsets": 200, "fraction": 0.5, "tags": True}}
"""Settings of an analysis that take seconds."""

NUMBERS = count(1)  # for unique names of copies
FEW = 40  # enough images for a statement about the hardest class
PATIENCE = 60_000  # milliseconds, on a machine with other load


@pytest.fixture(scope="module")  # stop its event loop: operators called within a running one return a task
def browser() -> Iterator[Any]:
    """Start Chromium, Chrome or Edge; without one, tests are skipped, or fail if one is required."""
    found = find_browser()
    if found is None:
        text = "no Chromium, Chrome or Edge that starts is installed"
        if os.environ.get("KALOS_REQUIRE_BROWSER") == "1":
            pytest.fail(f"{text}, and KALOS_REQUIRE_BROWSER=1 asks for one")
        pytest.skip(text)
    sync_api = pytest.importorskip("playwright.sync_api")
    sync_api.expect.set_options(timeout=PATIENCE)
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else FLAGS
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found.split(" (")[0], args=flags)
        yield started
        started.close()


@pytest.fixture(scope="session")
def living(
    closed: list[fo.Dataset],  # noqa: ARG001 - copies outlive the session
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> Iterator[Living]:
    """Start a Python session with the App, on this process's database, with this folder as its only plugin."""
    from fiftyone.core.odm import get_db_client

    folder = tmp_path_factory.mktemp("app")
    (folder / "plugins").mkdir()
    (folder / "plugins" / "kalos").symlink_to(ROOT, target_is_directory=True)
    host, database_port = get_db_client().address
    environment = {
        **os.environ,
        "FIFTYONE_PLUGINS_DIR": str(folder / "plugins"),
        "FIFTYONE_DATABASE_URI": f"mongodb://{host}:{database_port}",  # otherwise it might find another server
        "PYTHONUNBUFFERED": "1",
    }
    if not request.config.getoption("--pictures"):  # each click redraws the grid, so use few large images
        environment["FIFTYONE_APP_GRID_ZOOM"] = "10"
    first = fo.Dataset("shown-first", persistent=True, overwrite=True)
    session = Living(folder, free_port(), first.name, environment)
    yield session
    session.end()
    first.delete()


@pytest.fixture
def server(living: Living) -> Iterator[str]:
    """Return the address of the App; a test fails on errors in the session or its server."""
    living.failures()
    yield living.address
    assert not (found := living.failures()), "\n\n".join(found)


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    """Return the context of windows, in which the App's scripts are fetched and compiled once."""
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.add_init_script(QUIET)
    yield context
    context.close()


OF_THE_GRID = ("entry is loading",)
"""Errors of FiftyOne's grid when a window closes while it loads images."""


@pytest.fixture
def page(
    context: Any,
    copy: Callable[[fo.Dataset], fo.Dataset],  # noqa: ARG001 - copies outlive the window
    request: pytest.FixtureRequest,
) -> Iterator[Any]:
    """Open a window of the size the panels are made for; keep its screenshot if a test fails."""
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: None if str(error) in OF_THE_GRID else errors.append(str(error)))
    failed_before = request.session.testsfailed
    yield page
    if request.session.testsfailed > failed_before:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"failed-{request.node.name}.png")
    if page.url.startswith("http"):  # otherwise it was never opened
        page.evaluate("localStorage.clear(); sessionStorage.clear()")  # the next test begins as a new visitor
    page.close()
    assert not errors, "\n".join(errors)


# ---- data sets and the App ----


@pytest.fixture(scope="session")
def drawn(request: pytest.FixtureRequest) -> list[Scene]:
    """Draw the scenes of the demo; only a few if only the journey is tested."""
    return draw_scenes(*([] if request.config.getoption("--all") else [FEW]))


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory, drawn: list[Scene]) -> Path:
    """Write a folder with the images of the demo and the labels of its four raters."""
    return write(tmp_path_factory.mktemp("demo") / "scenes", drawn, simulate(drawn))


@pytest.fixture(scope="session")
def loaded_once(scenes: Path, drawn: list[Scene]) -> Iterator[fo.Dataset]:
    """Load the labels, with a workspace that shows only the grid."""
    dataset = kf.load_raters(scenes / LABELS, "original", images=scenes / IMAGES).dataset
    tag_themes(dataset, drawn)
    dataset.save_workspace(GRID, fo.Space(children=[fo.Panel(type="Samples", pinned=True)]))
    yield dataset
    dataset.delete()  # at the very end, because the App may still send requests


@pytest.fixture(scope="session")
def analysed_once(loaded_once: fo.Dataset) -> Iterator[fo.Dataset]:
    """Return the data set with everything that the demo adds."""
    dataset = loaded_once.clone("analysed")
    kf.analyse(dataset, KEY, settings=QUICK)
    _arrange(dataset, fo)
    yield dataset
    dataset.delete()


@pytest.fixture(scope="session")
def closed() -> Iterator[list[fo.Dataset]]:
    """Return copies whose window is closed; the last ones are deleted when the session has ended."""
    copies: list[fo.Dataset] = []
    yield copies
    for dataset in copies:
        dataset.delete()


@pytest.fixture
def copy(closed: list[fo.Dataset]) -> Iterator[Callable[[fo.Dataset], fo.Dataset]]:
    """Return a function that copies a data set under a new name, because the App restores the state of known names.

    Copies are deleted, because FiftyOne's server reads all data sets on each click, but only after the next test: the
    session may still have to read what the last click changed, and if its data set is gone by then, FiftyOne reports
    that it lost the connection, and ten seconds later shows its first data set in all windows.
    """
    made: list[fo.Dataset] = []

    def copied(original: fo.Dataset) -> fo.Dataset:
        made.append(original.clone(f"scenes-{next(NUMBERS)}"))
        return made[-1]

    yield copied
    for dataset in closed:
        dataset.delete()
    closed[:] = made


@pytest.fixture
def loaded(loaded_once: fo.Dataset, copy: Callable[[fo.Dataset], fo.Dataset]) -> fo.Dataset:
    """Return labels of four raters, without any analysis."""
    return copy(loaded_once)


@pytest.fixture
def few(loaded_once: fo.Dataset, copy: Callable[[fo.Dataset], fo.Dataset]) -> fo.Dataset:
    """Return a few of the samples, which are analysed in seconds."""
    dataset = copy(loaded_once)
    dataset.delete_samples(dataset.skip(FEW))
    return dataset


@pytest.fixture
def analysed(analysed_once: fo.Dataset, copy: Callable[[fo.Dataset], fo.Dataset]) -> fo.Dataset:
    """Return the analysed data set, in the demo's workspace."""
    return copy(analysed_once)


@pytest.fixture
def app(page: Any, server: str, living: Living, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Open the App in a window; at the end, window and session must show the data set opened last."""
    from tests.browser.app import App

    app = App(page, server, keeps_pictures=request.config.getoption("--pictures"))
    yield app
    if app.opened:
        app.expect_still_open()
        assert living.known()["dataset"] == app.opened


def expect(target: Any) -> Any:
    from playwright import sync_api

    return sync_api.expect(target)


def brightness(colour: str) -> float:
    """Return the brightness of a colour as browsers write it: 0 black, 255 white."""
    red, green, blue = map(float, re.findall(r"[\d.]+", colour)[:3])
    return 0.299 * red + 0.587 * green + 0.114 * blue


def rows(table: Any) -> list[list[str]]:
    """Return the texts of a table's cells."""
    found: Any = table.locator("tbody tr").evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('td, th')].map(cell => cell.innerText))"
    )
    return found
