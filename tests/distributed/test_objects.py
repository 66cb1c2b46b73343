"""Functions of objects give the same results for shards as for one table, for any number and order of shards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kalos_core as k
from kalos_core import Annotations, InputError, KalosWarning
from kalos_core.convergence import map_of_predictions
from kalos_core.diagnostics import diagnose, narrowed, pair_image_alpha
from kalos_core.distributed import write_shards
from kalos_core.pairs import compute_pairs
from kalos_core.pixels import unit_boundaries
from kalos_core.variation import VARIATION_TYPES
from tests.distributed.equality import assert_same, every_size, shards_of
from tests.distributed.scenes import in_order, limited, scene

pytestmark = pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")


def numbered():
    """Return image ids that are whole numbers in any order, which mAP sorts by number; and crowd regions."""
    table = scene()
    number = np.random.default_rng(4).permutation(len(table.images)).tolist()
    table = replace(table, images=np.array(number, object))
    crowd = np.arange(len(table)) % 11 == 0
    return replace(table.select(rows=~crowd), crowd_regions=table.select(rows=crowd))


def masks():
    """Return masks on canvases of two sizes; small shards have only one."""
    rng = np.random.default_rng(2)
    rows = []
    for image in range(23):
        height, width = (8, 10) if image % 5 else (16, 12)
        for rater in ("ann", "bob", "cid")[: 2 + image % 2]:
            canvas = np.zeros((height, width), bool)
            top, left = rng.integers(0, 4, 2)
            canvas[top : top + 4, left : left + 5] = True
            rows.append({"image": image, "rater": rater, "category": "cat", "mask": canvas})
    return Annotations.from_rows(rows, assigned="drew")


def sessions():
    """Return two sessions of one person, and another person."""
    return replace(scene(), person=np.array(["ann", "ann", "bob"], object), session=np.array(["1", "2", "1"], object))


SCENES = {"text": scene, "numbers and crowds": numbered, "mixed": lambda: scene(ids="mixed"), "limits": limited}
DRAWN = {"bootstrap": 20, "seed": 5}
HITS = {"thresholds": (0.4, 0.6)}


def agreed(source, **more):
    return k.agreement(source, threshold=0.4, **DRAWN, **more)


CALLS = {
    "agreement": agreed,
    "agreement without empty images": lambda source: agreed(source, empty="exclude"),
    "sums of an agreement": lambda source: [agreed(source).summary(), agreed(source).unit_sizes],
    "table of an agreement": lambda source: agreed(source).to_pandas(),
    "sensitivity": lambda source: k.sensitivity(source, [0.3, 0.6], strict=0.75, **DRAWN),
    "sensitivity without empty images": lambda source: k.sensitivity(source, [0.3], empty="exclude", **DRAWN),
    "classes": lambda source: k.class_difficulty(agreed(source)),
    "raters": lambda source: k.rater_vitality(agreed(source, empty="exclude")),
    "pairs of raters": lambda source: k.collaboration(agreed(source)),
    "usual settings": lambda source: [k.class_difficulty(source), k.rater_vitality(source), k.collaboration(source)],
    "all diagnostics": lambda source: diagnose(agreed(source)),
    "alphas of a pair": lambda source: pair_image_alpha(agreed(source), "ann", "bob"),
    "a rater and a class": lambda source: narrowed(agreed(source), "cat", "ann").to_pandas(),
    "the next images": lambda source: k.next_to_rate(agreed(source), draws=20),
    "compared": lambda source: k.compare(agreed(source), k.agreement(source, **DRAWN), bootstrap=20),
    "units": lambda source: k.unit_agreement(agreed(source)),
    "variations": lambda source: k.variations(source, threshold=0.4),
    "few merged": lambda source: k.variations(source, max_merge=2).counts_by_rater(),
    "who differs": lambda source: [getattr(k.variations(source), name)() for name in OF_RATERS],
    "confusions": lambda source: k.variations(source, threshold=0.4).confusions(),
    "shares": lambda source: k.variation_shares(source, [0.3, 0.6]),
    "boundaries": lambda source: k.boundary_quality(k.variations(source)),
    "modified mAP": lambda source: k.modified_map(source, **HITS),
    "modified mAP at once": lambda source: k.modified_map(source, ties="joint", size="small", **HITS),
    "random orders": lambda source: k.modified_map(source, ties="shuffle", orders=3, seed=7, **HITS),
    "label convergence": lambda source: k.label_convergence(source, samples=12, fraction=0.5, seed=2, **HITS),
    "sizes of subsets": lambda source: k.label_convergence(source, 9, 0.5, **HITS).by_size(samples=6),
    "criteria": lambda source: [vars(line) for line in k.check_convergence(source)],
    "calibration": lambda source: k.calibrate(source, SIMILARITIES, repeats=2, bootstrap=10, seed=3),
    "calibration in pixels": lambda source: k.calibrate(source, coordinates="pixels"),
    "overview": k.overview,
}
OF_RATERS = ("counts", "rates", "merged_by", "split_by", "by_pair", "by_image")
SIMILARITIES = ["box_iou", "centroid_box", "box_giou"]


@every_size
@pytest.mark.parametrize("make", SCENES.values(), ids=SCENES)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_as_of_one_table(tmp_path, call, make, size):
    table = in_order(make())
    assert_same(call(table), call(shards_of(table, tmp_path / "s", size)))


@pytest.mark.parametrize(
    ("make", "solver", "cost"), [(scene, "ahc", "neg"), (limited, "shm", "soft"), (limited, "greedy", "neg")]
)
def test_every_solver_in_any_order_of_rows(tmp_path, make, solver, cost):
    table, shards = make(), shards_of(make(), tmp_path / "s", 4)
    chosen = {"similarity": "box_giou", "threshold": 0.4, "solver": solver, "cost": cost, "bootstrap": 20}
    assert_same(k.agreement(table, **chosen), k.agreement(shards, **chosen))
    assert_same(k.rater_vitality(k.agreement(table, **chosen)), k.rater_vitality(k.agreement(shards, **chosen)))


def test_sessions_and_a_similarity_of_ones_own(tmp_path):
    table, shards = sessions(), shards_of(sessions(), tmp_path / "s", 4)
    for call in (k.intra_rater, k.team_agreement):
        assert_same(call(agreed(table, similarity=half)), call(agreed(shards, similarity=half)))


def half(_, left, __):
    return np.full(len(left), 0.5)


@every_size
def test_masks_on_canvases_of_several_sizes(tmp_path, size):
    table, chosen = masks(), {"similarities": ["mask_iou", "box_iou"], "repeats": 2}
    assert_same(k.calibrate(table, **chosen), k.calibrate(shards_of(table, tmp_path / "s", size), **chosen))


def test_one_image_of_unknown_size(tmp_path):
    table = in_order(scene())
    size = table.image_size.copy()
    size[table.image[-1]] = np.nan
    unknown = replace(table, image_size=size)
    with pytest.warns(KalosWarning, match="the sizes of 1 of 23 images are unknown") as warned:
        found = [k.calibrate(unknown), k.calibrate(write_shards(unknown, tmp_path / "u", 6))]
    assert (len(warned), found[0].best.coordinates) == (2, "pixels")
    assert_same(*found)


def test_all_shards_are_one_table_again(tmp_path):
    table = in_order(numbered())
    assert_same(table, write_shards(table, tmp_path / "s", 4).table())


# ---- errors where annotations are needed ----


@pytest.mark.parametrize(
    "call",
    [
        *(compute_pairs, k.unit_truth, k.instance_consensus, unit_boundaries, k.NoiseModel.fit),
        lambda source: k.unit_truth(k.agreement(source)),
        lambda source: k.variations(source).rows_a,
        lambda source: k.variations(source).merged,
        lambda source: k.agreement(source, pairs=compute_pairs(scene())),
        lambda source: map_of_predictions(source, scene(), []),
    ],
)
def test_functions_that_need_annotations_refuse_shards(tmp_path, call):
    with pytest.raises(InputError, match=r"[Ss]hards"):
        call(write_shards(scene(), tmp_path / "s", 9))


def test_one_image_cannot_be_calibrated(tmp_path):
    with pytest.raises(InputError, match="expected at least two images with raters assigned"):
        k.calibrate(write_shards(scene().select(images=[1]), tmp_path / "s"))


# ---- by hand ----


def test_ids_of_several_types_decide_ties_as_in_one_table(tmp_path):
    # 9 is before "10" as a number, and after it as text; ids are compared as text if any is text
    rows = [
        {"image": image, "rater": rater, "category": "cat", "box": [0, 0, 10, 10], "id": key}
        for image, rater, key in [(1, "ann", 9), (1, "ann", 10), (1, "bob", 11), (2, "bob", "x")]
    ]
    table = Annotations.from_rows(rows, assigned="all")
    whole, sharded = k.agreement(table), k.agreement(write_shards(table, tmp_path / "s", 1))
    assert whole.units.values.tolist() == sharded.units.values.tolist()
    assert k.agreement(table.select(images=[0])).unit_of.tolist() == [0, 1, 0]
    assert whole.unit_of.tolist() == [0, 1, 1, 2]


def test_a_hand_worked_case_over_two_shards(tmp_path):
    # image 1: one agreed unit; image 2: one rater alone, D_o = D_e, alpha 0; image 3: both found it empty, alpha 1
    cat = {"category": "cat", "box": [0, 0, 9, 9]}
    rows = [{**cat, "image": 1, "rater": r} for r in ("ann", "bob")] + [{**cat, "image": 2, "rater": "ann"}]
    table = Annotations.from_rows(rows, images=[1, 2, 3], raters=["ann", "bob"], assigned="all")
    found = k.agreement(write_shards(table, tmp_path / "s", 2), bootstrap=0)
    assert found.image_alpha.tolist() == [1.0, 0.0, 1.0]
    assert found.alpha == pytest.approx(2 / 3, abs=1e-15)
    assert (found.empty_images, found.alpha_without_empty) == (1, 0.5)
    # all units: cat cat | cat nothing | nothing nothing: n = 6, sum o_cc = 4, n_c = 3, 3
    assert found.global_alpha == pytest.approx(1 - (2 / 6) / (18 / 30), abs=1e-15)
    assert np.isnan(found.alpha_interval).all()


def test_a_class_that_only_another_shard_has_counts_against(tmp_path):
    # ann has one cat, which bob found; he has another where ann has none, which comes first by the id of its image
    cat = {"category": "cat", "box": [0, 0, 10, 10]}
    rows = [{**cat, "image": image, "rater": rater} for image, rater in [(2, "ann"), (2, "bob"), (1, "bob")]]
    table = Annotations.from_rows(rows, assigned="all")
    found = k.modified_map(write_shards(table, tmp_path / "s", 1), thresholds=[0.5])
    assert found.directions[0, 0, 1] == pytest.approx(0.5, abs=1e-12)  # the false one of image 1 comes first
    assert found.directions[0, 1, 0] == pytest.approx(51 / 101, abs=1e-12)  # one of two found: half of the recall
    assert_same(k.modified_map(table, thresholds=[0.5]), found)


def test_a_hand_worked_class_over_two_shards(tmp_path):
    # a cat agreed on, and a cat that one rater calls a dog: cat cat | cat dog: n = 4, D_o = 2 / 4, D_e = (16 - 10) / 12
    boxes = [(1, "ann", "cat"), (1, "bob", "cat"), (2, "ann", "cat"), (2, "bob", "dog")]
    rows = [{"image": image, "rater": r, "category": c, "box": [0, 0, 9, 9]} for image, r, c in boxes]
    found = k.class_difficulty(k.agreement(write_shards(Annotations.from_rows(rows), tmp_path / "s", 1), bootstrap=0))
    assert found.category.tolist() == ["cat", "dog"]
    assert found.alpha.tolist() == [0.5, 0.0]
    assert found.global_alpha.tolist() == [0.0, 0.0]
    assert found.units.tolist() == [2, 1]


def test_hand_worked_variations_over_two_shards(tmp_path):
    # image 1: one object as a cat and as a dog; image 2: annotated by ann only; image 3: by bob only
    rows = [
        {"image": image, "rater": rater, "category": category, "box": [x, 0, 9, 9]}
        for image, rater, category, x in [
            *((1, "ann", "cat", 0), (1, "bob", "dog", 0), (2, "ann", "cat", 0)),
            *((3, "bob", "cat", 0), (3, "bob", "cat", 20)),
        ]
    ]
    table = Annotations.from_rows(rows, assigned="all")
    found = k.variations(write_shards(table, tmp_path / "s", 2))
    counts = {name: count for name, count in found.counts().items() if count}
    assert counts == {"wrong_class": 1, "missing": 1, "additional": 2}
    assert (found.counts_by_rater()["ann"]["additional"], found.counts_by_rater()["ann"]["missing"]) == (1, 2)
    assert found.rates()["bob"]["additional"] == pytest.approx(200 / 3, abs=1e-12)
    assert found.confusions().to_pandas().to_numpy().tolist() == [["cat", "dog", 1]]
    assert found.by_image()[:, VARIATION_TYPES.index("additional")].tolist() == [0, 0, 2]
    assert np.isnan(found.identical_share)
