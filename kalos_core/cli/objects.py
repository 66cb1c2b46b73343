"""Commands on annotations of objects: agreement, variations, calibrate, convergence, compare."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalos_core import (
    Agreement,
    Annotations,
    agreement,
    boundary_quality,
    calibrate,
    check_convergence,
    class_difficulty,
    collaboration,
    compare,
    label_convergence,
    rater_vitality,
    read_models,
    sensitivity,
    variations,
)
from kalos_core.cli.answers import Answer
from kalos_core.cli.commands import Command
from kalos_core.cli.options import Given, Option, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, annotations_of
from kalos_core.convergence.study import PlacedModel
from kalos_core.errors import Undefined, or_reason
from kalos_core.similarity.fitting import fitting_similarities

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("labels", "file or folder with the annotations of several raters, in any format")

DIAGNOSES: dict[str, Callable[[Agreement], Any]] = {
    "classes": class_difficulty,
    "raters": rater_vitality,
    "pairs": collaboration,
}
"""Name of a table of `agreement` -> what it shows."""


def agreement_of(given: Given, path: Path) -> Agreement:
    """The agreement of a file, by the options given."""
    return agreement(annotations_of(given, path), **given.of(agreement))


def _agreement(given: Given) -> Answer:
    import pandas as pd

    result = agreement_of(given, given["labels"])
    table = result.annotations
    tables = {"images": result.to_pandas()}
    notes = _other_shapes(given, table)
    for name, diagnosis in DIAGNOSES.items():
        found = or_reason(diagnosis, result)
        if isinstance(found, Undefined):
            notes.append(f"no {name}: {found.reason}")
        else:
            tables[name] = found.to_pandas()
    if "thresholds" in given.values:
        curve = sensitivity(table, **given.of(sensitivity))
        tables["sensitivity"] = curve.to_pandas()
    tables["annotations"] = pd.DataFrame(
        {
            "id": table.id,
            "image": table.images[table.image],
            "rater": table.raters[table.rater],
            "category": table.categories[table.category],
            "unit": result.unit_of,
        }
    )
    shown = tuple(name for name in tables if name not in ("images", "annotations"))
    results = {**result.summary(), "notes": notes}
    return Answer("\n".join([repr(result), *notes]), results, tables, shown, result.alpha)


def _other_shapes(given: Given, annotations: Annotations) -> list[str]:
    """That labels have a more exact shape than the one that is compared unless another is asked for."""
    exact = fitting_similarities(annotations)[0]
    if "similarity" in given.values or exact == "box_iou":
        return []
    return [f"boxes were compared; --similarity {exact} compares what the labels have beside them"]


def _variations(given: Given) -> Answer:
    import pandas as pd

    found = variations(annotations_of(given, given["labels"]), **given.of(variations))
    counts, rates = found.counts(), found.rates()
    of_types = pd.DataFrame({"type": list(counts), "count": list(counts.values())})
    tables = {
        "types": of_types,
        "raters": _by_rater(found.counts_by_rater(), rates),
        "confusions": found.confusions().to_pandas(),
        "merged": found.merged.to_pandas().drop(columns="number"),
        "boundaries": boundary_quality(found).to_pandas(),
        "findings": found.to_pandas(),
    }
    text = f"{len(found):,} findings of {len(found.annotations):,} annotations of {len(rates):,} raters"
    results = {"counts": counts, "rates": rates, "identical_share": found.identical_share}
    return Answer(text, results, tables, ("types", "raters", "confusions"))


def _by_rater(counts: Mapping[str, Mapping[str, int]], rates: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {"rater": rater, "type": kind, "count": count, "rate": rates[rater][kind]}
        for rater, of_rater in counts.items()
        for kind, count in of_rater.items()
    ]
    return pd.DataFrame(rows, columns=["rater", "type", "count", "rate"])


def _calibrate(given: Given) -> Answer:
    found = calibrate(annotations_of(given, given["labels"], without=["coordinates"]), **given.of(calibrate))
    best = found.best
    results = {
        "best": best.name,
        "threshold": best.threshold,
        "tau": best.tau,
        "ks": best.ks,
        "trusted": best.trusted,
        "why": best.why,
    }
    tables = {"calibration": found.to_pandas(), "sizes": found.strata_to_pandas()}
    return Answer(repr(found), results, tables)


def _convergence(given: Given) -> Answer:
    import pandas as pd

    annotations = annotations_of(given, given["labels"])
    models = read_models(given.get("models"))
    result = label_convergence(annotations, **given.of(label_convergence), progress=given.progress)
    spread = result.convergence
    placed = [PlacedModel.of(spread, name, value) for name, value in models.items()]
    criteria = check_convergence(annotations, **given.of(check_convergence))
    tables = {
        "summary": result.summary().rename(columns={"figure": "statistic"}),
        "criteria": pd.DataFrame(map(asdict, criteria), columns=["criterion", "verdict", "finding"]),
        "models": pd.DataFrame(map(asdict, placed), columns=["name", "map", "place", "meaning"]),
        "classes": result.whole.classes(),
        "pairs": result.whole.to_pandas(),
        "replicates": result.to_pandas(),
    }
    results = {
        "convergence": result.whole_convergence,
        "subset_mean": spread.mean,
        "subset_interval": spread.interval,
        "images": result.images,
        "images_per_replicate": result.images_per_replicate,
        "thresholds": result.thresholds,
    }
    shown = ("summary", *(["models"] if placed else []))
    return Answer(str(result), results, tables, shown, result.whole_convergence)


def _compare(given: Given) -> Answer:
    old, new = (agreement_of(given, given[name]) for name in ("old", "new"))
    found = compare(old, new, **given.of(compare))
    results: dict[str, Any] = {
        "old_alpha": old.alpha,
        "new_alpha": new.alpha,
        "new_alpha_interval": new.alpha_interval,
        "shared_old_alpha": found.whole.alpha_a[0],
        "shared_new_alpha": found.whole.alpha_b[0],
        "difference": found.difference,
        "difference_interval": found.interval,
        "clear": bool(found.whole.is_clear[0]),
        "images": int(found.whole.images[0]),
        "improved": found.improved,
        "worsened": found.worsened,
        "notes": found.notes,
    }
    tables = {"images": found.by_image(), "classes": found.by_class(), "raters": found.by_rater()}
    text = f"{given['old']}: {old!r}\n{given['new']}: {new!r}\n{found!r}"
    return Answer(text, results, tables, ("classes", "raters"), new.alpha)


_MODELS = Option("models", (str,), mapping=True, help="models and their mAP from 0 to 1, such as 'net 0.41, old 0.38'")

COMMANDS = (
    Command(
        "agreement",
        "how far raters agree about what is where: KαLOS with its intervals, by image, class and rater",
        _agreement,
        (LABELS,),
        (*options_of(agreement), *options_of(sensitivity, only=("thresholds",)), *OF_ANNOTATIONS),
        score="mean alpha",
    ),
    Command(
        "variations",
        "how raters differ: wrong class, merged, missing, additional, for every two of them",
        _variations,
        (LABELS,),
        (*options_of(variations), *OF_ANNOTATIONS),
    ),
    Command(
        "calibrate",
        "the threshold, and the similarity, that tell agreement from chance",
        _calibrate,
        (LABELS,),
        (*options_of(calibrate), *(option for option in OF_ANNOTATIONS if option.name != "coordinates")),
    ),
    Command(
        "convergence",
        "label convergence: the mAP that the labels allow a model to reach",
        _convergence,
        (LABELS,),
        (*options_of(label_convergence), _MODELS, *OF_ANNOTATIONS),
        score="label convergence of all images",
    ),
    Command(
        "compare",
        "what changed from one file of labels to another, paired over the images of both",
        _compare,
        (("old", "annotations before, in any format"), ("new", "annotations after")),
        (*options_of(agreement), *OF_ANNOTATIONS),
        score="mean alpha of the new file",
    ),
)
