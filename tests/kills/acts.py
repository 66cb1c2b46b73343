"""Every act that writes, each with a small data set and preparations."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import fiftyone as fo
import fiftyone.operators as foo
import numpy as np
import pandas as pd
from fiftyone.operators.delegated import DelegatedOperationService
from PIL import Image

import kalos_core.fiftyone as kf
from kalos_core import KalosError
from kalos_core.fiftyone.deciding.decide import carry_decisions
from kalos_core.fiftyone.runs.stored import describe_run
from tests.fiftyone_bridge.back_end import STUB
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.plugin import install, uri

NAME = "data"
"""Name of the data set."""

Doing = Callable[[Any, Path], Any]
"""``do(dataset, folder)``; non-persistent content disappears with the process, so each process loads the data set."""

QUICK: dict[str, Any] = {"raters": RATERS, "bootstrap": 0}
FEW: dict[str, Any] = {"subsets": 3, "fraction": 0.6}


def look() -> None:
    """Access all data sets, which is the minimum after which nothing incomplete is left."""
    for name in fo.list_datasets():
        if fo.dataset_exists(name):  # it may have been removed with the access to another one
            kf.list_runs(fo.load_dataset(name))


@dataclass(frozen=True)
class Act:
    """Operation that writes.

    Parameters
    ----------
    name : str
    scene : name in `SCENES`
    do : callable
    before : tuple of callable
        Acts done before it.
    again : "refused", "same" or "more"
        Effect if it was already done completely: raise an error of ours without changes, change nothing, or do more.
    back : callable, optional
        Act that undoes it completely.
    app : bool
        Whether it is about content that only the App reads.
    """

    name: str
    scene: str
    do: Doing
    before: tuple[Doing, ...] = ()
    again: str = "refused"
    back: Doing | None = None
    app: bool = False


def dataset() -> Any:
    """Load the data set in its current state."""
    return fo.load_dataset(NAME)


# ---- scenes ----


def _samples(make: Callable[[], Any]) -> Callable[[Path], None]:
    def scene(_: Path) -> None:
        fo.Dataset(NAME, persistent=True).add_samples(make(), progress=False)

    return scene


_objects = _samples(lambda: lively(5, other=fo.Classification(label="day")))


def _masks(folder: Path) -> None:
    _samples(small)(folder)
    add_maps(dataset())


def _files(folder: Path) -> None:
    """Return objects, and files to load."""
    _objects(folder)
    images = [{"id": number, "file_name": f"{number}.jpg", "width": 100, "height": 100} for number in (0, 1, 9)]
    row = {"category_id": 0, "bbox": [1, 1, 9, 9]}
    labels = [
        {"id": 10 * image + place, "image_id": image, "rater_id": rater, **row}
        for image in (0, 1, 9)
        for place, rater in enumerate(("dan", "eve"))
    ]
    content = {"images": images, "categories": [{"id": 0, "name": "owl"}], "annotations": labels}
    (folder / "labels.json").write_text(json.dumps(content), encoding="utf-8")
    for rater in ("dan", "eve"):
        (folder / "masks" / rater).mkdir(parents=True)
        for number in range(3):
            Image.fromarray(np.eye(100, dtype=np.uint8)).save(folder / "masks" / rater / f"{number}.png")
    (folder / "images").mkdir()
    for number in range(3):
        Image.fromarray(np.zeros((100, 100, 3), np.uint8)).save(folder / "images" / f"{number}.png")


SCENES = {"objects": _objects, "answers": _samples(quiz), "masks": _masks, "files": _files}


def rater_fields(scene: str) -> tuple[str, ...]:
    """Return the fields of raters, which must never change."""
    fields = (*RATERS, "raters", "tags", "metadata", "filepath", "last_modified_at")
    return fields if scene == "masks" else (*fields, "net")


# ---- acts ----


def _run(function: Callable[..., Any], *values: Any, **options: Any) -> Doing:
    """Return a function of the bridge that is applied to our run."""
    return lambda samples, _: function(samples, "run", *values, **options)


agreement = _run(kf.compute_agreement, **QUICK)
pixels = _run(kf.compute_pixel_agreement, raters=RATERS)
order_next = _run(kf.next_to_rate, 2, tag="look")
describe = _run(describe_run, note="look", status="in_review")
delete = _run(kf.delete_run)
rename = _run(kf.rename_run, "other")
_variations = _run(kf.find_variations, raters=RATERS)
_calibration = _run(kf.calibrate_threshold, **QUICK)
_choose = _run(kf.choose_threshold, "box_iou", 0.4)
_convergence = _run(kf.estimate_convergence, raters=RATERS, **FEW)
_analyse = _run(
    kf.analyse,
    kinds=["agreement", "variations", "calibration", "convergence"],
    raters=RATERS,
    settings={"convergence": FEW, "agreement": {"bootstrap": 0}, "calibration": {"bootstrap": 0}},
)
_analyse_little = _run(
    kf.analyse, kinds=["agreement", "variations"], raters=RATERS, settings={"agreement": {"bootstrap": 0}}
)
_resolved = _run(kf.resolved, "gold")
_truth = _run(kf.estimate_truth, raters=RATERS, quorum=[0.5, 0.9])
_pixel_truth = _run(kf.estimate_truth, raters=RATERS, methods=["any", "0.5"], of="pixels")
_noise = _run(kf.inject_noise, reference="ann", raters=2)
_labels = _run(kf.compute_label_agreement, **QUICK)
_ranking = _run(kf.rank_systems, systems=["net", "svm"], raters=RATERS)
_models = _run(kf.rank_detectors, detectors=["net"], raters=RATERS)
_maps = _run(
    kf.rank_detectors, detectors=["good", "poor"], methods=["any"], skew=(0.1, 0.5), boundaries=2, raters=RATERS
)
_tagged = _run(kf.tag_disputes, "look")
_carry = _run(carry_decisions, "second")
_update = _run(kf.update_analysis, "new")


def next_unit(samples: Any) -> tuple[str, list[str]]:
    sample_id = kf.next_dispute(samples, "run")
    assert sample_id is not None
    return sample_id, list(kf.disputed_units(samples, "run", sample_id)[0].labels)


def decide(samples: Any, _: Path) -> Any:
    sample_id, labels = next_unit(samples)
    return kf.decide(samples, "run", labels, "none", note="no", who="eva", sample_id=sample_id)


def _skip(samples: Any, _: Path) -> Any:
    (found,) = kf.decisions(samples, "run")
    return kf.decide(samples, "run", found.labels, "skip")


def _arranged(samples: Any, _: Path) -> Any:
    kf.arrange_app(samples)


def _second(samples: Any, _: Path) -> Any:
    return kf.compute_agreement(samples, "second", **QUICK)


def _load(samples: Any, folder: Path) -> Any:
    return kf.load_raters(folder / "labels.json", samples, canvas=folder / "canvas")


def _load_new(_: Any, folder: Path) -> Any:
    return kf.load_raters(folder / "labels.json", "new", canvas=folder / "canvas")


def _load_masks(_: Any, folder: Path) -> Any:
    return kf.load_mask_folders(folder / "masks", "new", images=folder / "images")


def _load_table(samples: Any, _: Path) -> Any:
    rows = [{"item": f"{number}.jpg", "rater": rater, "label": "x"} for number in (0, 1) for rater in ("dan", "eve")]
    return kf.load_label_table(pd.DataFrame(rows), samples)


def _report(samples: Any, folder: Path) -> Any:
    return kf.report(samples, "run", folder / "report.html")


def _export(samples: Any, folder: Path) -> Any:
    return kf.export_resolved(samples, "run", folder / "gold.json")


def _handed_over(samples: Any, _: Path) -> Any:
    fo.annotation_config.backends["stub"] = STUB
    return kf.hand_over(samples, "run", "arbiter", backend="stub")


def _not_handed_over(samples: Any, _: Path) -> None:
    samples.delete_annotation_run("arbiter")


def _queued(samples: Any, _: Path) -> None:
    """Queue a run as the App schedules it, by the operator of the plugin."""
    install()
    params = {"run_key": "run", "raters": list(RATERS), "bootstrap": 0}
    foo.execute_operator(uri("compute_agreement"), {"dataset": samples}, params=params, request_delegation=True)


def _delegated(samples: Any, _: Path) -> None:
    """Execute queued operations, again if an executor died; errors are stored in the operation."""
    service = DelegatedOperationService()
    every, began = service.list_operations(dataset_name=samples.name), datetime.now(timezone.utc)
    for found in every:
        service.set_queued(found.id)
    service.execute_queued_operations(dataset_name=samples.name)
    done = [service.get(found.id) for found in every]
    if failed := [found.result.error for found in done if found.run_state != "completed"]:
        raise KalosError(failed[0])
    if any(found.started_at.replace(tzinfo=timezone.utc) < began for found in done):
        raise KalosError("a restarted database lost FiftyOne's request, so that nothing was executed")


def _undo(name: str) -> Doing:
    return lambda samples, _: kf.delete_run(samples, name)


ACTS = [
    Act("analyse", "objects", _analyse, back=delete),
    Act("analyse, arranged", "objects", _analyse, (_arranged,)),
    Act("agreement", "objects", agreement, back=delete),
    Act("variations", "objects", _variations, back=delete),
    Act("calibration", "objects", _calibration, back=delete),
    Act("convergence", "objects", _convergence, back=delete),
    Act("truth of objects", "objects", _truth, back=delete),
    Act("noise", "objects", _noise, back=delete),
    Act("models", "objects", _models, back=delete),
    Act("resolved", "objects", _resolved, (agreement, decide), back=_undo("gold")),
    Act("labels", "answers", _labels, back=delete),
    Act("decide about labels", "answers", decide, (_labels,), again="more"),
    Act("resolved image-level labels", "answers", _resolved, (_labels, decide), back=_undo("gold")),
    Act("classifiers", "answers", _ranking, back=delete),
    Act("pixels", "masks", pixels, back=delete),
    Act("truth of pixels", "masks", _pixel_truth, back=delete),
    Act("score maps", "masks", _maps, back=delete),
    Act("threshold", "objects", _choose, (_calibration,), again="same"),
    Act("note and status", "objects", describe, (agreement,), again="same"),
    Act("decide", "objects", decide, (agreement,), again="more"),
    Act("take a decision back", "objects", _skip, (agreement, decide), again="more"),
    Act("carry decisions", "objects", _carry, (agreement, _second, decide), again="same"),
    Act("tag disputes", "objects", _tagged, (agreement,), "same"),
    Act("next to rate", "objects", order_next, (agreement,), "same"),
    Act("arrange", "objects", _arranged, (agreement,), again="same", app=True),
    Act("update", "objects", _update, (_arranged, _analyse, describe, decide), back=_undo("new")),
    Act("rename agreement", "objects", rename, (agreement, decide, order_next)),
    Act("rename variations", "objects", rename, (_variations,)),
    Act("rename calibration", "objects", rename, (_calibration, _choose)),
    Act("rename labels", "answers", rename, (_labels, decide)),
    Act("rename analysis", "objects", rename, (_arranged, _analyse_little)),
    Act("delete agreement", "objects", delete, (_arranged, agreement, decide, order_next)),
    Act("delete calibration", "objects", delete, (_calibration, _choose)),
    Act("delete truth of pixels", "masks", delete, (_pixel_truth,)),
    Act("delete noise", "objects", delete, (_noise,)),
    Act("delete analysis", "objects", delete, (_analyse,)),
    Act("load", "files", _load),
    Act("load a new data set", "files", _load_new),
    Act("load masks", "files", _load_masks),
    Act("load a table", "files", _load_table),
    Act("report", "objects", _report, (_analyse_little,), "same"),
    Act("hand over", "objects", _handed_over, (agreement,), back=_not_handed_over),
    Act("delegated agreement", "objects", _delegated, (_queued,), back=delete),
    Act("export", "objects", _export, (agreement, decide), "same"),
]
