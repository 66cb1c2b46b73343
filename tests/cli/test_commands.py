"""Exit codes, JSON, folders and messages of every command; the numbers are those of the library."""

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from kalos_core import KalosWarning, agreement, calibrate, compare, nominal_alpha, read_coco
from kalos_core.cli import COMMANDS, main


def found_by(arguments, capsys):
    """The JSON document that a command writes to standard output."""
    assert main([*map(str, arguments), "--json", "-"]) == 0
    text = capsys.readouterr().out

    def refuse(name):
        raise AssertionError(f"{name} is no JSON")

    return json.loads(text, parse_constant=refuse)


def test_agreement_is_that_of_the_library(labels, capsys):
    document = found_by(["agreement", labels, "--threshold", 0.7, "--bootstrap", 50, "--seed", 1], capsys)
    expected = agreement(read_coco(labels), threshold=0.7, bootstrap=50, seed=1)
    assert document["results"]["alpha"] == expected.alpha
    assert document["results"]["alpha_interval"] == expected.alpha_interval.tolist()
    assert [row["alpha"] for row in document["tables"]["images"]] == expected.image_alpha.tolist()
    assert [row["unit"] for row in document["tables"]["annotations"]] == expected.unit_of.tolist()
    assert document["options"] == {"threshold": 0.7, "bootstrap": 50, "seed": 1}
    assert (document["command"], document["inputs"]) == ("agreement", {"labels": str(labels)})


def test_a_case_worked_by_hand(tmp_path, capsys):
    """Two raters, one image: a cat of both and a dog of bob. Units (cat, cat) and (nothing, dog) have coincidences
    2 of (cat, cat) and 1 each of (nothing, dog) and (dog, nothing): of 4 values 2 disagree, where chance gives
    (4 * 4 - 2 * 2 - 1 - 1) / (4 * 3) = 10 / 12, so that alpha is 1 - (2 / 4) / (10 / 12) = 0.4."""
    boxes = [("ann", 1, [0, 0, 9, 9]), ("bob", 1, [0, 0, 9, 9]), ("bob", 2, [40, 0, 9, 9])]
    content = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 99, "height": 99, "rater_list": ["ann", "bob"]}],
        "categories": [{"id": 1, "name": "cat"}, {"id": 2, "name": "dog"}],
        "annotations": [
            {"id": number, "image_id": 1, "category_id": category, "rater_id": rater, "bbox": box}
            for number, (rater, category, box) in enumerate(boxes, 1)
        ],
    }
    path = tmp_path / "two.json"
    path.write_text(json.dumps(content))
    document = found_by(["agreement", path, "--bootstrap", 0], capsys)
    assert document["results"]["alpha"] == pytest.approx(0.4)
    assert document["results"]["alpha_interval"] == [None, None]  # undefined, which JSON has as null
    assert document["results"]["notes"][0].startswith("no raters: vitality: expected at least three raters")


def test_a_folder_holds_json_and_a_table_each(labels, tmp_path):
    out = tmp_path / "made" / "here"
    assert main(["variations", str(labels), "--out", str(out)]) == 0
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {path.stem for path in out.glob("*.csv")} == set(document["tables"])
    types = pd.read_csv(out / "types.csv").set_index("type")["count"]
    assert types.to_dict() == document["results"]["counts"]
    assert [path.name for path in out.parent.iterdir()] == ["here"]  # no draft is left


def test_a_folder_that_is_there_keeps_other_files(labels, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("kept")
    (tmp_path / "out" / "types.csv").write_text("old")
    assert main(["variations", str(labels), "--out", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "mine.txt").read_text() == "kept"
    assert (tmp_path / "out" / "types.csv").read_text() != "old"


def test_nothing_partial_stays(labels, tmp_path, monkeypatch, capsys):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    assert main(["variations", str(labels), "--out", str(tmp_path / "out")]) == 2
    assert "expected a folder to write to, got No space left on device" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["labels.json"]


@pytest.mark.parametrize(("least", "code"), [("0.92", 0), ("0.93", 1)])
def test_fail_under_decides_the_exit_code(labels, least, code, capsys):
    assert main(["agreement", str(labels), "--bootstrap", "0", "--fail-under", least]) == code
    message = "mean alpha: expected at least 0.93, got 0.9242\n" if code else ""
    assert capsys.readouterr().err == message


def test_what_is_undefined_is_below(tmp_path, capsys):
    images = [{"id": 1, "file_name": "a.jpg", "width": 9, "height": 9, "rater_list": ["ann"]}]
    content = {"images": images, "annotations": [], "categories": [], "info": {"raters": ["ann", "bob"]}}
    content["images"].append({**images[0], "id": 2, "file_name": "b.jpg", "rater_list": ["bob"]})
    path = tmp_path / "apart.json"
    path.write_text(json.dumps(content))
    assert main(["agreement", str(path), "--fail-under", "-1"]) == 1
    assert "got undefined" in capsys.readouterr().err


def test_compare_is_that_of_the_library(labels, tmp_path, capsys):
    content = json.loads(labels.read_text(encoding="utf-8"))
    content["annotations"] = [row for row in content["annotations"] if (row["rater_id"], row["image_id"]) != ("cid", 1)]
    new = tmp_path / "new.json"
    new.write_text(json.dumps(content))
    document = found_by(["compare", labels, new, "--bootstrap", 30], capsys)
    old_result, new_result = (agreement(read_coco(path), bootstrap=30) for path in (labels, new))
    expected = compare(old_result, new_result, bootstrap=30)
    assert document["results"]["difference"] == expected.difference < 0
    assert document["results"]["difference_interval"] == expected.interval.tolist()
    assert document["results"]["worsened"] == [1]
    assert [row["rater"] for row in document["tables"]["raters"]] == ["ann", "bob", "cid"]
    assert main(["compare", str(labels), str(new), "--fail-under", str(new_result.alpha)]) == 0
    assert main(["compare", str(labels), str(new), "--fail-under", str(old_result.alpha)]) == 1


def test_coordinates_are_those_of_the_calibration(labels, capsys):
    """Readers of tables of boxes have an option of this name, too."""
    document = found_by(["calibrate", labels, "--coordinates", "pixels"], capsys)
    assert document["results"]["ks"] == calibrate(read_coco(labels), coordinates="pixels").best.ks
    assert [row["coordinates"] for row in document["tables"]["calibration"]] == ["pixels"]


def test_a_configuration_gives_options_and_the_command_line_more(labels, tmp_path, capsys):
    config = tmp_path / "agreement.yaml"
    config.write_text("threshold: 0.7\nbootstrap: 0\ncost: neg\nthresholds: [0.3, 1]\nfail_under: 0.1\n")
    document = found_by(["agreement", labels, "--config", config, "--cost", "soft"], capsys)
    assert document["options"] == {"threshold": 0.7, "bootstrap": 0, "cost": "soft", "thresholds": [0.3, 1.0]}
    assert len(document["tables"]["sensitivity"]) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("treshold: 0.7", "agreement.yaml: treshold: expected one of aliases, assigned, bootstrap, "),
        ("threshold: high", "agreement.yaml: threshold: expected a number, got 'high'"),
        ("bootstrap: 1.5", "agreement.yaml: bootstrap: expected a whole number, got 1.5"),
        ("bootstrap: true", "agreement.yaml: bootstrap: expected a whole number, got True"),
        ("thresholds: [a]", "agreement.yaml: thresholds: expected a list, each a number, got ['a']"),
        ("on_invalid: keep", "agreement.yaml: on_invalid: expected 'raise' or 'skip', got 'keep'"),
        ("- 1", "agreement.yaml: expected a mapping of options to values, got list"),
        ("a: [", "agreement.yaml: expected YAML, got "),
        ("seed: 1\nseed: 2", "agreement.yaml: expected each key once, got 'seed' twice in line 2"),
        ("threshold: 2", "threshold: expected a similarity from 0 to 1, got 2.0"),
    ],
)
def test_a_configuration_that_cannot_be_used_is_named(labels, tmp_path, capsys, text, message):
    config = tmp_path / "agreement.yaml"
    config.write_text(text)
    assert main(["agreement", str(labels), "--config", str(config)]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.json"], "none.json: expected a readable COCO file"),
        (["--threshold", "high", "{labels}"], "--threshold: expected a number, got 'high'"),
        (["{labels}", "--config", "none.yaml"], "none.yaml: expected a readable YAML file in UTF-8, got No such file"),
        (["{labels}", "--format", "excel"], "format: expected one of "),
        (["{labels}", "--image-field", "file"], "expected options among "),
        (["{labels}", "--out", "{labels}"], "expected a folder to write to"),
        (["{labels}", "--json", "none/found.json"], "none/found.json: expected a file in a folder that is there"),
    ],
)
def test_bad_input_is_one_message(labels, capsys, arguments, message):
    assert main(["agreement", *(text.format(labels=labels) for text in arguments)]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error


def test_an_option_that_there_is_not_ends_with_the_same_code(labels, capsys):
    with pytest.raises(SystemExit) as end:
        main(["agreement", str(labels), "--thresh", "0.7"])
    assert end.value.code == 2
    assert "unrecognized arguments: --thresh" in capsys.readouterr().err


def test_warnings_are_lines_and_part_of_the_json(tmp_path, capsys):
    rows = [
        {"id": n, "image_id": 1, "category_id": 1, "rater_id": r, "bbox": [1, 1, 5, 5]} for n, r in ((1, "a"), (2, "b"))
    ]
    image = {"id": 1, "file_name": "a.jpg", "width": 9, "height": 9}
    path = tmp_path / "labels.json"
    path.write_text(json.dumps({"images": [image], "categories": [{"id": 1, "name": "cat"}], "annotations": rows}))
    with pytest.warns(KalosWarning) as warned:
        read_coco(path)
    assert main(["agreement", str(path), "--json", str(tmp_path / "found.json")]) == 0
    messages = json.loads((tmp_path / "found.json").read_text())["warnings"]
    assert messages == [str(warning.message) for warning in warned]
    assert capsys.readouterr().err == "".join(f"warning: {message}\n" for message in messages)


def test_progress_is_shown_on_request(labels, capsys):
    arguments = ["convergence", str(labels), "--samples", "5", "--fraction", "0.5"]
    assert main([*arguments, "--progress"]) == 0
    assert "100 %" in capsys.readouterr().err
    assert main(arguments) == 0
    assert "%" not in capsys.readouterr().err.replace("95 %", "")


def test_it_is_a_program(labels):
    command = [sys.executable, "-m", "kalos_core", "agreement", str(labels), "--bootstrap", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("KαLOS(box_iou, τ_s=0.5, S=greedy, ψ_soft) = 0.924 (near perfect")


def test_a_reader_of_the_text_may_stop(labels):
    command = [sys.executable, "-m", "kalos_core", "agreement", str(labels), "--bootstrap", "0", "--fail-under", "0.99"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        program.stdout.close()
        assert program.stderr.read() == "mean alpha: expected at least 0.99, got 0.9242\n"
        assert program.wait() == 1


def test_a_terminal_may_know_no_greek(labels):
    command = [sys.executable, "-m", "kalos_core", "agreement", str(labels), "--bootstrap", "0"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("K?LOS(box_iou, ?_s=0.5")


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)
def test_every_command_explains_itself(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([command.name, "--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert all(option.flag in text and option.help for option in command.all_options)


def test_labels_with_more_exact_shapes_than_were_compared_are_said(tmp_path, capsys):
    ring = [0, 0, 9, 0, 9, 9, 0, 9]
    rows = [
        {"id": number, "image_id": 1, "rater_id": rater, "category_id": 1, "bbox": [0, 0, 9, 9], "segmentation": [ring]}
        for number, rater in enumerate("ab", 1)
    ]
    content = {
        "images": [{"id": 1, "file_name": "a.jpg", "width": 20, "height": 20, "rater_list": ["a", "b"]}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": rows,
    }
    (tmp_path / "polygons.json").write_text(json.dumps(content))
    assert main(["agreement", str(tmp_path / "polygons.json")]) == 0
    assert "--similarity polygon_iou compares what the labels have" in capsys.readouterr().out
    assert main(["agreement", str(tmp_path / "polygons.json"), "--similarity", "box_iou"]) == 0
    assert "boxes were compared" not in capsys.readouterr().out


def test_attributes_by_name_and_all(graded, capsys, tmp_path):
    assert main(["attributes", str(graded), "--name", "malignancy", "--json", str(tmp_path / "found.json")]) == 0
    found = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["results"]
    assert found["alpha"]["malignancy"] == pytest.approx(nominal_alpha([[1, 2], [3, 3], [5, 5], [4, 5]], "ordinal"))
    assert found["units"] == {"malignancy": 4}
    assert main(["attributes", str(graded), "--metric", "ordinal", "--bootstrap", "0"]) == 0
    assert "form: values: expected numbers for 'ordinal', got" in capsys.readouterr().out
    assert main(["attributes", str(graded), "--bootstrap", "0"]) == 0
    assert "form: nominal alpha 1.00" in capsys.readouterr().out
    assert main(["attributes", str(graded), "--name", "form", "--order", "oval", "round", "--bootstrap", "0"]) == 0
    assert "form: ordinal alpha 1.00" in capsys.readouterr().out
    assert main(["attributes", str(graded), "--name", "colour"]) == 2
    assert "malignancy" in capsys.readouterr().err


def test_volumes_are_compared_as_volumes(tmp_path, capsys, lidc_path):
    assert main(["agreement", str(lidc_path)]) == 2
    assert "got volume (volume_iou, volume_iou_128)" in capsys.readouterr().err
    assert main(["agreement", str(lidc_path), "--similarity", "volume_iou", "--bootstrap", "0"]) == 0
    options = ["--samples", "20", "--bootstrap", "20", "--out", str(tmp_path)]
    assert main(["report", str(lidc_path), *options]) == 0
    (page,) = tmp_path.glob("*.html")
    assert "similarity = volume_iou," in page.read_text(encoding="utf-8")
