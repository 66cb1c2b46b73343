"""Boundaries of every two raters: pair by pair vs. `boundary_distance`, means by hand and vs. pandas."""

import numpy as np
import pytest

from kalos_core import Annotations, InputError, LabelStack, MaskStack, agreement, boundary_agreement, boundary_distance
from kalos_core.pixels import unit_boundaries
from kalos_core.pixels.rater_boundaries import MEASURES
from kalos_core.resampling import draws
from tests.expanded import expanded

SPACING = (1.0, 0.5)


def masks(seed, raters=3, size=(20, 30)):
    """Return discs; some raters have none."""
    rng = np.random.default_rng(seed)
    y, x = np.ogrid[: size[0], : size[1]]
    middles, radii = rng.uniform((6, 8), (14, 22), (raters, 2)), rng.choice([0, 4, 6], raters, p=[0.2, 0.4, 0.4])
    return np.stack(
        [(y - row) ** 2 + (x - column) ** 2 < r**2 for (row, column), r in zip(middles, radii, strict=True)]
    )


def row_of(found, tolerance):
    return [found.hausdorff, found.hausdorff95, found.average, found.surface_dice(tolerance)]


def test_every_pair_is_that_of_boundary_distance():
    stacks = [MaskStack.of(masks(seed), ["ann", "bob", "cid"], image=f"{seed}.png") for seed in range(6)]
    found = boundary_agreement(stacks, spacing=SPACING, tolerance=1.5, bootstrap=0)
    expected = [
        row_of(boundary_distance(stack.masks[a], stack.masks[b], SPACING), 1.5)
        for stack in stacks
        for a, b in ((0, 1), (0, 2), (1, 2))
    ]
    np.testing.assert_allclose(found.values, expected, rtol=1e-12)
    table = found.to_pandas()
    assert table["image"].tolist() == np.repeat([f"{seed}.png" for seed in range(6)], 3).tolist()
    assert table[["rater_a", "rater_b"]].values.tolist()[:3] == [["ann", "bob"], ["ann", "cid"], ["bob", "cid"]]
    assert np.isinf(found.hausdorff).any()
    assert np.isfinite(found.hausdorff).any()


def test_every_class_is_a_mask_of_its_own():
    maps = np.where(masks(1), 1, np.where(masks(2), 2, 0))
    stack = LabelStack.of(dict(zip("abc", maps, strict=True)))
    found = boundary_agreement([stack], {1: "road", 2: "car"}, bootstrap=0)
    for place, name in enumerate(("road", "car"), start=1):
        alone = boundary_agreement([stack.of_class(place)], bootstrap=0)
        np.testing.assert_array_equal(found.values[found.category == place - 1], alone.values)
        assert (found.to_pandas()["class"][found.category == place - 1] == name).all()
    assert found.by_class()["class"].tolist() == ["road", "car"]


def test_means_are_over_images_each_the_mean_of_its_pairs():
    stacks = [MaskStack.of(masks(seed), ["ann", "bob", "cid"], image=seed) for seed in range(16)]
    found = boundary_agreement(stacks, spacing=SPACING, bootstrap=200, seed=3)
    table = found.to_pandas().replace(np.inf, np.nan)
    by_image = table.groupby("image")[list(MEASURES)].mean()
    whole = found.summary()
    for name in MEASURES:
        assert whole[name] == pytest.approx(by_image[name].mean())
        np.testing.assert_allclose(found.by_image()[name], by_image[name])
        pairs = table.groupby(["rater_a", "rater_b"])[name].mean()  # a pair has one row per image
        np.testing.assert_allclose(found.by_rater_pair()[name], pairs)
        # the same draws, image by image
        values = by_image[name].to_numpy()
        known = np.unique(np.flatnonzero(by_image.notna().any(axis=1)))
        times = np.concatenate(list(draws(len(known), 200, 3)))
        drawn = [np.nanmean(np.repeat(values[known], each.astype(int))) for each in times]
        assert [whole[f"{name}_low"], whole[f"{name}_high"]] == pytest.approx(expanded(drawn, by_image[name].count()))
    there = np.isfinite(found.hausdorff).sum(), np.isinf(found.hausdorff).sum(), np.isnan(found.hausdorff).sum()
    assert (whole["pairs"], whole["one_missing"], whole["both_missing"]) == there
    assert min(there) > 0


def test_pairs_without_a_boundary_by_hand():
    nothing, dot, two = [[0, 0, 0]], [[1, 0, 0]], [[1, 1, 0]]
    found = boundary_agreement([{"a": nothing, "b": nothing, "c": dot}, {"a": dot, "b": two}], tolerance=0, bootstrap=0)
    pairs = found.by_rater_pair().set_index(["rater_a", "rater_b"])
    # a and b: nothing in the first image; in the second one of three pixels is 1 away, and 1 from the other's
    assert pairs.loc[("a", "b"), ["average", "hausdorff", "surface_dice", "images"]].tolist() == [1 / 3, 1, 2 / 3, 1]
    assert pairs.loc[("a", "b"), ["pairs", "one_missing", "both_missing"]].tolist() == [1, 0, 1]
    assert pairs.loc[("a", "c"), ["surface_dice", "pairs", "one_missing", "both_missing"]].tolist() == [0, 0, 1, 0]
    assert np.isnan(pairs.loc[("a", "c"), "average"])
    assert found.by_image()["one_missing"].tolist() == [2, 0]
    assert "one of two boundaries is missing in 2 pairs" in found.headline
    assert "No two raters have a boundary each" in boundary_agreement([{"a": nothing, "b": dot}], bootstrap=0).headline


def test_ignored_pixels_hold_no_boundary():
    a, b = np.zeros((2, 9, 9), bool)
    a[2:7, 2:7], b[2:7, 2:9] = True, True
    ignore = np.zeros((9, 9), bool)
    ignore[:, 6:] = True
    found = boundary_agreement([MaskStack.of([a, b], ignore=ignore)], bootstrap=0)
    # the remaining boundaries are equal
    assert found.values.tolist() == [[0, 0, 0, 1]]
    assert boundary_agreement([MaskStack.of([a, b])], bootstrap=0).hausdorff.tolist() == [2]


def test_local_raters_have_no_pairs_over_images():
    found = boundary_agreement([MaskStack.of(masks(0), raters_are_local=True)], bootstrap=0)
    assert len(found.by_image()) == 1
    for call in (found.by_rater_pair, lambda: found.plot("raters")):
        with pytest.raises(InputError, match="raters: expected raters who are the same on every image"):
            call()


# ---- annotations ----


def rows(kind):
    """Return two images and three raters; the third gives another class."""
    made = []
    for rater, left, right, name in [("ann", 2, 12, "cat"), ("bob", 3, 14, "cat"), ("cid", 4, 16, "dog")]:
        pixels = np.zeros((20, 30), bool)
        pixels[3:11, left:right] = True
        shape = {"polygon": [[left, 3, right, 3, right, 11, left, 11]], "mask": pixels}
        made.append({"rater": rater, "category": name, kind: shape[kind]})
    return [{"image": image, **row} for image in (1, 2) for row in made]


@pytest.mark.parametrize("kind", ["polygon", "mask"])
def test_annotations_of_a_unit_are_compared(kind):
    table = Annotations.from_rows(rows(kind), image_size={1: (30, 20), 2: (30, 20)})
    matched = agreement(table, f"{kind}_iou", threshold=0.3, bootstrap=0)
    assert len(matched.units) == 2
    found = unit_boundaries(matched, spacing=SPACING, tolerance=1, bootstrap=0)
    shapes = [row["mask"] if kind == "mask" else np.reshape(row["polygon"], (-1, 2)) for row in rows(kind)[:3]]
    expected = [row_of(boundary_distance(shapes[a], shapes[b], SPACING), 1) for a, b in ((0, 1), (0, 2), (1, 2))]
    np.testing.assert_allclose(found.values, expected * 2, rtol=1e-3)
    shown = found.to_pandas()
    assert shown["class"].fillna("").tolist() == ["cat", "", ""] * 2
    assert shown["unit"].tolist() == np.repeat(matched.unit_of[[0, 3]], 3).tolist()
    assert shown[["rater_a", "rater_b"]].values.tolist()[:3] == [["ann", "bob"], ["ann", "cid"], ["bob", "cid"]]
    assert found.by_class().set_index("class")["pairs"].to_dict() == {"cat": 2, "dog": 0}
