"""Public functions of the bridge, called on small data sets, and commands of the command line."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

import kalos_core.fiftyone as kf
from kalos_core.cli import COMMANDS, main
from tests.fuzz import values as v
from tests.fuzz.harness import Target

RATERS = ("ann", "bob", "cid")

NOT_CALLED = {"hand_over": "it talks to an annotation server"}
"""Functions that are not called here, and why."""

READS = (
    *("check_", "count_", "convergence_metrics", "decisions", "describe", "disputed", "draw_", "export", "feedback"),
    *("figures_", "found_", "guideline", "label_fields", "list_", "load_details", "load_metrics", "load_run"),
    *("next_dispute", "noise_raters", "overview", "preview", "rater_", "read_", "report", "stale", "training", "view_"),
)
"""Beginnings of the names of functions that leave a data set as it is."""


class Scene:
    """A data set that is built anew after a call changed it.

    Parameters
    ----------
    build : callable
        Adds samples and runs to an empty data set.
    """

    def __init__(self, build: Callable[[Any], None]) -> None:
        self._build = build
        self._dataset: Any = None

    def get(self) -> Any:
        """Return the data set."""
        if self._dataset is None:
            import fiftyone as fo

            self._dataset = fo.Dataset()
            self._build(self._dataset)
        return self._dataset

    def drop(self) -> None:
        """Delete the data set."""
        if self._dataset is not None:
            with contextlib.suppress(ValueError):  # a call has deleted it
                self._dataset.delete()
            self._dataset = None


def _objects(dataset: Any) -> None:
    from tests.fiftyone_bridge.lively import lively

    dataset.add_samples(lively(5), progress=False)
    kf.analyse(
        dataset, "day", kinds=["agreement", "variations"], raters=RATERS, settings={"agreement": {"bootstrap": 0}}
    )
    kf.inject_noise(dataset, "noise", reference="ann", raters=2)
    unit = kf.disputed_units(dataset, "day", kf.next_dispute(dataset, "day"))[0]
    kf.decide(dataset, "day", unit.labels, "none")


def _answers(dataset: Any) -> None:
    from tests.fiftyone_bridge.quiz import quiz

    dataset.add_samples(quiz(), progress=False)
    kf.compute_label_agreement(dataset, "day", raters=RATERS, bootstrap=0)


def _masks(dataset: Any) -> None:
    from tests.fiftyone_bridge.stacks import small

    dataset.add_samples(small(), progress=False)
    kf.compute_pixel_agreement(dataset, "day", raters=RATERS)


SCENES = [Scene(_objects), Scene(_answers), Scene(_masks)]


class _Part:
    """A value that is read from a scene when a call is made."""

    def __init__(self, scene: Scene, read: Callable[[Any], Any]) -> None:
        self.scene, self.read = scene, read

    def __repr__(self) -> str:
        return f"scene {SCENES.index(self.scene)}"


def _each(read: Callable[[Any], Any], scenes: list[Scene] = SCENES) -> list[Any]:
    return [_Part(scene, read) for scene in scenes]


GOOD: dict[str, list[Any]] = {
    "samples": [*_each(lambda dataset: dataset), *_each(lambda dataset: dataset.limit(2))],
    "dataset": [*_each(lambda dataset: dataset), "new", None],
    "run_key": ["day", "new", "noise", "day_variations"],
    "key": ["day", "new", "day_variations"],
    "new_key": ["other", "day"],
    "a": ["day", "noise"],
    "b": ["day_variations"],
    "kind": ["missing", "merged"],
    "kinds": [["agreement"], None],
    "run": _each(lambda dataset: kf.load_run(dataset, "day")),
    "sample_id": _each(lambda dataset: dataset.first().id),
    "label_id": _each(lambda dataset: dataset.first().ann.detections[0].id, SCENES[:1]),
    "labels": [*_each(lambda dataset: [dataset.first().ann.detections[0].id], SCENES[:1]), v.COCO],
    "decision": [*kf.DECISIONS],
    "raters": [["ann", "bob", "cid"], None],
    "rater": ["ann", "zoe"],
    "reference": ["ann", None],
    "systems": [["net"]],
    "detectors": [["net"]],
    "field": [None, "gold", "ann"],
    "tag": ["look"],
    "path": ["out.json", Path("out.html"), "x" * 300],
    "table": [v.LABELS, v.LABEL_ROWS],
    "folders": [v.masks],
    "attribute": ["confidence"],
    "similarity": ["box_iou"],
    "filter": [kf.Filter(), kf.Filter(category="cat")],
    "selection": [kf.Selection()],
    "who": ["eva", None],
    "bootstrap": [0, 3],
    "fraction": [0.6],
    "subsets": [3],
    "orders": [3],
}
"""Name of a parameter -> valid values for it somewhere."""


def _on_scenes(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that takes parts of scenes, and builds a scene anew after a call that may have changed it."""

    @wraps(function)
    def call(**given: Any) -> Any:
        scenes = {value.scene for value in given.values() if isinstance(value, _Part)}
        ready = {key: _ready(value) for key, value in given.items()}
        found = function(**ready)
        if not name.startswith(READS):
            for scene in scenes:
                scene.drop()
        return found

    return call


def _ready(value: Any) -> Any:
    if isinstance(value, _Part):
        return value.read(value.scene.get())
    return value() if value is v.masks else value


def _arguments(function: Callable[..., Any]) -> st.SearchStrategy[dict[str, Any]]:
    @st.composite
    def drawn(draw: st.DrawFn) -> dict[str, Any]:
        given = {"bootstrap": 0} if "bootstrap" in inspect.signature(function).parameters else {}
        for parameter in inspect.signature(function).parameters.values():
            if parameter.kind in v.SEVERAL:
                continue
            if parameter.default is parameter.empty or not draw(st.integers(0, 4)):
                good = GOOD.get(parameter.name, v.GOOD.get(parameter.name, []))
                given[parameter.name] = draw(v.argument(good, parameter.default))
        return given

    return drawn()


def functions() -> dict[str, Callable[..., Any]]:
    """Name -> public function of the bridge."""
    found = {name: getattr(kf, name) for name in kf.__all__}
    return {name: each for name, each in found.items() if inspect.isfunction(each) and name not in NOT_CALLED}


# ---- the command line ----

WORDS = [
    "labels.json",
    "none.json",
    "out.csv",
    "ann",
    "0.5",
    "-1",
    "box_iou",
    "",
    "x" * 300,
    "a\0b",
    "é",
    "1e400",
    "{}",
]
"""Values of flags and arguments."""


@st.composite
def _line(draw: st.DrawFn) -> dict[str, Any]:
    command = draw(st.sampled_from(COMMANDS))
    flags = [option.flag for option in command.all_options]
    words = [draw(st.sampled_from([*[command.name] * 9, "unknown"]))]
    words += draw(st.lists(st.sampled_from(["labels.json", *WORDS]), max_size=2))
    for flag in draw(st.lists(st.sampled_from(flags), max_size=3)):
        words += [flag, *draw(st.lists(st.sampled_from(WORDS), max_size=2))]
    return {"words": words}


def _run(words: list[str]) -> int:
    """Run a command, and check that it ends with one of its exit codes."""
    file = Path("labels.json")
    if not file.exists():
        file.write_text(json.dumps(v.COCO), encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            code = main(words)
        except SystemExit as error:  # as argparse ends
            code = error.code if isinstance(error.code, int) else 2
    assert code in (0, 1, 2), code
    return code


BRIDGE: dict[str, Target] = {
    f"fiftyone.{name}": Target(_on_scenes(name, function), _arguments(function))
    for name, function in functions().items()
}
COMMAND_LINE: dict[str, Target] = {"kalos-core": Target(_run, _line())}
