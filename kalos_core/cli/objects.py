"""Commands on annotations of objects: agreement, variations, calibrate, convergence, compare, shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from kalos_core import (
    Agreement,
    agreement,
    attribute_agreement,
    boundary_quality,
    calibrate,
    check_convergence,
    class_difficulty,
    collaboration,
    compare,
    distributed,
    label_convergence,
    next_to_rate,
    rater_vitality,
    sensitivity,
    unit_truth,
    variations,
)
from kalos_core.cli.answers import Answer, numbers_of
from kalos_core.cli.commands import Command
from kalos_core.cli.options import Flag, Given, options_of
from kalos_core.cli.reading import (
    DASK,
    OF_ANNOTATIONS,
    annotations_of,
    annotations_or_shards,
    given_to_readers,
)
from kalos_core.consensus import UnitTruth
from kalos_core.convergence import read_models
from kalos_core.convergence.study import PlacedModel, convergence_study
from kalos_core.diagnostics import Sensitivity
from kalos_core.display import number_of
from kalos_core.errors import Undefined, or_reason
from kalos_core.nominal import SKILL_MODELS, GradeAgreement, attributes_table
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.pixels import unit_boundaries
from kalos_core.sharding import Sharded
from kalos_core.variation import VARIATION_TYPES

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("labels", "file or folder with the annotations of several raters, in any format")
LABELS_OR_SHARDS = ("labels", f"{LABELS[1]}, or of shards")

BOUNDARIES = Flag("boundaries", bool, help="how far outlines of the same object are apart, too")

NEXT = Flag("next", int, help="how many images to name that one more rater should label, see next_to_rate")

TRUTH = Flag(
    "truth", Literal[tuple(SKILL_MODELS)], help="estimate who is right and which units are objects, see unit_truth"
)

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
    source = annotations_or_shards(given, given["labels"])
    result = agreement(source, **given.of(agreement))
    diagnoses = {name: or_reason(diagnosis, result) for name, diagnosis in DIAGNOSES.items()}
    notes: list[str] = []
    found: dict[str, Any] = {}
    if given.get("boundaries"):
        apart = unit_boundaries(result, **given.of(unit_boundaries))
        diagnoses["boundaries"], found["boundaries"] = apart, apart.summary()
        notes += apart.headline.splitlines()
    if given.get("next") is not None:
        diagnoses["next"] = next_to_rate(result, **{"n": given["next"], **given.of(next_to_rate)})
    curve = sensitivity(source, **given.of(sensitivity)) if "thresholds" in given.values else None
    more = {} if result.of_shards else {"annotations": _annotations_table(result)}
    if given.get("truth") is not None:
        truth = unit_truth(result, model=given["truth"])
        notes.append(f"who is right: {truth.headline}")
        more |= _truth_tables(truth)
    return _agreement_answer(result, notes, diagnoses, curve, more, found)


def _truth_tables(found: UnitTruth) -> dict[str, pd.DataFrame]:
    units = found.to_pandas()
    units.insert(0, "unit", range(len(units)))
    estimate = found.estimate
    return {"truth": units, "skill": estimate.raters_to_pandas(), "confusion": estimate.confusion_to_pandas()}


def _annotations_table(result: Agreement) -> pd.DataFrame:
    table = result.annotations.to_pandas()[["id", "image", "rater", "category"]]
    return table.assign(unit=result.unit_of)


def _agreement_answer(
    result: Agreement,
    notes: list[str],
    diagnoses: Mapping[str, Any],
    curve: Sensitivity | None,
    more: Mapping[str, pd.DataFrame],
    further: Mapping[str, Any],
) -> Answer:
    tables = {"images": result.to_pandas()}
    for name, found in diagnoses.items():
        if isinstance(found, Undefined):
            notes.append(f"no {name}: {found.reason}")
        else:
            tables[name] = found.to_pandas()
    if curve is not None:
        tables["sensitivity"] = curve.to_pandas()
    shown = tuple(name for name in tables if name not in ("images", "boundaries"))
    results = {**result.summary(), "notes": notes, **further}
    return Answer("\n".join([repr(result), *notes]), results, {**tables, **more}, shown, result.alpha)


def _variations(given: Given) -> Answer:
    import pandas as pd

    source = annotations_or_shards(given, given["labels"])
    found = variations(source, **given.of(variations))
    counts, rates = found.counts(), found.rates()
    tables = {
        "types": pd.DataFrame({"type": list(counts), "count": list(counts.values())}),
        "raters": _by_rater(found.counts_by_rater(), rates),
        "confusions": found.confusions().to_pandas(),
        "boundaries": boundary_quality(found).to_pandas(),
    }
    if isinstance(source, Sharded):
        tables["images"] = pd.DataFrame(found.by_image(), source.known.images, VARIATION_TYPES)
        tables["images"] = tables["images"].rename_axis("image").reset_index()
    else:
        tables["merged"] = found.merged.to_pandas().drop(columns="number")
        tables["findings"] = found.to_pandas()
    annotations, raters = int(found.annotations_of_raters.sum()), len(rates)
    text = (
        f"{number_of(len(found), 'finding')} of {number_of(annotations, 'annotation')} of {number_of(raters, 'rater')}"
    )
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
    found = calibrate(annotations_or_shards(given, given["labels"], without=["coordinates"]), **given.of(calibrate))
    best = found.best
    results = {"best": best.name, **numbers_of(best, "threshold", "tau", "ks", "trusted", "why")}
    tables = {"calibration": found.to_pandas(), "sizes": found.strata_to_pandas()}
    return Answer(repr(found), results, tables)


def _convergence(given: Given) -> Answer:
    import pandas as pd

    source = annotations_or_shards(given, given["labels"])
    models = read_models(given.get("models"))
    result = label_convergence(source, **given.of(label_convergence), progress=given.progress)
    criteria = check_convergence(source, **given.of(check_convergence))
    tables = {"criteria": pd.DataFrame(map(asdict, criteria), columns=["criterion", "verdict", "finding"])}
    placed = [PlacedModel.of(result.interval, name, value) for name, value in models.items()]
    tables |= {
        "summary": result.summary().rename(columns={"figure": "statistic"}),
        "models": pd.DataFrame(map(asdict, placed), columns=["name", "map", "place", "meaning"]),
        "classes": result.whole.classes(),
        "pairs": result.whole.to_pandas(),
        "replicates": result.to_pandas(),
    }
    results = {
        "convergence": result.whole_convergence,
        "convergence_interval": result.interval,
        "subset_mean": result.convergence.mean,
        **numbers_of(result, "images", "images_per_replicate", "thresholds"),
    }
    shown = ("summary", *(["models"] if placed else []))
    return Answer(str(result), results, tables, shown, result.whole_convergence)


def _shards(given: Given) -> Answer:
    import pandas as pd

    path = given["labels"]
    source = annotations_of(given, path) if given_to_readers(given) else path  # as it is, COCO is read block by block
    shards = distributed.write_shards(source, given["folder"], **given.of(distributed.write_shards))
    counts = {"shards": len(shards), "images": shards.images, "annotations": shards.rows}
    table = pd.DataFrame(map(asdict, shards.files))
    text = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    results = {**counts, "raters": shards.known.raters.tolist(), "categories": shards.known.categories.tolist()}
    return Answer(f"{given['folder']}: {text}", results, {"shards": table})


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
        **numbers_of(found, "improved", "worsened", "notes"),
    }
    tables = {"images": found.by_image(), "classes": found.by_class(), "raters": found.by_rater()}
    text = f"{given['old']}: {old!r}\n{given['new']}: {new!r}\n{found!r}"
    return Answer(text, results, tables, ("classes", "raters"), new.alpha)


def _attributes(given: Given) -> Answer:
    result = agreement_of(given, given["labels"])
    values = result.annotations.attributes
    names, more = (
        [given["name"]] if "name" in given.values else list(values),
        given.of(attribute_agreement, without=("name",)),
    )
    if len(names) == 1 or not values:
        found: dict[str, GradeAgreement | Undefined] = {
            name: attribute_agreement(result, name, **more) for name in names or [""]
        }
    else:
        found = {name: or_reason(partial(attribute_agreement, **more), result, name) for name in names}
    known = {name: each for name, each in found.items() if isinstance(each, GradeAgreement)}
    notes = [f"{name}: {each.reason}" for name, each in found.items() if isinstance(each, Undefined)]
    alpha = {name: each.alpha for name, each in known.items()}
    mean = mean_of_finite(np.array(list(alpha.values())))
    results = {
        "mean_alpha": mean,
        "alpha": alpha,
        "alpha_interval": {name: each.alpha_interval for name, each in known.items()},
        "units": {name: each.items for name, each in known.items()},
        "notes": notes,
    }
    text = "\n".join([*(each.headline for each in known.values()), *notes])
    return Answer(text, results, {"coefficients": attributes_table(known.values())}, ("coefficients",), mean)


_NAME = Flag("name", str, help="the attribute, such as malignancy; all of the file unless given")

COMMANDS = (
    Command(
        "agreement",
        "how far raters agree about what is where: KαLOS with its intervals, by image, class and rater",
        _agreement,
        (LABELS_OR_SHARDS,),
        (
            *options_of(agreement),
            *options_of(sensitivity, only=("thresholds",)),
            NEXT,
            TRUTH,
            *options_of(next_to_rate, only=("statistic",)),
            BOUNDARIES,
            *options_of(unit_boundaries, only=("spacing", "tolerance")),
            *OF_ANNOTATIONS,
            DASK,
        ),
        score="mean alpha",
    ),
    Command(
        "attributes",
        "how far raters agree on attributes of the objects that they both annotated, such as a malignancy",
        _attributes,
        (LABELS,),
        (_NAME, *options_of(attribute_agreement, agreement), *OF_ANNOTATIONS),
        score="mean alpha of the attributes",
    ),
    Command(
        "variations",
        "how raters differ: wrong class, merged, missing, additional, for every two of them",
        _variations,
        (LABELS_OR_SHARDS,),
        (*options_of(variations), *OF_ANNOTATIONS, DASK),
    ),
    Command(
        "calibrate",
        "the threshold, and the similarity, that tell agreement from chance",
        _calibrate,
        (LABELS_OR_SHARDS,),
        (*options_of(calibrate), *(option for option in OF_ANNOTATIONS if option.name != "coordinates"), DASK),
    ),
    Command(
        "convergence",
        "label convergence: the mAP that the labels allow a model to reach",
        _convergence,
        (LABELS_OR_SHARDS,),
        (*options_of(label_convergence), *options_of(convergence_study, only=("models",)), *OF_ANNOTATIONS, DASK),
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
    Command(
        "shards",
        "write annotations as shards, which agreement, variations, calibrate and convergence read one by one",
        _shards,
        (LABELS, ("folder", "new or empty folder for the shards")),
        (*options_of(distributed.write_shards, only=("images_per_shard",)), *OF_ANNOTATIONS),
    ),
)
