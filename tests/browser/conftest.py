"""FiftyOne's server with the plugin, a browser that is already installed, and data sets to look at."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import suppress
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
from kalos_core import KalosWarning
from scripts.setup_environment import find_browser

ROOT = Path(__file__).resolve().parents[2]
SCREENSHOTS = ROOT / "artifacts" / "screenshots"
SIZE = {"width": 1280, "height": 800}
GRID = "grid"  # a workspace that shows nothing but the grid
QUICK = {"calibration": {"bootstrap": 20}, "convergence": {"subsets": 200, "fraction": 0.5, "tags": True}}
"""Settings of an analysis that takes seconds."""

NUMBERS = count(1)  # of copies, none of which shares its name with another
PATIENCE = 20_000  # milliseconds, on a machine that does other things too

# No look-ups of the browser's maker: the tests need no network
FLAGS = [
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]

QUIET = """
localStorage.setItem('fiftyone-enterprise-tooltip-seen', 'true');
const still = document.createElement('style');
still.textContent = '*, *::before, *::after { animation: none !important; transition: none !important }';
document.addEventListener('DOMContentLoaded', () => document.head.append(still));
"""
"""FiftyOne greets new visitors with a dialog above everything else; what turns while it waits costs a core."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test with a theme is run in both if pictures are asked for; what it expects is the same in either."""
    if "theme" in metafunc.fixturenames:
        both = metafunc.config.getoption("--pictures")
        metafunc.parametrize("theme", ["dark", "light"] if both else ["dark"])


@pytest.fixture(scope="module")  # its event loop must not run on: operators called within one answer a task
def browser() -> Iterator[Any]:
    """Chromium, Chrome or Edge; where there is none the tests are skipped, or fail if one is required."""
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
def server(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of an App on this process's own database, with this folder as its only plugin."""
    import fiftyone
    from fiftyone.core.odm import get_db_client

    folder = tmp_path_factory.mktemp("app")
    (folder / "plugins").mkdir()
    (folder / "plugins" / "kalos").symlink_to(ROOT, target_is_directory=True)
    host, database_port = get_db_client().address
    port = _free_port()
    environment = {
        **os.environ,
        "FIFTYONE_PLUGINS_DIR": str(folder / "plugins"),
        "FIFTYONE_DATABASE_URI": f"mongodb://{host}:{database_port}",  # else it might find another one's server
    }
    if not request.config.getoption("--pictures"):  # each click draws the grid anew: large pictures are few
        environment["FIFTYONE_APP_GRID_ZOOM"] = "10"
    main = Path(fiftyone.__file__).parent / "server" / "main.py"
    command = [sys.executable, str(main), "--address", "127.0.0.1", "--port", str(port)]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/", process, folder / "log.txt")
        yield f"http://127.0.0.1:{port}"
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # the server and all that it started
        process.wait(10)


def _free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    for _ in range(240):
        with suppress(urllib.error.URLError, ConnectionError):
            urllib.request.urlopen(address, timeout=5).close()
            return
        if process.poll() is not None:
            break
        time.sleep(0.25)
    pytest.fail(f"the App did not start:\n{log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def context(browser: Any) -> Iterator[Any]:
    """What windows share: the App's scripts are fetched and compiled once."""
    context = browser.new_context(viewport=SIZE, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE)
    context.add_init_script(QUIET)
    yield context
    context.close()


@pytest.fixture
def page(
    context: Any,
    copy: Callable[[fo.Dataset], fo.Dataset],  # noqa: ARG001 - copies outlive the window
    request: pytest.FixtureRequest,
) -> Iterator[Any]:
    """A window of the size the panels are made for; what it shows at the end of a failed test is kept."""
    page = context.new_page()
    failed_before = request.session.testsfailed
    yield page
    if request.session.testsfailed > failed_before:
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SCREENSHOTS / f"failed-{request.node.name}.png")
    if page.url.startswith("http"):  # else it was never opened
        page.evaluate("localStorage.clear(); sessionStorage.clear()")  # the next test begins as a new visitor
    page.close()


# ---- data sets and the App ----


@pytest.fixture(scope="session")
def drawn() -> list[Scene]:
    """The scenes of the demo."""
    return draw_scenes()


@pytest.fixture(scope="session")
def scenes(tmp_path_factory: pytest.TempPathFactory, drawn: list[Scene]) -> Path:
    """A folder with the pictures of the demo and the labels of its four raters."""
    return write(tmp_path_factory.mktemp("demo") / "scenes", drawn, simulate(drawn))


@pytest.fixture(scope="session")
def originals(scenes: Path, drawn: list[Scene]) -> Iterator[dict[str, fo.Dataset]]:
    """The labels with a workspace that shows nothing but the grid; and the same with all that the demo adds."""
    before = set(fo.list_datasets())
    loaded = kf.load_raters(scenes / LABELS, "original", images=scenes / IMAGES).dataset
    tag_themes(loaded, drawn)
    loaded.save_workspace(GRID, fo.Space(children=[fo.Panel(type="Samples", pinned=True)]))
    analysed = loaded.clone("analysed")
    with pytest.warns(KalosWarning, match="label convergence is .* on all|have fewer than 100 images"):
        kf.analyse(analysed, KEY, settings=QUICK)
    _arrange(analysed, fo)
    yield {"loaded": loaded, "analysed": analysed}
    for name in set(fo.list_datasets()) - before:  # at the very end: the App may still be asking for something
        fo.delete_dataset(name)


@pytest.fixture
def copy() -> Iterator[Callable[[fo.Dataset], fo.Dataset]]:
    """Copies a data set under a new name: the App goes on where one of the same name was left.

    Copies go once the window is closed that showed them: for each click FiftyOne's server reads all that are there.
    """
    made: list[fo.Dataset] = []

    def copied(original: fo.Dataset) -> fo.Dataset:
        made.append(original.clone(f"scenes-{next(NUMBERS)}"))
        return made[-1]

    yield copied
    for dataset in made:
        dataset.delete()


@pytest.fixture
def loaded(originals: dict[str, fo.Dataset], copy: Callable[[fo.Dataset], fo.Dataset]) -> fo.Dataset:
    """Labels of four raters, and nothing computed yet."""
    return copy(originals["loaded"])


@pytest.fixture
def analysed(originals: dict[str, fo.Dataset], copy: Callable[[fo.Dataset], fo.Dataset]) -> fo.Dataset:
    """The same analysed, in the demo's workspace."""
    return copy(originals["analysed"])


@pytest.fixture
def app(page: Any, server: str, request: pytest.FixtureRequest) -> Any:
    from tests.browser.app import App

    return App(page, server, keeps_pictures=request.config.getoption("--pictures"))


def expect(target: Any) -> Any:
    from playwright import sync_api

    return sync_api.expect(target)


def rows(table: Any) -> list[list[str]]:
    from tests.browser import app

    return app.rows(table)


def brightness(colour: str) -> float:
    from tests.browser import app

    return app.brightness(colour)
