"""Sources: similarity of classes, and positions where something could be mistaken for an object."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from kalos_core import Annotations, InputError, variations
from kalos_core.noise.sources import ConfusionClasses, EmbeddingClasses, TaxonomyClasses, Transitions
from kalos_core.noise.sources.false_positives import (
    DetectedFalsePositives,
    ImageFalsePositives,
    TransplantedFalsePositives,
)
from tests.noise.models import table, unmatched

RNG = np.random.default_rng


def of_classes(*names, **given):
    return table(*[(1, name, [9 * index, 0, 9, 9]) for index, name in enumerate(names)], **given)


def softmax(similarity, temperature=0.1):
    """Apply softmax to a dict, written out."""
    weight = {name: np.exp(value / temperature) for name, value in similarity.items()}
    return {name: value / sum(weight.values()) for name, value in weight.items()}


def test_cosines_of_mean_embeddings_become_chances():
    vectors = {"cat": [[1.0, 0.0], [3.0, 1.0]], "dog": [[1.0, 1.0]], "bus": [[0.0, 1.0], [0.0, 5.0]]}
    names = [name for name, found in vectors.items() for _ in found]
    source = EmbeddingClasses([vector for found in vectors.values() for vector in found], names, model="CLIP")
    mean = {name: np.mean(found, axis=0) for name, found in vectors.items()}
    unit = {name: vector / np.linalg.norm(vector) for name, vector in mean.items()}
    expected = softmax({name: unit["cat"] @ unit[name] for name in ("dog", "bus")})
    assert Transitions.of(source, of_classes("bus", "cat", "dog")).probability("cat") == pytest.approx(expected)
    assert source.name == "CLIP of 3 classes"


def test_only_the_ten_nearest_other_classes_are_taken():
    names = [f"class {number:02}" for number in range(14)]
    angle = np.arange(14) / 10
    source = EmbeddingClasses(np.stack([np.cos(angle), np.sin(angle)], axis=1), names)
    found = Transitions.of(source, of_classes(*names)).probability("class 00")
    assert list(found) == names[1:11]
    cosines = {name: np.cos(turn) for name, turn in zip(names[1:11], angle[1:11], strict=True)}
    assert found == pytest.approx(softmax(cosines))


def test_classes_are_drawn_with_their_chances():
    reference = of_classes("cat", "dog", "bus")
    transitions = Transitions.of(TaxonomyClasses.from_tree({"animal": ["cat", "dog"], "bus": None}), reference)
    expected = transitions.probability("cat")
    share = np.bincount(transitions.draw(np.zeros(20_000, int), RNG(0)), minlength=3) / 20_000
    assert share[0] == 0
    assert share[1:] == pytest.approx([expected["dog"], expected["bus"]], abs=5 * 0.5 / np.sqrt(20_000))


def test_confusions_seen_outweigh_frequencies():
    reference = of_classes("cat", "dog", "dog", "dog", "emu")
    source = ConfusionClasses(["emu", "cat", "yak"], [[0, 2, 9], [2, 0, 9], [9, 9, 0]])
    # from cat: emu 2 + 1/5, dog 3/5; yak, which the reference does not have, cannot be drawn
    found = Transitions.of(source, reference).probability("cat")
    assert found == pytest.approx({"emu": 2.2 / 2.8, "dog": 0.6 / 2.8})
    assert Transitions.of(source, reference).probability("dog") == pytest.approx({"cat": 0.5, "emu": 0.5})


def test_confusions_are_counted_among_raters(lvis):
    found = variations(lvis, "box_iou", max_merge=2).confusions()
    source = ConfusionClasses.of(lvis)
    names = list(source.categories)
    for a, b, count in zip(found.category_a, found.category_b, found.count, strict=True):
        assert source.counts[names.index(a), names.index(b)] == count
        assert source.counts[names.index(b), names.index(a)] == count
    assert source.counts.sum() == 2 * found.count.sum()
    assert ConfusionClasses.of(of_classes("cat")).name == "class frequency"


def test_similarity_in_a_tree_is_that_of_wu_and_palmer():
    tree = {"animal": {"pet": ["cat", "dog"], "wild": ["fox"]}, "vehicle": "bus"}
    # depths with the root: cat 4, dog 4, fox 4, bus 3; shared with cat: pet 3, animal 2, root 1
    reference = of_classes("cat", "dog", "fox", "bus")
    found = TaxonomyClasses.from_tree(tree).similarity(reference, np.array([0]))
    assert found[0].tolist() == pytest.approx([1, 6 / 8, 4 / 8, 2 / 7])
    parents = {"cat": "pet", "dog": "pet", "pet": "animal", "fox": "wild", "wild": "animal", "bus": "vehicle"}
    assert TaxonomyClasses(parents).similarity(reference, np.array([0])).tolist() == found.tolist()


OWN = SimpleNamespace(name="my model", similarity=lambda *_: np.array([0.0]))
TWO = of_classes("cat", categories=["cat", "dog"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: EmbeddingClasses([[np.inf, 0], [1, 0]], ["a", "b"]), "got NaN or infinity for 'a'"),
        (lambda: EmbeddingClasses([[1, 0], [-1, 0]], ["a", "a"]), "got a mean of length 0 for 'a'"),
        (lambda: ConfusionClasses(["a", "b"], [[0, -1], [-1, 0]]), "counts: expected finite numbers of 0 or more"),
        (lambda: ConfusionClasses(["a", "a"], [[0, 1], [1, 0]]), "categories: expected each name once, got 'a', 'a'"),
        (lambda: TaxonomyClasses({"a": "b", "b": "a"}), "taxonomy: expected a tree, got '[ab]' above itself"),
        (lambda: TaxonomyClasses.from_tree({"a": ["c"], "b": ["c"]}), "expected each name once, got 'c' again"),
        (lambda: Transitions.of(OWN, of_classes("cat")), "my model: expected 1 x 1 similarities, got shape"),
        (lambda: ImageFalsePositives({}).propose(TWO, RNG(0)), "image 1: expected an image file, got nothing"),
        (lambda: TransplantedFalsePositives(0), "per_image: expected a whole number of at least 1"),
    ],
)
def test_sources_that_cannot_be_used(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_transplants_are_annotations_of_other_images_at_their_place():
    boxes = table((1, "cat", [20, 10, 40, 20]), (2, "dog", [100, 50, 20, 10]), (2, "dog", [0, 0, 10, 10]))
    reference = replace(boxes, image_size=np.array([[200.0, 100.0], [400.0, 200.0]]))
    found = TransplantedFalsePositives(per_image=50).propose(reference, RNG(0))
    assert np.bincount(found.image).tolist() == [50, 50]
    assert (reference.image[found.donor] != found.image).all()
    for image, donor, corners in zip(found.image, found.donor, found.corners, strict=True):
        from_size, to_size = reference.image_size[reference.image[donor]], reference.image_size[image]
        expected = reference.shapes["box"].corners[donor].reshape(2, 2) / from_size * to_size
        assert corners.reshape(2, 2) == pytest.approx(expected)
    drawn = np.bincount(found.donor[found.image == 0], minlength=3)
    assert drawn[0] == 0
    assert drawn[1:].min() > 10
    assert len(TransplantedFalsePositives().propose(of_classes("cat"), RNG(0))) == 0


def test_free_proposals_overlap_no_annotation_and_are_centred_on_the_image(lvis):
    reference = lvis.select(raters=["r1"], images=np.arange(30))
    proposals = TransplantedFalsePositives(per_image=10).propose(reference, RNG(1))
    free = proposals.free_of(reference)
    for row, (image, corners) in enumerate(zip(proposals.image, proposals.corners, strict=True)):
        best = 0.0
        for other in reference.shapes["box"].corners[reference.image == image]:
            sides = np.minimum(corners[2:], other[2:]) - np.maximum(corners[:2], other[:2])
            shared = np.prod(np.maximum(sides, 0))
            areas = [np.prod(box[2:] - box[:2]) for box in (corners, other)]
            best = max(best, shared / (sum(areas) - shared))
        assert free[row] == (best < 0.1)
    outside = replace(proposals, corners=proposals.corners - 5000)
    assert not outside.free_of(reference).any()


def test_detections_are_found_by_their_image_and_keep_their_outline():
    def source(*annotations):
        rows = [{"image": image, "rater": "net", "category": "thing"} | shape for image, shape in annotations]
        return DetectedFalsePositives(Annotations.from_rows(rows))

    elsewhere = (99, {"box": [1, 1, 5, 5]})
    triangle, square = (7, {"polygon": [[10, 10, 30, 10, 10, 30]]}), (7, {"box": [150, 60, 10, 10]})
    found = source(elsewhere, triangle, square)
    reference = table((7, "cat", [80, 40, 20, 20]), (8, "dog", [80, 40, 20, 20]))
    assert found.propose(reference, RNG(0)).image.tolist() == [0, 0]
    outlined = {"image": 7, "rater": "ann", "category": "cat", "polygon": [[80, 40, 100, 40, 100, 60, 80, 60]]}
    with_outline = Annotations.from_rows([outlined], image_size={7: (200, 100)})
    made = unmatched(4.0, 0.0).generate(with_outline, raters=1, false_positive_source=found)
    assert made.annotations.shapes["polygon"].area().round(6).tolist() == [400.0, 200.0, 100.0]
    assert made.false_positive_source == "detections (3 on 2 images)"
    with pytest.raises(InputError, match="detections: expected images of the reference, got 99"):
        source(elsewhere).propose(reference, RNG(0))


def test_regions_of_an_image_are_its_even_patches(tmp_path):
    pixels = np.zeros((100, 200, 3), np.uint8)
    pixels[20:50, 30:80] = (255, 0, 0)
    pixels[60:90, 120:180] = (0, 0, 255)
    Image.fromarray(pixels).save(tmp_path / "a.png")
    reference = replace(table((1, "cat", [0, 0, 9, 9]), size=(400.0, 200.0)), files=np.array(["a.png"], object))
    for source in (ImageFalsePositives(tmp_path), ImageFalsePositives({1: tmp_path / "a.png"})):
        found = sorted(source.propose(reference, RNG(0)).corners.tolist())
        # the image was labelled at twice its size; the background is too large to be a region
        assert found == [pytest.approx(at, abs=4) for at in ([60, 40, 160, 100], [240, 120, 360, 180])]
    (tmp_path / "a.png").write_text("no image")
    with pytest.raises(InputError, match=r"a.png: expected a readable image, got cannot identify"):
        ImageFalsePositives(tmp_path).propose(reference, RNG(0))
