"""Every act that writes, each on a small data set, and what is done before it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
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
from kalos_core.fiftyone.deciding.results import settle_hand_over
from kalos_core.fiftyone.importing.life import find_dataset
from tests.fiftyone_bridge.back_end import STUB
from tests.fiftyone_bridge.lively import RATERS, lively
from tests.fiftyone_bridge.quiz import quiz
from tests.fiftyone_bridge.stacks import add_maps, small
from tests.plugin import install, uri

NAME = "data"
"""Of the data set."""

Doing = Callable[[Any, Path], Any]
"""``do(dataset, folder)``; what is not persistent goes with the process, so that a data set is loaded in each."""

QUICK: dict[str, Any] = {"raters": RATERS, "bootstrap": 0}


def _list_runs(name: str) -> None:
    kf.list_runs(fo.load_dataset(name))


def _begin_to_load(name: str) -> None:
    """What every load does first."""
    find_dataset(name)
    if fo.dataset_exists(name):
        _list_runs(name)


@dataclass(frozen=True)
class Act:
    """Something that writes.

    Parameters
    ----------
    name : str
    scene : name in `SCENES`
    do : callable
    before : tuple of callable
        What was done before it.
    again : "refused", "same" or "more"
        What it does where all of it was done already: it says so by an error of ours and changes nothing, it changes
        nothing, or it does more.
    back : callable, optional
        What takes it back, so that nothing of it is left.
    look : callable
        Told the name of a data set: the least after which nothing half done is left.
    app : bool
        Whether it is about what only the App reads.
    """

    name: str
    scene: str
    do: Doing
    before: tuple[Doing, ...] = ()
    again: str = "refused"
    back: Doing | None = None
    look: Callable[[str], Any] = _list_runs
    app: bool = False


def dataset() -> Any:
    """The data set, as it is now."""
    return fo.load_dataset(NAME)


# ---- scenes ----


def _objects(_: Path) -> None:
    made = fo.Dataset(NAME, persistent=True)
    made.add_samples(lively(5, other=fo.Classification(label="day")), progress=False)


def _answers(_: Path) -> None:
    made = fo.Dataset(NAME, persistent=True)
    made.add_samples(quiz(), progress=False)


def _masks(_: Path) -> None:
    made = fo.Dataset(NAME, persistent=True)
    made.add_samples(small(), progress=False)
    add_maps(made)


def _files(folder: Path) -> None:
    """Objects, and files to load."""
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


SCENES: dict[str, Callable[[Path], None]] = {
    "objects": _objects,
    "answers": _answers,
    "masks": _masks,
    "files": _files,
}


def rater_fields(scene: str) -> tuple[str, ...]:
    """What people gave, which nothing may change."""
    return (
        *RATERS,
        "raters",
        "tags",
        "metadata",
        "filepath",
        "last_modified_at",
        *(["net"] if scene != "masks" else []),
    )


# ---- what is done before ----


def agreement(samples: Any, _: Path) -> Any:
    return kf.compute_agreement(samples, "run", **QUICK)


def _variations(samples: Any, _: Path) -> Any:
    return kf.find_variations(samples, "run", raters=RATERS)


def _calibration(samples: Any, _: Path) -> Any:
    return kf.calibrate_threshold(samples, "run", raters=RATERS, bootstrap=0)


def _choose(samples: Any, _: Path) -> Any:
    return kf.choose_threshold(samples, "run", "box_iou", 0.4)


def _convergence(samples: Any, _: Path) -> Any:
    return kf.estimate_convergence(samples, "run", raters=RATERS, subsets=3, fraction=0.6)


def _analyse(samples: Any, _: Path) -> Any:
    settings = {"convergence": {"subsets": 3, "fraction": 0.6}, "agreement": {"bootstrap": 0}}
    kinds = ["agreement", "variations", "calibration", "convergence"]
    return kf.analyse(
        samples, "run", raters=RATERS, settings={**settings, "calibration": {"bootstrap": 0}}, kinds=kinds
    )


def next_unit(samples: Any) -> tuple[str, list[str]]:
    sample_id = kf.next_dispute(samples, "run")
    assert sample_id is not None
    return sample_id, list(kf.disputed_units(samples, "run", sample_id)[0].labels)


def decide(samples: Any, _: Path) -> Any:
    sample_id, labels = next_unit(samples)
    return kf.decide(samples, "run", labels, "none", note="no", who="eva", sample_id=sample_id)


def order_next(samples: Any, _: Path) -> Any:
    return kf.next_to_rate(samples, "run", 2, tag="look")


def _skip(samples: Any, _: Path) -> Any:
    (found,) = kf.decisions(samples, "run")
    return kf.decide(samples, "run", found.labels, "skip")


def describe(samples: Any, _: Path) -> Any:
    kf.describe_run(samples, "run", note="look", status="in_review")


def _resolved(samples: Any, _: Path) -> Any:
    return kf.resolved(samples, "run", "gold")


def _truth(samples: Any, _: Path) -> Any:
    return kf.estimate_truth(samples, "run", raters=RATERS, quorum=[0.5, 0.9])


def _pixel_truth(samples: Any, _: Path) -> Any:
    return kf.estimate_truth(samples, "run", raters=RATERS, methods=["any", "0.5"], of="pixels")


def _noise(samples: Any, _: Path) -> Any:
    return kf.inject_noise(samples, "run", reference="ann", raters=2)


def _labels(samples: Any, _: Path) -> Any:
    return kf.compute_label_agreement(samples, "run", raters=RATERS, bootstrap=0)


def pixels(samples: Any, _: Path) -> Any:
    return kf.compute_pixel_agreement(samples, "run", raters=RATERS)


def _ranking(samples: Any, _: Path) -> Any:
    return kf.rank_systems(samples, "run", systems=["net", "svm"], raters=RATERS)


def _models(samples: Any, _: Path) -> Any:
    return kf.rank_detectors(samples, "run", detectors=["net"], raters=RATERS)


def _maps(samples: Any, _: Path) -> Any:
    return kf.rank_detectors(
        samples, "run", detectors=["good", "poor"], methods=["any"], skew=(0.1, 0.5), boundaries=2, raters=RATERS
    )


def _arranged(samples: Any, _: Path) -> Any:
    kf.arrange_app(samples)


# ---- acts ----


def delete(samples: Any, _: Path) -> Any:
    kf.delete_run(samples, "run")


def rename(samples: Any, _: Path) -> Any:
    kf.rename_run(samples, "run", "other")


def _update(samples: Any, _: Path) -> Any:
    return kf.update_analysis(samples, "run", "new")


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


def _carry(samples: Any, _: Path) -> Any:
    return kf.carry_decisions(samples, "run", "second")


def _handed_over(samples: Any, _: Path) -> Any:
    fo.annotation_config.backends["stub"] = STUB
    return kf.hand_over(samples, "run", "arbiter", backend="stub")


def _begin_to_hand_over(name: str) -> None:
    """What every hand-over does first."""
    fo.annotation_config.backends["stub"] = STUB
    settle_hand_over(fo.load_dataset(name))
    _list_runs(name)


def _not_handed_over(samples: Any, _: Path) -> None:
    samples.delete_annotation_run("arbiter")


def _queued(samples: Any, _: Path) -> None:
    """A run that the App schedules, by the operator of the plugin."""
    install()
    params = {"run_key": "run", "raters": list(RATERS), "bootstrap": 0}
    foo.execute_operator(uri("compute_agreement"), {"dataset": samples}, params=params, request_delegation=True)


def _delegated(samples: Any, _: Path) -> None:
    """What the executor does: again, where one died before; what went wrong stands on the operation."""
    service = DelegatedOperationService()
    every = service.list_operations(dataset_name=samples.name)
    for found in every:
        service.set_queued(found.id)
    service.execute_queued_operations(dataset_name=samples.name)
    done = [service.get(found.id) for found in every]
    if failed := [found.result.error for found in done if found.run_state != "completed"]:
        raise KalosError(failed[0])


def _second(samples: Any, _: Path) -> Any:
    return kf.compute_agreement(samples, "second", **QUICK)


def _delete_new(samples: Any, _: Path) -> Any:
    kf.delete_run(samples, "new")


def _undo(name: str) -> Doing:
    def undo(samples: Any, _: Path) -> None:
        kf.delete_run(samples, name)

    return undo


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
    Act("classifiers", "answers", _ranking, back=delete),
    Act("pixels", "masks", pixels, back=delete),
    Act("truth of pixels", "masks", _pixel_truth, back=delete),
    Act("score maps", "masks", _maps, back=delete),
    Act("threshold", "objects", _choose, (_calibration,), again="same"),
    Act("note and status", "objects", describe, (agreement,), again="same"),
    Act("decide", "objects", decide, (agreement,), again="more"),
    Act("take a decision back", "objects", _skip, (agreement, decide), again="more"),
    Act("carry decisions", "objects", _carry, (agreement, _second, decide), again="same"),
    Act("tag disputes", "objects", lambda samples, _: kf.tag_disputes(samples, "run", "look"), (agreement,), "same"),
    Act("next to rate", "objects", order_next, (agreement,), "same"),
    Act("arrange", "objects", _arranged, (agreement,), again="same", app=True),
    Act("update", "objects", _update, (_arranged, _analyse, describe, decide), back=_delete_new),
    Act("rename agreement", "objects", rename, (agreement, decide, order_next)),
    Act("rename variations", "objects", rename, (_variations,)),
    Act("rename calibration", "objects", rename, (_calibration, _choose)),
    Act("rename labels", "answers", rename, (_labels,)),
    Act("rename analysis", "objects", rename, (_arranged, _analyse)),
    Act("delete agreement", "objects", delete, (_arranged, agreement, decide, order_next)),
    Act("delete calibration", "objects", delete, (_calibration, _choose)),
    Act("delete truth of pixels", "masks", delete, (_pixel_truth,)),
    Act("delete noise", "objects", delete, (_noise,)),
    Act("delete analysis", "objects", delete, (_analyse,)),
    Act("load", "files", _load, look=_begin_to_load),
    Act("load a new data set", "files", _load_new, look=_begin_to_load),
    Act("load masks", "files", _load_masks, look=_begin_to_load),
    Act("load a table", "files", _load_table, look=_begin_to_load),
    Act("report", "objects", _report, (_analyse,), "same"),
    Act("hand over", "objects", _handed_over, (agreement,), back=_not_handed_over, look=_begin_to_hand_over),
    Act("delegated agreement", "objects", _delegated, (_queued,), back=delete),
    Act("export", "objects", _export, (agreement, decide), "same"),
]
