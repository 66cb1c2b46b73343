"""Requests from a page of another origin to every operator and panel: nothing is written or executed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import pytest

import kalos_core.fiftyone as kf
from benchmarks.reliability import FOREIGN_PAGES, note_if_asked
from kalos_core.fiftyone.internals import REFUSED, collection_of, database, id_of
from tests import plugin
from tests.browser.living import Living
from tests.tiers import extended

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("browser"), extended]

ROUTES = ("execute", "execute/generator", "subscribe-execution-store")
ORIGINS = ("127.0.0.1", "localhost")
"""Hosts of the page: the App's site with another port, and another site."""

BLIND = """async ([address, body]) => {
    await fetch(address, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body});
    return fetch(address, {method: "POST", body}).then(answer => answer.text(), error => error.name);
}"""
"""Request that any page can send without preflight; it cannot read the response."""

FRAMED = """([address, body]) => new Promise(done => {
    const frame = document.createElement("iframe");
    frame.sandbox = "allow-scripts";
    frame.srcdoc = `<script>fetch(${JSON.stringify(address)}, {method: "POST", mode: "no-cors",
        body: ${JSON.stringify(body)}}).finally(() => parent.postMessage("sent", "*"))</` + "script>";
    addEventListener("message", () => done("TypeError"), {once: true});
    document.body.append(frame);
})"""
"""The same from a page without an origin."""

OWN = """async ([address, body]) => (await fetch(address, {method: "POST", body})).text()"""


def params_of(dataset: fo.Dataset, away: Path, labels: Path) -> dict[str, dict[str, Any]]:
    """Return operator or panel -> most harmful parameters; the last ones delete what the others need."""
    unit = kf.disputed_units(dataset, "run", kf.next_dispute(dataset, "run"))[0]
    rater = kf.load_metrics(dataset, "run").metrics["raters"][0]
    decided = {"labels": list(unit.labels), "decision": "none"}
    panel = {"panel_id": "p", "panel_state": {}}
    decide = {"sample": kf.next_dispute(dataset, "run"), "run": "run", "when": None, "rater": None, "part": {}}
    told = {"__method__": "decide", **panel, **decide, **decided, "note": "evil", "who": "evil", "variations": None}
    return {
        "raters": told,
        "sample": told,
        "open_raters": {},
        "after_load": {},
        "load_raters": {"labels": str(labels), "canvas": str(away / "canvas"), "dataset_name": "wicked"},
        "analyse": {"key": "another", "kinds": ["calibration"]},
        "compute_agreement": {"run_key": "agreed", "bootstrap": 0},
        "find_variations": {"run_key": "varied"},
        "calibrate_threshold": {"run_key": "calibrated", "bootstrap": 0},
        "choose_threshold": {"run_key": "calibrated"},
        "estimate_convergence": {"run_key": "converged", "subsets": 50},
        "label_convergence": {"key": "run"},
        "inject_noise": {"run_key": "noisy", "reference": rater, "raters": 1, "more": True, "taxonomy": str(labels)},
        "compute_label_agreement": {"run_key": "labelled"},
        "compute_pixel_agreement": {"run_key": "drawn"},
        "estimate_truth": {"run_key": "estimated"},
        "rank_systems": {"run_key": "ranked"},
        "rank_detectors": {"run_key": "detected"},
        "update_run": {"key": "run"},
        "describe_run": {"run_key": "run", "note": "evil"},
        "decide": {"key": "run", **decided},
        "resolved": {"key": "run", "field": "gold"},
        "next_to_rate": {"key": "run", "tag": "evil"},
        "tag_disputes": {"key": "run", "tag": "evil"},
        "hand_over": {"key": "run", "anno_key": "handed"},
        "report": {"key": "run", "path": str(away / "report.html"), "overwrite": True},
        "export_resolved": {"key": "run", "path": str(away / "report.json"), "overwrite": True},
        "rename_run": {"run_key": "run", "new_key": "renamed"},
        "delete_run": {"run_key": "run"},
    }


@pytest.fixture
def away(tmp_path: Path) -> Path:
    """Create a folder of the user."""
    folder = tmp_path / "away"
    folder.mkdir()
    for name in ("report.html", "report.json", "thesis.py"):
        (folder / name).write_text("mine")
    return folder


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    """Create a file of labels without its image."""
    image = {"id": 1, "file_name": "gone.png", "width": 9, "height": 9}
    rows = [{"id": n, "image_id": 1, "category_id": 1, "rater_id": n, "bbox": [1, 1, 5, 5]} for n in (1, 2)]
    content = {"images": [image], "categories": [{"id": 1, "name": "cat"}], "annotations": rows}
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(content))
    return path


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[int]:
    """Return the port of a web server with a foreign page."""
    folder = tmp_path / "page"
    folder.mkdir()
    (folder / "index.html").write_text("<!doctype html><body>Win a prize</body>")
    server = ThreadingHTTPServer(("", 0), partial(SimpleHTTPRequestHandler, directory=str(folder)))
    Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()
    server.server_close()


@pytest.fixture
def window(browser: Any) -> Iterator[Any]:
    """Open a window in which no App was open."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def files_in(*folders: Path) -> dict[Path, bytes | None]:
    found = (path for folder in folders for path in sorted(folder.rglob("*")))
    return {path: path.read_bytes() if path.is_file() else None for path in found}


def state(dataset: fo.Dataset) -> list[Any]:
    """Return everything that operators write to the database."""
    data = database()
    about = data.datasets.find_one({"_id": id_of(dataset)}, {"last_loaded_at": False})
    runs = list(data.runs.find({"_dataset_id": id_of(dataset)}).sort("_id"))
    samples = list(collection_of(dataset).find().sort("_id"))
    return [sorted(fo.list_datasets()), about, runs, samples, data.delegated_ops.count_documents({})]


def test_a_foreign_page_executes_nothing(
    window: Any, living: Living, few: fo.Dataset, away: Path, labels: Path, elsewhere: int
) -> None:
    plugin.install()
    server = living.address
    names = {found.name for found in foo.list_operators() if found.plugin_name == plugin.NAME}
    kf.compute_agreement(few, "run", bootstrap=0)
    wanted = params_of(few, away, labels)
    assert set(wanted) == names
    written = Path(fo.config.default_dataset_dir)
    before, kept, tried = state(few), files_in(away, written), 0

    def sent(name: str, **more: Any) -> str:
        asked = {"operator_uri": plugin.uri(name), "dataset_name": few.name, "params": wanted[name], **more}
        return json.dumps({"view": [], "spaces": plugin.SPACES, **asked})

    for host in ORIGINS:
        window.goto(f"http://{host}:{elsewhere}/")
        for name in wanted:
            bodies = [sent(name), sent(name, request_delegation=True)]
            attacks = [(BLIND, route, body) for route in ROUTES for body in bodies] + [(FRAMED, ROUTES[0], bodies[0])]
            for attack, route, body in attacks:
                assert window.evaluate(attack, [f"{server}/operators/{route}", body]) == "TypeError"
                tried += 1
    assert state(few) == before
    assert files_in(away, written) == kept
    of = f"{len(names)} operators and panels"
    note_if_asked("requests from other origins", of, tried, f"python -m {FOREIGN_PAGES}")

    window.goto(f"{server}/favicon.ico")  # with the App's origin, the same bodies are executed, but not to `away`
    for name in wanted:
        assert REFUSED not in window.evaluate(OWN, [f"{server}/operators/execute/generator", sent(name)]), name
    assert files_in(away) == {path: content for path, content in kept.items() if path.is_relative_to(away)}
    few.reload()
    made = {"another", "agreed", "varied", "calibrated", "converged", "noisy", "drawn", "estimated", "gold", "renamed"}
    assert set(kf.list_runs(few)) >= made
    assert kf.load_metrics(few, "renamed").note == "evil"
    assert len(few.match_tags("evil")) > 0
    if fo.dataset_exists("wicked"):
        fo.delete_dataset("wicked")
    living.failures()  # failures are in the server's log, which the next test does not check
