"""Commands on synthetic raters: what they write, and their messages about input they cannot use."""

import json

import pandas as pd

from kalos_core import NoiseModel, read_coco
from kalos_core.cli import main


def labels(folder, images=4):
    """A COCO file of one rater."""
    objects = [(image, number) for image in range(images) for number in range(3)]
    content = {
        "images": [{"id": image, "file_name": f"{image}.jpg", "width": 200, "height": 100} for image in range(images)],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {
                "id": index + 1,
                "image_id": image,
                "category_id": 1 + number % 2,
                "rater_id": "ann",
                "bbox": [10 + 60 * number, 20, 30, 30],
            }
            for index, (image, number) in enumerate(objects)
        ],
    }
    path = folder / "labels.json"
    path.write_text(json.dumps(content))
    return path


def test_experiments_are_written_as_tables_and_one_page(tmp_path, capsys):
    out = tmp_path / "made" / "here"
    assert main(["experiments", str(labels(tmp_path)), "--out", str(out), "--repeats", "1"]) == 0
    assert pd.read_csv(out / "loss.csv")["magnitude"].tolist() == [0.25, 0.5, 1, 2, 5]
    page = (out / "experiments.html").read_text(encoding="utf-8")
    assert page.count('class="plot"') >= 7
    assert "<td>Table 3</td>" in page
    assert "Table 3" in capsys.readouterr().out


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main(["experiments", str(tmp_path / "none.json")]) == 2
    assert "none.json" in capsys.readouterr().err


def test_a_model_that_is_no_model_is_named(tmp_path, capsys):
    model = tmp_path / "model.json"
    model.write_text("{}")
    assert main(["experiments", str(labels(tmp_path)), "--model", str(model)]) == 2
    assert "model.json: expected the format" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    path = labels(tmp_path, 1)
    assert main(["experiments", str(path), "--repeats", "1", "--out", str(tmp_path / "file" / "out")]) == 2
    assert "expected a folder to write to" in capsys.readouterr().err


def test_synthetic_raters_are_written_as_coco(tmp_path, capsys):
    path, made, model = labels(tmp_path), tmp_path / "made.json", tmp_path / "model.json"
    arguments = ["noise", str(path), "--model", "default", "--raters", "2", "--magnitude", "0", "--save", str(model)]
    assert main([*arguments, "--generate", str(made), "--json", "-"]) == 0
    document = json.loads(capsys.readouterr().out)
    found, expected = read_coco(made), NoiseModel.default().generate(read_coco(path), raters=2, magnitude=0).annotations
    assert found.to_pandas().equals(expected.to_pandas())
    assert NoiseModel.from_json(model).to_json() == NoiseModel.default().to_json()
    assert [row["annotations"] for row in document["tables"]["events"]] == [12, 12]
