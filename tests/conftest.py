"""Fixtures of the core's tests. Fixtures that need FiftyOne are in the conftest of their folder."""

import gc
import json
import os
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from hypothesis import settings

from kalos_core import Annotations, read_coco, read_lidc
from tests import fiftyone_environment  # before any test imports FiftyOne

# `pytest --hypothesis-profile=thorough` runs more examples
settings.register_profile("kalos", deadline=None, max_examples=10, derandomize=bool(os.environ.get("CI")))
settings.register_profile("thorough", deadline=None, max_examples=300)
settings.load_profile("kalos")


PEERS = "comparisons with"
"""Key of a test's record of the package that it needs."""


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "only tests that need a package of others; without it they fail (make test-peers)"
    parser.addoption("--all", action="store_true", help="also the tests marked `extended` (make test-all)")
    parser.addoption("--peers", action="store_true", help=text)
    parser.addoption("--pictures", action="store_true", help="keep what the App shows, in artifacts/screenshots")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--peers"):
        kept = [item for item in items if _needs_a_peer(item)]
    elif config.getoption("--all"):
        return
    else:
        kept = [item for item in items if item.get_closest_marker("extended") is None]
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # half a million objects that garbage collection need not scan again


def _needs_a_peer(item: pytest.Item) -> bool:
    """Return whether a test needs a peer, by a fixture or because it uses the solver of another package."""
    if not isinstance(item, pytest.Function):
        return False
    given = item.callspec.params if hasattr(item, "callspec") else {}
    return "peer_package" in item.fixturenames or given.get("solver") == "mgm"


@pytest.fixture
def peer_package(request: pytest.FixtureRequest) -> Callable[[str], ModuleType]:
    """Return a function that imports a module that few tests need; they are skipped if it is missing."""

    def imported(name: str) -> ModuleType:
        package = name.partition(".")[0]
        request.node.user_properties.append((PEERS, package))
        if find_spec(package) is None:
            message = f"{package} is not installed: `make test-peers` has it"
            if request.config.getoption("--peers"):
                pytest.fail(message)
            pytest.skip(message)
        return import_module(name)

    return imported


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Report how many comparisons with each peer ran."""
    counts: Counter[tuple[str, str]] = Counter()
    for outcome in ("passed", "skipped", "failed"):
        for report in terminalreporter.stats.get(outcome, ()):
            if report.when == "call" or outcome != "passed":
                counts.update((package, outcome) for key, package in set(report.user_properties) if key == PEERS)
    for package in sorted({package for package, _ in counts}):
        said = ", ".join(f"{number} {outcome}" for (of, outcome), number in counts.items() if of == package)
        terminalreporter.write_line(f"{PEERS} {package}: {said}")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("numprocesses", None):  # this process only distributes the tests to pytest-xdist's workers
        fiftyone_environment.share_database()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Send whole files to each worker, and all browser tests to one: two Apps would compete for CPU time.

    `--dist loadgroup` does not work: with pytest 9.2, pytest-xdist 3.8 ignores the groups.
    """
    from xdist.scheduler import LoadFileScheduling

    class Scheduling(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "browser" if nodeid.startswith("tests/browser/") else super()._split_scope(nodeid)

    return Scheduling(config, log)


def pytest_unconfigure() -> None:
    fiftyone_environment.tear_down()


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """Return the folder of real data, beside the clone or at KALOS_DATA."""
    default = Path(__file__).resolve().parents[1].parent / "shared" / "data"
    folder = Path(os.environ.get("KALOS_DATA") or default)
    if not folder.is_dir():
        pytest.skip("real data is not there; KALOS_DATA may name its folder")
    return folder


def _need(path: Path) -> Path:
    if not path.exists():
        pytest.skip(f"{path.name} is not in the data folder")
    return path


@pytest.fixture(scope="session")
def lvis_path(data_folder: Path) -> Path:
    return _need(data_folder / "lvis200.json")


@pytest.fixture(scope="session")
def lvis(lvis_path: Path) -> Annotations:
    """Read 200 images of the doubly annotated part of LVIS: two raters, boxes and polygons."""
    return read_coco(lvis_path)


@pytest.fixture(scope="session")
def lidc_path(data_folder: Path) -> Path:
    return _need(data_folder / "lidc120.json.gz")


@pytest.fixture(scope="session")
def lidc(lidc_path: Path) -> Annotations:
    """Read 120 CT scans with four reading sessions each, which are local raters; nodules as volumes."""
    return read_lidc(lidc_path)


@pytest.fixture(scope="session")
def cars_path(data_folder: Path) -> Path:
    return _need(data_folder / "cars" / "labels.json")


@pytest.fixture(scope="session")
def nominal_tables(data_folder: Path) -> dict:
    """Return worked tables with the coefficients printed in their sources."""
    return json.loads(_need(data_folder / "nominal_tables.json").read_text(encoding="utf-8"))
