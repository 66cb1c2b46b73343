"""Reference diagnostics: matching again for a selection of raters, and the `krippendorff` package."""

from dataclasses import replace

import krippendorff
import numpy as np

from kalos_core import NO_OBJECT, NOT_ASSIGNED, Annotations, agreement


def alpha_of(values):
    """Compute alpha of (U, R) values as floats, NaN for missing; NaN if nothing is pairable."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values).sum(axis=1) >= 2] if values.size else values
    if not values.size:
        return np.nan
    if len(np.unique(values[np.isfinite(values)])) == 1:
        return 1.0
    return krippendorff.alpha(reliability_data=values.T, level_of_measurement="nominal")


def columns(result, images):
    """Return values of all units of the images, plus one unit per image empty by agreement; NaN for missing."""
    annotations = result.annotations
    rows = []
    for image in images:
        rows += [list(row) for row in result.units.values[result.units.image == image]]
        if not (annotations.image == image).any() and annotations.comparable_images[image]:
            rows.append([NO_OBJECT if asked else NOT_ASSIGNED for asked in annotations.assigned_any_class[image]])
    values = np.array(rows, dtype=float).reshape(-1, len(annotations.raters))
    values[values == NOT_ASSIGNED] = np.nan
    return values


def mean(values):
    values = np.asarray(values, dtype=float)
    return values[np.isfinite(values)].mean() if np.isfinite(values).any() else np.nan


def among(result, raters):
    """Compute the agreement of some raters from annotations instead of pairs; also if only they saw nothing."""
    chosen = result.configuration
    part = result.annotations.select(raters=np.asarray(raters, dtype=np.intp))
    found = agreement(part, chosen.similarity, chosen.threshold, chosen.solver, chosen.cost, bootstrap=0)
    images = range(len(part.images))
    of_image, whole = np.array([alpha_of(columns(found, [image])) for image in images]), columns(found, images)
    if np.isnan(result.alpha):  # no rater saw anything
        return replace(found, image_alpha=np.full(len(images), np.nan))
    return replace(found, image_alpha=of_image, alpha=mean(of_image), global_alpha=alpha_of(whole))


def marks(*rows, raters=("ann", "bob"), images=(1,), **more):
    """Return boxes given as (rater, class, x), in image 1, or (rater, class, x, image); boxes with equal x match."""
    records = [
        {"image": image, "rater": rater, "category": name, "box": [x, 0, 10, 10]}
        for rater, name, x, image in ((*row, 1)[:4] for row in rows)
    ]
    return Annotations.from_rows(records, images=images, raters=raters, **{"assigned": "all"} | more)


def several_raters(seed=0, *, images=30, raters=4, sparse=False):
    """Return objects of several raters who move, miss, confuse and add some; a COCO dict that the peer reads, too."""
    rng = np.random.default_rng(seed)
    names = [f"rater {code}" for code in range(raters)]
    coco = {"images": [], "annotations": [], "categories": [{"id": k, "name": f"class {k}"} for k in range(1, 6)]}
    for image in range(1, images + 1):
        asked = names
        if sparse:
            asked = sorted(rng.choice(names, rng.integers(2, raters + 1), replace=False).tolist())
        size = {"id": image, "width": 640, "height": 480, "file_name": f"{image}.jpg", "rater_list": asked}
        coco["images"].append(size)
        things = rng.uniform([0, 0, 20, 20], [500, 350, 120, 120], (rng.integers(0, 7), 4))
        classes = rng.integers(1, 6, len(things))
        for name in asked:
            for box, category in zip(things, classes, strict=True):
                if rng.random() < 0.2:
                    continue
                category = int(rng.integers(1, 6)) if rng.random() < 0.15 else int(category)
                moved = np.clip(box + rng.normal(0, 6, 4), [0, 0, 5, 5], None)
                add_annotation(coco, image, name, category, moved)
            if rng.random() < 0.2:
                add_annotation(
                    coco, image, name, int(rng.integers(1, 6)), rng.uniform([0, 0, 20, 20], [500, 350, 90, 90])
                )
    return coco


def add_annotation(coco, image, rater, category, box):
    x, y, width, height = box.tolist()
    ring = [x, y, x + width, y, x + width, y + height, x, y + height]
    coco["annotations"].append(
        {
            "id": len(coco["annotations"]) + 1, "image_id": image, "rater_id": rater, "category_id": category,
            "bbox": [x, y, width, height], "segmentation": [ring], "area": width * height, "iscrowd": 0,
        }
    )  # fmt: skip
