"""Generation: stages on cases worked out by hand, and errors for invalid input."""

import numpy as np
import pytest
from scipy import stats

from kalos_core import Annotations, InputError, KalosWarning
from kalos_core.noise import NoiseModel
from kalos_core.noise.parameters import AxialAngle, Chance, EventRate
from kalos_core.noise.scene import Scene
from kalos_core.noise.sources import ConfusionClasses, EmbeddingClasses, Transitions
from kalos_core.noise.stages.topology import fragment_score, likeliest_partners
from tests.noise.models import ALWAYS, SHARP, FixedPlaces, always, by_raters, halves, quiet, table, towards, unmatched

CAT = (1, "cat", [80, 40, 20, 20])
ONE = table(CAT)  # its centre is 90, 50 on an image of 200 x 100
CAT_AND_DOG = table(CAT, (2, "dog", [0, 0, 9, 9]))
NINE = table(*[(image, "cat", [10 * image, 20, 20, 30]) for image in range(9)])
PLACE = FixedPlaces([10, 10, 30, 30])
MERGING = quiet(topology={"susceptibility": ALWAYS, "split": Chance(0.0)})


def xywh(annotations):
    return annotations.shapes["box"].xywh().round(2).tolist()


def done(made, event):
    chosen = (made.events.event == event) & (made.events.outcome == "done")
    return np.flatnonzero(chosen)


def test_an_annotation_moves_and_grows_by_the_sampled_value_times_the_magnitude():
    model = quiet(localization={"translation": always(0.1), "angle": towards(0), "width": always(np.log(2))})
    once, twice = (model.generate(ONE, raters=8, magnitude=level) for level in (1, 2))
    # a tenth of the width to the right; the width doubles or halves
    assert {tuple(box) for box in xywh(once.annotations)} == {(90.0, 40.0, 40.0, 20.0), (105.0, 40.0, 10.0, 20.0)}
    assert {tuple(box) for box in xywh(twice.annotations)} == {(90.0, 40.0, 80.0, 20.0), (127.5, 40.0, 5.0, 20.0)}
    assert once.events.shift.round(4).tolist() == [[0.1, 0.0]] * 8
    assert set(once.events.scale[:, 0].round(9)) == {0.5, 2.0}
    assert once.events.stage.tolist() == ["localization"] * 8


def test_moves_are_shares_of_their_side_and_stop_at_the_edge():
    down = quiet(localization={"translation": always(0.1), "angle": towards(1)})
    assert xywh(down.generate(ONE, raters=1).annotations) == [[80.0, 50.0, 20.0, 20.0]]
    far = quiet(localization={"translation": always(0.9), "angle": towards(0)}).generate(ONE, raters=1)
    assert xywh(far.annotations) == [[190.0, 40.0, 20.0, 20.0]]
    assert far.events.shift.round(4).tolist() == [[0.55, 0.0]]  # the event has the actual shift
    wide = quiet(localization={"width": always(20.0), "height": always(0)}).generate(ONE, raters=8)
    assert {tuple(box[2:]) for box in xywh(wide.annotations)} == {(1.0, 20.0), (200.0, 20.0)}  # a pixel; the image


def test_another_class_comes_with_its_own_shift_and_is_not_moved_again():
    reference = table(CAT, (2, "dog", [80, 40, 20, 20]))
    own = {"occurrence": Chance(1.0), "translation": always(0.2), "angle": AxialAngle(0.0, SHARP)}
    model = quiet(category=own, localization={"height": always(1.0)})
    made = model.generate(reference, raters=6)
    assert made.annotations.categories[made.annotations.category].tolist() == ["dog", "cat"] * 6
    assert {tuple(box) for box in xywh(made.annotations)} == {(40.0, 40.0, 20.0, 20.0), (120.0, 40.0, 20.0, 20.0)}
    assert made.events.counts()["wrong_class"] == {"done": 12, "lost": 0, "impossible": 0}
    assert made.events.counts()["shift"] == {"done": 0, "lost": 12, "impossible": 0}
    alone = model.generate(ONE, raters=1).events.counts()  # without another class it cannot be confused
    assert (alone["wrong_class"]["impossible"], alone["shift"]["done"]) == (1, 1)


def test_a_annotation_is_missed_once_and_every_further_event_is_lost():
    missing = unmatched(3.0, 1.0)
    made = missing.generate(ONE, raters=["r"])
    assert len(made.annotations) == 0
    assert made.annotations.assigned.tolist() == [[True]]
    counts = made.events.counts()["deletion"]
    assert counts["done"] == 1
    assert counts["lost"] > 5
    assert made.signal_loss().ratio == counts["lost"] / (counts["lost"] + 1)
    made = missing.generate(table(CAT, images=[0, 1]), raters=1)
    of_empty = made.events.image == 0
    assert set(made.events.outcome[of_empty]) == {"impossible"}
    assert set(made.events.reference_rows[of_empty].ravel()) == {-1}


def test_additions_are_the_free_proposals_each_once():
    places = FixedPlaces([10, 10, 30, 30], [82, 42, 20, 20], [98.5, 40, 20, 20], [150, 60, 10, 10])
    made = unmatched(4.0, 0.0).generate(CAT_AND_DOG, raters=2, false_positive_source=places)
    # the second overlaps the cat by 0.68; the third by 1.5 x 20 of 770: less than a tenth
    added = made.truth[:, 0] == -1
    boxes = [[10.0, 10.0, 30.0, 30.0], [98.5, 40.0, 20.0, 20.0], [150.0, 60.0, 10.0, 10.0]]
    assert np.array(xywh(made.annotations))[added].tolist() == boxes * 2
    # one position is one object for both raters, and not one of the reference
    assert made.object[added].ravel().tolist() == [2, 4, 5, 2, 4, 5]
    # seen on an image of cats, so not a cat
    assert set(made.annotations.categories[made.annotations.category[added]]) == {"dog"}
    counts = made.events.counts()["addition"]
    assert counts["done"] == 6
    assert counts["impossible"] > 20


def test_a_split_annotation_is_cut_across_its_longer_side_with_the_outline_on_each():
    pixels = np.zeros((100, 200), bool)
    pixels[40:60, 60:100] = True
    row = {"image": 1, "rater": "ann", "category": "cat"}
    shapes = {"box": [60, 40, 40, 20], "polygon": [[60, 40, 100, 40, 100, 60, 60, 60]], "mask": pixels}
    made = quiet(topology=halves()).generate(Annotations.from_rows([row | shapes], image_size={1: (200, 100)}), 1)
    # 80, 50 less and plus a tenth of 200: centres at 60 and 100, half as wide
    assert xywh(made.annotations) == [[50.0, 40.0, 20.0, 20.0], [90.0, 40.0, 20.0, 20.0]]
    for kind in ("polygon", "mask"):
        assert made.annotations.shapes[kind].bounds().round(2).tolist() == [[50, 40, 70, 60], [90, 40, 110, 60]]
        assert made.annotations.shapes[kind].area().round(2).tolist() == [400.0, 400.0]
    assert made.truth.tolist() == [[0], [0]]
    assert made.events.rows[done(made, "split")].tolist() == [[0, 1]]
    arrow = row | {"polygon": [[60, 50, 100, 40, 100, 60]]}  # thin on the left, wide on the right
    made = quiet(topology=halves()).generate(Annotations.from_rows([arrow], image_size={1: (200, 100)}), 1)
    # half of its box; three quarters
    assert made.annotations.shapes["polygon"].area().round(2).tolist() == [200.0, 300.0]


def test_two_annotations_are_merged_into_the_box_around_both():
    reference = table((1, "cat", [20, 20, 20, 20]), (1, "cat", [50, 30, 20, 20]), (1, "dog", [45, 20, 5, 20]))
    made = MERGING.generate(reference, raters=1)
    assert xywh(made.annotations) == [[20.0, 20.0, 50.0, 30.0], [45.0, 20.0, 5.0, 20.0]]
    assert made.truth.tolist() == [[0, 1], [2, -1]]
    # each cat was drawn and found the other: the second was too late; the dog has no partner
    assert made.events.counts()["merge"] == {"done": 1, "lost": 1, "impossible": 1}
    merge = done(made, "merge")
    assert made.events.reference_rows[merge].tolist() == [[0, 1]]
    assert made.events.rows[merge].tolist() == [[0, -1]]


def scene_of(reference):
    return Scene(
        image=reference.image,
        category=reference.category,
        corners=reference.shapes["box"].bounds(),
        image_size=reference.image_size,
        assigned=reference.assigned_any_class[:, 0],
        transitions=Transitions.of(ConfusionClasses(), reference),
        proposals=FixedPlaces().propose(reference, np.random.default_rng(0)),
        free=np.zeros(0, int),
        seen=np.ones(len(reference.images), bool),
    )


def folded(distribution, size, area):
    """Return ln density of |trend + T|, written out."""
    trend, residual = distribution.intercept + distribution.slope * area, distribution
    ways = (way * size - trend for way in (1, -1))
    return np.log(sum(stats.t.pdf(way, residual.nu, residual.mu, residual.sigma) for way in ways))


def score_of(distributions, a, b):
    """Return the score of two boxes (x, y, w, h) relative to the image, annotation by annotation."""
    low = np.minimum(a[:2], b[:2])
    size = np.maximum(a[:2] + a[2:], b[:2] + b[2:]) - low
    area, centre = size[0] * size[1], low + size / 2
    steps = [box[:2] + box[2:] / 2 - centre for box in (a, b)]
    apart = abs(np.angle(complex(*steps[0]) / complex(*steps[1]))) / np.pi
    total = 0.0
    for (first, one), (second, other) in (((a, steps[0]), (b, steps[1])), ((b, steps[1]), (a, steps[0]))):
        kappa = distributions.enlargement.kappa
        total += np.exp(
            folded(distributions.first_translation, np.hypot(*one), area)
            + folded(distributions.first_width, max(kappa + np.log(size[0] / first[2]), 0), area)
            + folded(distributions.first_height, max(kappa + np.log(size[1] / first[3]), 0), area)
            + folded(distributions.second_distance, np.hypot(*other), area)
            + folded(distributions.second_width, np.log(size[0] / second[2]), area)
            + folded(distributions.second_height, np.log(size[1] / second[3]), area)
        )
    beta = stats.beta(distributions.opposition.alpha, distributions.opposition.beta)
    return np.log(total) + beta.logpdf(np.clip(apart, 0.001, 0.999))


def test_the_score_of_two_fragments_is_the_product_of_the_fitted_densities():
    rng = np.random.default_rng(3)
    boxes = [[*rng.uniform(0, 60, 2), *rng.uniform(5, 30, 2)] for _ in range(6)]
    reference = table(*[(1, "cat" if row % 3 else "dog", box) for row, box in enumerate(boxes)])
    distributions, scene = NoiseModel.default().topology, scene_of(reference)
    relative = np.array(boxes) / (200, 100, 200, 100)
    rows = np.array([(a, b) for a in range(6) for b in range(6) if a != b])
    expected = np.array([score_of(distributions, relative[a], relative[b]) for a, b in rows])
    assert fragment_score(scene, distributions, *rows.T) == pytest.approx(expected, abs=1e-8)
    best = likeliest_partners(scene, distributions, np.arange(6))
    score = {(a, b): value for (a, b), value in zip(rows.tolist(), expected, strict=True)}
    for row in range(6):
        same = [other for other in range(6) if other != row and (other % 3 == 0) == (row % 3 == 0)]
        assert best[row] == max(same, key=lambda other: score[row, other])


def test_a_rater_does_not_depend_on_how_many_follow():
    model = NoiseModel.default()
    few, other = (model.generate(NINE, raters=["a", "b"], magnitude=[1, 3], seed=seed) for seed in (5, 6))
    many = model.generate(NINE, raters=["a", "b", "c"], magnitude=[1, 3, 2], seed=5)
    first_two = np.isin(many.annotations.rater, (0, 1))
    assert xywh(few.annotations) == xywh(many.annotations.select(rows=first_two))
    assert few.events.to_pandas().equals(many.events.to_pandas().query("rater != 'c'"))
    assert xywh(few.annotations) != xywh(other.annotations)


def test_each_school_has_a_reference_of_its_own_and_the_truth_leads_to_the_first():
    model = quiet(localization={"translation": always(0.1), "angle": towards(0)})
    made = model.generate(NINE, raters=5, magnitude=0, schools=[3, 2], false_positive_source=PLACE)
    assert list(made.reference.raters) == ["school 1", "school 2"]
    assert made.reference_rater.tolist() == [0, 0, 0, 1, 1]
    assert made.original is made.schools.reference
    assert made.truth.tolist() == [[row] for _ in range(5) for row in range(9)]
    school = np.array(xywh(made.reference))
    assert (school[:, 0] == np.tile(np.array(xywh(NINE))[:, 0] + 20, 2)).all()
    assert xywh(made.annotations) == np.concatenate([school[:9]] * 3 + [school[9:]] * 2).tolist()


def test_additions_of_a_school_are_one_object_and_its_misses_teach_nothing():
    adding = unmatched(4.0, 0.0)
    made = adding.generate(CAT_AND_DOG, 2, 0, schools=[2], reference="ann", false_positive_source=PLACE)
    assert made.schools is None  # one school does not count as schools
    made = adding.generate(CAT_AND_DOG, 4, 0, schools=[2, 2], false_positive_source=PLACE)
    assert made.object.ravel().tolist() == [0, 1, 2] * 4
    assert made.truth.ravel().tolist() == [0, 1, -1] * 4
    made = unmatched(4.0, 1.0).generate(ONE, raters=3, schools=[2, 1], false_positive_source=PLACE)
    assert (len(made.reference), len(made.annotations), len(made.truth)) == (0, 0, 0)
    assert made.annotations.assigned.all()
    assert set(made.events.outcome) == {"impossible"}


@pytest.mark.filterwarnings("ignore:rows. it is not said who was assigned to 2 of")
def test_all_raters_have_the_assignments_of_the_reference():
    reference = table(
        *((image, name, [20, 20, 20, 20]) for image, name in ((1, "cat"), (2, "dog"))),
        images=[1, 2, 3],
        raters=["ann", "bob"],
        categories=["cat", "dog", "emu"],
        assigned={3: ["bob"]},
        assigned_categories={"ann": ["cat", "dog"]},
        exclusions=[(2, "ann", "cat")],
    )
    model = quiet(category={"occurrence": Chance(1.0)}, unmatched={"rate": EventRate(3.0, 0.0)})
    made = model.generate(reference, raters=2, reference="ann").annotations
    assert made.assigned.tolist() == [[True, True], [True, True], [False, False]]
    assert made.assigned_categories.tolist() == [[True, True, False]] * 2
    assert made.excluded.tolist() == [[1, 0, 0], [1, 1, 0]]
    assert not (made.image == 2).any()


def test_shapes_that_noise_is_not_defined_for_are_left_out_with_a_warning():
    row = {"image": 1, "rater": "ann", "category": "cat", "box": [8, 4, 20, 20], "keypoints": [[9, 9], [10, 10]]}
    with pytest.warns(KalosWarning, match="left out: keypoints"):
        made = quiet().generate(Annotations.from_rows([row], image_size={1: (200, 100)}), raters=1)
    assert list(made.annotations.shapes) == ["box"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"magnitude": -1}, "magnitude: expected finite numbers of 0 or more, got -1"),
        ({"magnitude": [1, 2]}, "magnitude: expected one number, or one for each of 3 raters, got 2"),
        ({"raters": ["a", "a", "b"]}, "raters: expected names, each once"),
        ({"schools": [2, 2]}, "schools: expected sizes that add up to 3 raters, got 2, 2"),
        ({"schools": [2, 1], "school_magnitude": [1, 1, 1]}, "school_magnitude: expected one number, or one for each"),
        ({"reference": "bob"}, "raters: expected names among ann, got bob"),
        ({"reference": ["ann", "ann"]}, "reference: expected one rater, or one for each of 1 schools"),
        ({"class_source": EmbeddingClasses([[1.0]], ["dog"])}, "embeddings: expected every class of the reference"),
        ({"class_source": "clip"}, "class_source: expected an object with `name` and `similarity`, got 'clip'"),
        ({"false_positive_source": FixedPlaces([0, 0, 0, 9])}, "proposals: expected finite corners of boxes"),
    ],
)
def test_arguments_that_cannot_be_used(wrong, message):
    with pytest.raises(InputError, match=message.replace("[", "\\[")):
        quiet().generate(ONE, **{"raters": 3} | wrong)


SOLID = {"image": 1, "rater": "ann", "category": "cat", "cuboid": {"location": [0, 0, 0], "dimensions": [1, 1, 1]}}


@pytest.mark.parametrize(
    ("annotations", "given", "message"),
    [
        (Annotations.from_rows([], images=[1], raters=["ann"]), {}, "expected annotations to generate raters from"),
        (Annotations.from_rows([SOLID]), {}, "annotation 1: expected a box, got none"),
        (Annotations.from_rows([SOLID | {"box": [0, 0, 9, 9]}]), {}, "image 1: expected a width and a height, got"),
        (by_raters((1, "ann", *CAT[1:]), (1, "bob", *CAT[1:])), {}, "generate from, one of ann, bob, got none"),
        (table(CAT, raters=["ann", "bob"]), {"reference": "bob"}, "a rater with annotations, got 'bob', who has none"),
    ],
)
def test_a_reference_that_cannot_be_used(annotations, given, message):
    with pytest.raises(InputError, match=message):
        quiet().generate(annotations, **given)


def test_more_events_than_annotations_allow_are_refused(monkeypatch):
    far = quiet(unmatched={"rate": EventRate(0.0, 20.0)})  # far outside of the images it was fitted on
    with pytest.raises(InputError, match=r"at most 1e\+06 events on all images, got 4.85e\+08 at"):
        far.generate(ONE)
    monkeypatch.setattr("kalos_core.noise.stages.unmatched.MOST_EVENTS", 1)
    assert len(quiet(unmatched={"rate": EventRate(np.log(50), 0.0)}).generate(ONE).events) > 50
    with pytest.raises(InputError, match="at most 100 events on all images, got 200 at magnitude 1"):
        quiet(unmatched={"rate": EventRate(np.log(200), 0.0)}).generate(ONE)
