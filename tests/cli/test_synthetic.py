"""Output of commands on synthetic raters."""

from kalos_core import NoiseModel, read_coco


def test_synthetic_raters_are_written_as_coco(labels, tmp_path, found_by, refusal):
    made, model = tmp_path / "made.json", tmp_path / "model.json"
    arguments = ["noise", labels, "--model", "default", "--synthetic-raters", "2", "--magnitude", "0", "--save", model]
    document = found_by(*arguments, "--reference", "ann", "--generate", made)
    expected = NoiseModel.default().generate(read_coco(labels), raters=2, magnitude=0, reference="ann").annotations
    assert read_coco(made).to_pandas().equals(expected.to_pandas())
    assert NoiseModel.from_json(model).to_json() == NoiseModel.default().to_json()
    assert [row["annotations"] for row in document["tables"]["events"]] == [16, 16]
    model.write_text("{}")
    assert "model.json: expected format" in refusal("experiments", labels, "--model", model)
