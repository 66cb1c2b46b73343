"""Commands on annotations of objects: agreement, variations, calibrate, convergence, compare, shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

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
from kalos_core.cli.answers import Answer, Order, numbers_of
from kalos_core.cli.commands import Command
from kalos_core.cli.options import CHECKS, MORE, Flag, Given, options_of
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
from kalos_core.diagnostics.classes import LEAST_IMAGES
from kalos_core.diagnostics.comparison import Differences
from kalos_core.display import bracketed, number_of, signed
from kalos_core.errors import InputError, Undefined, listed, lookup, or_reason, warn
from kalos_core.nominal import GradeAgreement, attributes_table, label_findings
from kalos_core.nominal.decisions import mean_of_finite
from kalos_core.pixels import unit_boundaries
from kalos_core.pixels.rater_boundaries import check_outlines
from kalos_core.sharding import Sharded
from kalos_core.variation import VARIATION_TYPES

if TYPE_CHECKING:
    import pandas as pd

LABELS = ("labels", "file or folder with the annotations of several raters, in any format")
LABELS_OR_SHARDS = ("labels", f"{LABELS[1]}, or folder of shards")

BOUNDARIES = Flag("boundaries", bool, "Also measure the distance between outlines of the same object.", group=MORE)

NEXT = Flag("next", int, "Also list this number of images that need another rater.", group=MORE)

TRUTH = replace(
    options_of(label_findings, only=("truth",), group=MORE)[0],
    help="Also estimate who is right and which units are objects, with this model of the raters.",
)

DIAGNOSES: dict[str, Callable[[Agreement], Any]] = {
    "classes": class_difficulty,
    "raters": rater_vitality,
    "pairs": collaboration,
}
"""Name of a table of `agreement` -> function that computes it."""


LEAST_FIRST = {
    "classes": Order("alpha", least_images=LEAST_IMAGES),
    "raters": Order("vitality"),
    "pairs": Order("alpha"),
    "next": Order(),
    "sensitivity": Order(),
}
"""Tables of `agreement` that are shown, and their orders."""


def agreement_of(given: Given, path: Path) -> Agreement:
    """Compute the agreement of a file with the given options."""
    return agreement(annotations_of(given, path), **given.of(agreement))


def _agreement(given: Given) -> Answer:
    source = annotations_or_shards(given, given["labels"])
    if isinstance(source, Sharded):
        _refuse_of_shards(given)
    elif given.get("boundaries"):
        check_outlines(source)
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


def _refuse_of_shards(given: Given) -> None:
    """Raise an error for options that need the annotations themselves, before they are compared."""
    wrong = [option.flag for option in (BOUNDARIES, TRUTH) if given.get(option.name)]
    if wrong:
        raise InputError(
            f"{listed(wrong)}: expected a file or folder of annotations, got a folder of shards, which is not supported"
        )


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
    shown = {name: by for name, by in LEAST_FIRST.items() if name in tables}
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
    text = f"{found.headline}\n{number_of(annotations, 'annotation')} of {number_of(raters, 'rater')}"
    results = {"counts": counts, "rates": rates, "identical_share": found.identical_share}
    shown = {"types": Order(), "raters": Order(), "confusions": Order("count", largest_first=True)}
    return Answer(text, results, tables, shown)


def _by_rater(counts: Mapping[str, Mapping[str, int]], rates: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {"rater": rater, "type": kind, "count": count, "rate": rates[rater][kind]}
        for rater, of_rater in counts.items()
        for kind, count in of_rater.items()
    ]
    table = pd.DataFrame(rows, columns=["rater", "type", "count", "rate"])
    first = table.assign(correct=table["type"] == "correct", rate=-table["rate"])
    return table.loc[first.sort_values(["correct", "rate"], kind="stable").index].reset_index(drop=True)


def _calibrate(given: Given) -> Answer:
    found = calibrate(annotations_or_shards(given, given["labels"]), **given.of(calibrate))
    best = found.best
    results = {"best": best.name, **numbers_of(best, "threshold", "tau", "ks", "trusted", "why")}
    tables = {"calibration": found.to_pandas(), "sizes": found.strata_to_pandas()}
    return Answer(repr(found), results, tables)


def _convergence(given: Given) -> Answer:
    import pandas as pd

    models = read_models(given.get("models"))
    source = annotations_or_shards(given, given["labels"])
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
    shown = {"summary": Order(), **({"models": Order("map", largest_first=True)} if placed else {})}
    return Answer(str(result), results, tables, shown, result.whole_convergence)


def _shards(given: Given) -> Answer:
    import pandas as pd

    path = given["labels"]
    source = annotations_of(given, path) if given_to_readers(given) else path  # without options, COCO is read in blocks
    shards = distributed.write_shards(source, given["folder"], **given.of(distributed.write_shards))
    counts = {"shards": len(shards), "images": shards.images, "annotations": shards.rows}
    table = pd.DataFrame(map(asdict, shards.files))
    text = ", ".join(f"{count:,} {what}" for what, count in counts.items())
    results = {**counts, "raters": shards.known.raters.tolist(), "categories": shards.known.categories.tolist()}
    return Answer(f"{given['folder']}: {text}", results, {"shards": table})


def _compare(given: Given) -> Answer:
    checks = [option for option in FAIL_IF_WORSE if given.get(option.name)]
    if checks and given.get("bootstrap") == 0:
        flags = listed(option.flag for option in checks)
        raise InputError(f"{flags}: expected intervals, got --bootstrap 0; pass --bootstrap 1000, or omit the option")
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
        "worse": {
            "whole": found.is_worse,
            "classes": found.classes.name[found.classes.is_worse],
            "raters": found.raters.name[found.raters.is_worse],
        },
    }
    tables = {"images": found.by_image(), "classes": found.by_class(), "raters": found.by_rater()}
    text = f"{found!r}\nbefore, {given['old']}: {old!r}\nafter, {given['new']}: {new!r}"
    if checks and found.why_no_interval and found.difference < 0:
        warn(f"the difference has no interval ({found.why_no_interval}), so the check for worse agreement cannot fail")
    worse = {
        "fail_if_worse": _worse(found.whole, np.array([found.is_worse]), "mean alpha"),
        "fail_if_class_worse": _worse(found.classes, found.classes.is_worse, "class {}"),
        "fail_if_rater_worse": _worse(found.raters, found.raters.is_worse, "rater {}"),
    }
    failed = [reason for option in checks for reason in worse[option.name]]
    shown = {"classes": Order("difference", least_images=LEAST_IMAGES), "raters": Order("difference")}
    return Answer(text, results, tables, shown, new.alpha, failed=tuple(failed))


def _worse(part: Differences, worse: NDArray[np.bool_], what: str) -> list[str]:
    """Return one sentence for each difference that is worse."""
    rows = zip(part.name[worse], part.difference[worse], part.interval[worse], strict=True)
    return [
        f"{what.format(name)}: raters agree less than before, {signed(value)}{bracketed(interval, '+.3f')}"
        for name, value, interval in rows
    ]


FAIL_IF_WORSE = (
    Flag(
        "fail_if_worse",
        bool,
        "Exit with code 1 if the whole 95 % interval of the difference of mean alpha is below 0.",
        group=CHECKS,
    ),
    Flag(
        "fail_if_class_worse",
        bool,
        "Exit with code 1 if raters clearly agree less on a class; about 1 in 20 such differences is a false positive.",
        group=CHECKS,
    ),
    Flag(
        "fail_if_rater_worse",
        bool,
        "Exit with code 1 if a rater clearly agrees less with the others; about 1 in 20 such differences is a false "
        "positive.",
        group=CHECKS,
    ),
)


def _attributes(given: Given) -> Answer:
    annotations = annotations_of(given, given["labels"])
    values = annotations.attributes
    if not values:
        raise InputError(
            f"{given['labels']}: expected annotations that have attributes, such as a malignancy, got none"
        )
    if "attribute" in given.values:
        lookup(values, given["attribute"], "attribute")
    names = [given["attribute"]] if "attribute" in given.values else list(values)
    more = given.of(attribute_agreement, without=("name",))
    result = agreement(annotations, **given.of(agreement))
    if len(names) == 1:
        found: dict[str, GradeAgreement | Undefined] = {
            name: attribute_agreement(result, name, **more) for name in names
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
    return Answer(text, results, {"coefficients": attributes_table(known.values())}, {"coefficients": Order()}, mean)


_ATTRIBUTE = Flag("attribute", str, "Name of the attribute, such as malignancy; by default all in the file.")

COMMANDS = (
    Command(
        "agreement",
        "how far raters agree on objects and their classes: KαLOS with intervals, by image, class and rater",
        _agreement,
        (LABELS_OR_SHARDS,),
        (
            *options_of(agreement),
            *options_of(sensitivity, only=("thresholds",), group=MORE),
            NEXT,
            *options_of(next_to_rate, only=("statistic",), group=MORE),
            TRUTH,
            BOUNDARIES,
            *options_of(unit_boundaries, only=("spacing", "tolerance"), group=MORE),
            *OF_ANNOTATIONS,
            DASK,
        ),
        score="mean alpha",
        example="labels.json --threshold 0.6 --top 5 --fail-under 0.5",
        tables=(
            "images",
            "classes",
            "raters",
            "pairs",
            "sensitivity",
            "annotations",
            "truth",
            "skill",
            "confusion",
            "next",
            "boundaries",
        ),
    ),
    Command(
        "attributes",
        "how far raters agree on attributes, such as malignancy, of objects that several annotated",
        _attributes,
        (LABELS,),
        (_ATTRIBUTE, *options_of(attribute_agreement, agreement), *OF_ANNOTATIONS),
        score="mean alpha of the attributes",
        example="graded.json --attribute malignancy",
        tables=("coefficients",),
    ),
    Command(
        "variations",
        "how raters differ: wrong class, merged, missing, additional, for every pair of raters",
        _variations,
        (LABELS_OR_SHARDS,),
        (*options_of(variations), *OF_ANNOTATIONS, DASK),
        example="labels.json --sort count --reverse",
        tables=("types", "raters", "confusions", "boundaries", "images", "merged", "findings"),
    ),
    Command(
        "calibrate",
        "the threshold and the similarity that separate agreement from chance",
        _calibrate,
        (LABELS_OR_SHARDS,),
        (*options_of(calibrate), *OF_ANNOTATIONS, DASK),
        example="labels.json --similarities box_iou centroid --bootstrap 20",
        tables=("calibration", "sizes"),
    ),
    Command(
        "convergence",
        "label convergence: the mAP that the labels allow a model to reach",
        _convergence,
        (LABELS_OR_SHARDS,),
        (*options_of(label_convergence), *options_of(convergence_study, only=("models",)), *OF_ANNOTATIONS, DASK),
        score="label convergence of all images",
        example="labels.json --samples 20 --fraction 0.5 --models 'net 0.41, old 0.38'",
        tables=("summary", "models", "criteria", "classes", "pairs", "replicates"),
    ),
    Command(
        "compare",
        "how agreement changed from one file of labels to another, paired over their common images",
        _compare,
        (("old", "annotations before, in any format"), ("new", "annotations after")),
        (*options_of(agreement), *FAIL_IF_WORSE, *OF_ANNOTATIONS),
        score="mean alpha of the new file",
        example="before.json labels.json --fail-if-worse --summary changes.md",
        tables=("images", "classes", "raters"),
    ),
    Command(
        "shards",
        "write annotations as shards, for agreement, variations, calibrate and convergence of large data",
        _shards,
        (LABELS, ("folder", "new or empty folder for the shards")),
        (*options_of(distributed.write_shards, only=("images_per_shard",)), *OF_ANNOTATIONS),
        example="labels.json shards --images-per-shard 4",
        tables=("shards",),
    ),
)
