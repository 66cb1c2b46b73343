"""Commands on synthetic raters: what they write."""

import pytest

from kalos_core import Annotations, NoiseModel, read_coco, write_coco


@pytest.fixture
def of_ann(tmp_path):
    """A COCO file of one rater."""
    rows = [
        {"image": image, "rater": "ann", "category": name, "box": [10 + 60 * place, 20, 30, 30]}
        for image in range(4)
        for place, name in enumerate(("cat", "dog", "cat"))
    ]
    table = Annotations.from_rows(rows, image_size=dict.fromkeys(range(4), (200, 100)))
    return write_coco(table, tmp_path / "labels.json")


def test_synthetic_raters_are_written_as_coco(of_ann, tmp_path, found_by, refusal):
    made, model = tmp_path / "made.json", tmp_path / "model.json"
    arguments = ["noise", of_ann, "--model", "default", "--raters", "2", "--magnitude", "0", "--save", model]
    document = found_by(*arguments, "--generate", made)
    expected = NoiseModel.default().generate(read_coco(of_ann), raters=2, magnitude=0).annotations
    assert read_coco(made).to_pandas().equals(expected.to_pandas())
    assert NoiseModel.from_json(model).to_json() == NoiseModel.default().to_json()
    assert [row["annotations"] for row in document["tables"]["events"]] == [12, 12]
    model.write_text("{}")
    assert "model.json: expected the format" in refusal("experiments", of_ann, "--model", model)
