"""Nothing is lost if an act is killed or the disk is full: one step per act. `python -m tests.kills` tries all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import fiftyone as fo
import pytest

from tests.fiftyone_environment import FOLDER
from tests.kills.acts import ACTS, Act
from tests.kills.processes import Place, import_all
from tests.kills.server import Server
from tests.kills.trial import GONE, WHOLE, Trial, everywhere, spread
from tests.tiers import extended

BY_NAME = {act.name: act for act in ACTS}
LIKE_OTHERS = (
    "analyse", "rename variations", "rename calibration", "rename labels", "delete calibration", "delete noise",
    "delete analysis",
)  # fmt: skip
"""Acts equivalent to another one, on less data or in another scene."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    import_all()
    server = Server(FOLDER / "kills")
    yield server
    server.kill()


@pytest.fixture(scope="module")
def try_out(server: Server) -> Callable[[Act], Trial]:
    return partial(Trial, place=Place(server.uri, "kills", FOLDER / "files"), known={})


@pytest.fixture
def trial(request: pytest.FixtureRequest, try_out: Callable[[Act], Trial]) -> Iterator[Trial]:
    with closing(try_out(BY_NAME[request.param])) as trial:
        yield trial


@pytest.mark.parametrize(
    "trial",
    [pytest.param(name, marks=extended) if name in LIKE_OTHERS else name for name in BY_NAME],
    indirect=True,
)
def test_killed(trial: Trial, pytestconfig: pytest.Config) -> None:
    """Kill in the middle; in a full run, also at the first and last step. After one access, nothing or all is left."""
    count = len(trial.steps)
    steps = spread(count, 3) if pytestconfig.getoption("--all") else [count // 2]
    tally = everywhere(trial, trial.killed_at, steps)
    assert tally.wrong == []
    assert set(tally.left) <= {GONE, WHOLE}
    assert sum(tally.left.values()) == len(steps)


@pytest.mark.parametrize("trial", ["truth of pixels"], indirect=True)
def test_a_full_disk(trial: Trial) -> None:
    tally = everywhere(trial, trial.full_at, [len(trial.steps) // 2])
    assert tally.wrong == []
    assert set(tally.left) <= {GONE, WHOLE}


@extended
@pytest.mark.parametrize(
    ("trial", "step", "later"),
    [
        ("rename agreement", "update samples", 3),
        ("rename calibration", "update runs", 0),
        ("calibration", "insert runs", 0),
        ("agreement", "insert runs", 1),
        ("load", "aggregate $out", 0),
        ("load", "aggregate $out", 19),
        ("load a new data set", "insert datasets", 0),
    ],
    indirect=["trial"],
)
def test_a_database_that_dies_and_comes_back(trial: Trial, step: str, later: int, server: Server) -> None:
    """It loses writes that it confirmed in the last tenth of a second.

    Cases: old fields; a run that is listed next; its listing, before its fields are declared; assignments before a
    load; removal of a record; and the data set that FiftyOne is creating.
    """
    tally = everywhere(trial, trial.restarted_by(server), [trial.steps.index(step) + later])
    assert tally.wrong == []
    assert set(tally.left) == {WHOLE if step == "update runs" or later > 10 else GONE}


def _in_two_steps(samples: Any, _: Path) -> None:
    samples.add_sample_field("first", fo.StringField)
    samples.add_sample_field("second", fo.StringField)


def test_incomplete_work_is_noticed(try_out: Callable[[Act], Trial]) -> None:
    with closing(try_out(Act("careless", "objects", _in_two_steps))) as trial:
        assert trial.steps == ["update datasets"] * 2
        word, wrong = trial.killed_at(0)
    assert word == "half"
    assert any("sample_fields" in line for line in wrong)
