"""FiftyOne's server executes operators for any web page; ours accept requests of the App only."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from typing import Any

import fiftyone as fo
import httpx
import pytest
from fiftyone.operators.server import OperatorRoutes
from starlette.applications import Starlette
from starlette.routing import Route

import kalos_core.fiftyone as kf
from kalos_core.fiftyone.internals import REFUSED
from tests import plugin
from tests.plugin import uri

ADDRESS = "http://localhost:5151"
EVIL = "https://evil.example"

ROUTES = ("execute", "execute/generator", "subscribe-execution-store")
"""All routes on which FiftyOne executes an operator."""


def asked(route: str, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
    """Return the response of FiftyOne's server to a request that a page can send without preflight."""

    async def post() -> httpx.Response:
        transport = httpx.ASGITransport(Starlette(routes=[Route(*known) for known in OperatorRoutes]))
        async with httpx.AsyncClient(transport=transport, base_url=ADDRESS, timeout=60) as client:
            plain = {"content-type": "text/plain", **headers}
            return await client.post(f"/operators/{route}", content=json.dumps(body), headers=plain)

    return asyncio.run(post())


@pytest.fixture(scope="module")
def analysed() -> Any:
    from tests.fiftyone_bridge.scenes import RATERS, six_scenes

    dataset = fo.Dataset(persistent=True)
    dataset.add_samples(six_scenes(), progress=False)
    kf.compute_agreement(dataset, "run", raters=RATERS, bootstrap=0)
    yield dataset
    dataset.delete()


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize(
    ("headers", "allowed", "is_refused"),
    [
        ({"origin": EVIL, "sec-fetch-site": "cross-site"}, None, True),
        ({"origin": "http://localhost:8000", "sec-fetch-site": "same-site"}, None, True),
        ({"origin": "null", "sec-fetch-site": "cross-site"}, None, True),
        ({"origin": "null"}, None, True),
        ({"origin": EVIL}, None, True),
        ({"origin": EVIL, "sec-fetch-site": "cross-site"}, f"https://other.example, {EVIL}", False),
        ({"origin": EVIL, "sec-fetch-site": "cross-site"}, "*", False),
        ({"origin": ADDRESS, "sec-fetch-site": "same-origin"}, None, False),
        ({"origin": "https://proxy.example", "sec-fetch-site": "same-origin"}, None, False),
        ({"origin": ADDRESS}, None, False),
        ({}, None, False),
    ],
)
def test_operators_are_executed_for_the_app_alone(
    analysed: fo.Dataset,
    monkeypatch: pytest.MonkeyPatch,
    route: str,
    headers: dict[str, str],
    allowed: str | None,
    is_refused: bool,
) -> None:
    monkeypatch.setattr(fo.config, "allowed_origins", allowed)
    kf.describe_run(analysed, "run", note="before")
    body = {
        "operator_uri": uri("describe_run"),
        "dataset_name": analysed.name,
        "params": {"run_key": "run", "note": "after"},
    }
    answer = asked(route, body, headers)
    assert (answer.json()["error"] == REFUSED) is is_refused
    analysed.reload()
    assert kf.load_metrics(analysed, "run").note == ("before" if is_refused else "after")


FIRST = """
import asyncio, json, sys
from fiftyone.operators.server import OperatorRoutes
from starlette.applications import Starlette
from starlette.routing import Route
import httpx

app = Starlette(routes=[Route(*known) for known in OperatorRoutes])

async def post():
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost:5151") as client:
        body = {"operator_uri": "@kalos/variation/open_raters", "params": {}}
        for origin in ("https://evil.example", "http://localhost:5151"):
            answer = await client.post("/operators/execute", content=json.dumps(body), headers={"origin": origin})
            print(json.dumps(answer.json()["error"]))

asyncio.run(post())
"""


def test_the_first_request_of_a_server_is_looked_at_too() -> None:
    """It arrives before the plugin is loaded."""
    plugin.install()
    done = subprocess.run([sys.executable, "-c", FIRST], capture_output=True, text=True, check=True, timeout=120)
    assert list(map(json.loads, done.stdout.splitlines())) == [REFUSED, None]
