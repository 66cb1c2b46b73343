"""Exit codes, JSON, folders and messages of commands."""

import json
import os
import shlex
import subprocess
import sys

import pandas as pd
import pytest

from kalos_core import Annotations, KalosWarning, agreement, calibrate, compare, nominal_alpha, read_coco, write_coco
from kalos_core.cli import main
from tests.readers.cases import write
from tests.readers.test_coco import NO_LISTS
from tests.tiers import extended


def test_agreement_is_that_of_the_library(labels, found_by):
    document = found_by("agreement", labels, "--threshold", 0.7, "--bootstrap", 50, "--seed", 1)
    expected = agreement(read_coco(labels), threshold=0.7, bootstrap=50, seed=1)
    assert document["results"]["alpha"] == expected.alpha
    assert document["results"]["alpha_interval"] == expected.alpha_interval.tolist()
    assert [row["alpha"] for row in document["tables"]["images"]] == expected.image_alpha.tolist()
    assert [row["unit"] for row in document["tables"]["annotations"]] == expected.unit_of.tolist()
    assert document["options"] == {"threshold": 0.7, "bootstrap": 50, "seed": 1}
    assert (document["command"], document["inputs"]) == ("agreement", {"labels": str(labels)})


def test_a_case_worked_by_hand(tmp_path, found_by):
    """Two raters, one image: a cat of both and a dog of bob. Units (cat, cat) and (nothing, dog) have coincidences
    2 of (cat, cat) and 1 each of (nothing, dog) and (dog, nothing): of 4 values 2 disagree, where chance gives
    (4 * 4 - 2 * 2 - 1 - 1) / (4 * 3) = 10 / 12, so that alpha is 1 - (2 / 4) / (10 / 12) = 0.4."""
    marks = ("ann", "cat", 0), ("bob", "cat", 0), ("bob", "dog", 40)
    rows = [{"image": 1, "rater": rater, "category": name, "box": [x, 0, 9, 9]} for rater, name, x in marks]
    path = write_coco(Annotations.from_rows(rows), tmp_path / "two.json")
    document = found_by("agreement", path, "--bootstrap", 0)
    assert document["results"]["alpha"] == pytest.approx(0.4)
    assert document["results"]["alpha_interval"] == [None, None]  # undefined is null in JSON
    assert document["results"]["notes"][0].startswith("no raters: vitality: expected at least three raters")


def test_a_folder_holds_json_and_a_table_each_and_keeps_other_files(labels, tmp_path):
    out = tmp_path / "made" / "here"
    assert main(["variations", str(labels), "--out", str(out)]) == 0
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert {path.stem for path in out.glob("*.csv")} == set(document["tables"])
    types = pd.read_csv(out / "types.csv").set_index("type")["count"]
    assert types.to_dict() == document["results"]["counts"]
    assert [path.name for path in out.parent.iterdir()] == ["here"]  # no draft is left
    (out / "mine.txt").write_text("kept")
    (out / "types.csv").write_text("old")
    assert main(["variations", str(labels), "--out", str(out)]) == 0
    assert (out / "mine.txt").read_text() == "kept"
    assert (out / "types.csv").read_text() != "old"


def test_a_folder_in_the_way_of_one_file_keeps_all_others(labels, tmp_path, refusal):
    out = tmp_path / "out"
    (out / "types.csv").mkdir(parents=True)
    (out / "annotations.csv").write_text("old")
    message = refusal("variations", labels, "--out", out)
    assert "types.csv: expected a file to write to, got a folder" in message
    assert (out / "annotations.csv").read_text() == "old"
    assert len(list(out.iterdir())) == 2


def test_nothing_partial_stays(labels, tmp_path, monkeypatch, refusal):
    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pd.DataFrame, "to_csv", fail)
    message = refusal("variations", labels, "--out", tmp_path / "out")
    assert "expected a folder to write to, got No space left on device" in message
    assert list(tmp_path.iterdir()) == []


def test_fail_under_decides_the_exit_code(labels, tmp_path, capsys):
    for least, code in (("0.94", 0), ("0.95", 1)):
        assert main(["agreement", str(labels), "--bootstrap", "0", "--fail-under", least]) == code
        message = "mean alpha: expected at least 0.95, got 0.9432\n" if code else ""
        assert capsys.readouterr().err == message
    # undefined values are below the limit
    apart = Annotations.from_rows([], images=[1, 2], raters=["a", "b"], assigned={1: ["a"], 2: ["b"]})
    path = write_coco(apart, tmp_path / "apart.json")
    assert main(["agreement", str(path), "--fail-under", "-1"]) == 1
    assert "got undefined" in capsys.readouterr().err


def test_compare_is_that_of_the_library(labels, tmp_path, found_by):
    content = json.loads(labels.read_text(encoding="utf-8"))
    content["annotations"] = [row for row in content["annotations"] if (row["rater_id"], row["image_id"]) != ("cid", 1)]
    new = tmp_path / "new.json"
    new.write_text(json.dumps(content))
    document = found_by("compare", labels, new, "--bootstrap", 30)
    old_result, new_result = (agreement(read_coco(path), bootstrap=30) for path in (labels, new))
    expected = compare(old_result, new_result, bootstrap=30)
    assert document["results"]["difference"] == expected.difference < 0
    assert document["results"]["difference_interval"] == expected.interval.tolist()
    assert document["results"]["worsened"] == [1]
    assert [row["rater"] for row in document["tables"]["raters"]] == ["ann", "bob", "cid"]
    assert main(["compare", str(labels), str(new), "--fail-under", str(new_result.alpha)]) == 0
    assert main(["compare", str(labels), str(new), "--fail-under", str(old_result.alpha)]) == 1


def test_coordinates_are_those_of_the_calibration(labels, found_by):
    """Readers of box tables have an option with this name, too."""
    document = found_by("calibrate", labels, "--compare-in", "pixels")
    assert document["results"]["ks"] == calibrate(read_coco(labels), coordinates="pixels").best.ks
    assert [row["coordinates"] for row in document["tables"]["calibration"]] == ["pixels"]


def test_a_configuration_gives_options_and_the_command_line_more(labels, tmp_path, found_by):
    config = tmp_path / "agreement.yaml"
    config.write_text("threshold: 0.7\nbootstrap: 0\ncost: neg\nthresholds: [0.3, 1]\nfail_under: 0.1\n")
    document = found_by("agreement", labels, "--config", config, "--cost", "soft")
    assert document["options"] == {"threshold": 0.7, "bootstrap": 0, "cost": "soft", "thresholds": [0.3, 1.0]}
    assert len(document["tables"]["sensitivity"]) == 2


CONFIGURATIONS = {
    "treshold: 0.7": "agreement.yaml: treshold: expected one of aliases, angles, assigned, ",
    "threshold: high": "agreement.yaml: threshold: expected a number, got 'high'",
    "bootstrap: 1.5": "agreement.yaml: bootstrap: expected a whole number, got 1.5",
    "on_invalid: keep": "agreement.yaml: on_invalid: expected 'raise' or 'skip', got 'keep'",
    "seed: 1\nseed: 2": "agreement.yaml: expected each key once, got 'seed' twice in line 2",
    "threshold: 2": "agreement.yaml: threshold: expected a number from 0 to 1, got 2.0",
}

REFUSED = {
    "agreement none.json": "none.json: expected a readable COCO file",
    "agreement --threshold high {labels}": "--threshold: expected a number, got 'high'",
    "agreement {labels} --config none.yaml": "--config: expected a file that can be read, got none.yaml: No such file",
    "agreement {labels} --image-field file": "--image-field: expected input in a format that has it (label_studio)",
    "agreement {labels} --assigned files": "--assigned of format coco: expected 'all' or 'drew', got 'files'",
    "agreement {labels} --out {labels}": "expected a folder to write to",
    "agreement {labels} --out 'a\0b'": "--out: expected a path of at most 4,095 bytes, without NUL",
    f"agreement {{labels}} --json {'x/' * 2500}": "--json: expected a path of at most 4,095 bytes, without NUL",
    "agreement {labels} --csv '\udcff'": "--csv: expected 'images' or 'classes'",
    "agreement {labels} --json none/found.json": "none/found.json: expected a file in an existing folder",
    "agreement {labels} --boundaries": "expected a polygon or a mask of every annotation",
    "agreement {labels} --dask tcp://a:1": "expected a folder of shards (kalos-core shards)",
    "labels {labels}": "labels.json: expected a CSV file with columns for item, rater and label (--item, --rater",
    "labels {wide} --time when": "--time: expected input in a format that has it (long",
    "truth {masks} --class-names '{{road: 1}}'": "--class-names: road: expected text, got 1",
    "divisions {labels}": "labels.json: expected a folder of label maps",
    "rank {labels}": "--predictions: expected the files of one model or more, such as",
    "attributes {graded} --attribute colour": "--attribute: expected one of 'form', 'malignancy', got 'colour'",
    "noise {labels} --generate made.json": "--reference: expected the name of the rater to generate from, one of",
    "noise {labels} --save none/model.json": "none/model.json: expected a file in an existing folder",
    "compare {labels} {labels} --fail-if-class-worse --bootstrap 0": "--fail-if-class-worse: expected intervals",
    "compare - -": "old and new: expected one input from standard input (-), got 2",
    "agreement {labels} --json - --csv classes": "--json and --csv: expected one of them on standard output, got both",
    "agreement {labels} --bootstrap -1": "--bootstrap: expected a whole number of at least 0, got -1",
    "agreement {labels} --similarity box_uoi": "got 'box_uoi'; did you mean box_iou?",
    "agreement {labels} --top -1": "--top: expected a whole number of at least 0, got -1",
    "report {labels} --images {labels}": "--images: expected a folder that can be read",
    "report {labels} --json - --summary -": "--json and --summary: expected one of them on standard output, got both",
    "experiments {outlined} --repeats 1 --magnitudes 1 --counts 2 --out {labels}/out": "expected a folder to write to",
}
"""Command line -> words of the message."""


def test_bad_input_is_one_message(files, refusal):
    found = {line: refusal(*shlex.split(line.format(**files))) for line in REFUSED}
    wrong = {line: text for line, text in found.items() if REFUSED[line] not in text or "Traceback" in text}
    assert wrong == {}


def test_a_configuration_that_cannot_be_used_is_named(labels, tmp_path, refusal):
    config, found = tmp_path / "agreement.yaml", {}
    for text in CONFIGURATIONS:
        config.write_text(text)
        found[text] = refusal("agreement", labels, "--config", config)
    assert {text: message for text, message in found.items() if CONFIGURATIONS[text] not in message} == {}


def test_an_option_that_there_is_not_ends_with_the_same_code(labels, refusal, capsys):
    message = refusal("agreement", labels, "--thresh", "0.7")
    assert "unrecognized arguments: --thresh 0.7; did you mean --threshold? kalos-core agreement --help" in message
    for line in ([], ["agree"], ["agreement"]):  # argparse errors end the process
        with pytest.raises(SystemExit) as end:
            main(line)
        assert end.value.code == 2
        assert "--help lists commands and options" in capsys.readouterr().err


def test_warnings_are_lines_and_part_of_the_json(tmp_path, capsys):
    path = write(tmp_path, NO_LISTS, "labels.json")
    with pytest.warns(KalosWarning) as warned:
        read_coco(path)
    assert main(["agreement", str(path), "--json", str(tmp_path / "found.json")]) == 0
    found = json.loads((tmp_path / "found.json").read_text())
    messages = found["warnings"]
    assert found["read"][str(path)] == {"read": 2, "left_out": {}, "unused": {}, "notes": []}
    assert messages == [str(warning.message).replace("assigned='drew'", "--assigned drew") for warning in warned]
    assert capsys.readouterr().err == "".join(f"warning: {message}\n" for message in messages)


def test_it_is_a_program(labels):
    command = [sys.executable, "-m", "kalos_core", "agreement", str(labels), "--bootstrap", "0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("KαLOS(box_iou, τ_s=0.5, S=greedy, ψ_soft) = 0.943 (near perfect")


@extended
def test_a_terminal_may_know_no_greek_and_a_reader_of_the_text_may_stop(labels):
    command = [sys.executable, "-m", "kalos_core", "agreement", str(labels), "--bootstrap", "0", "--fail-under", "0.99"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.stdout.startswith("K?LOS(box_iou, ?_s=0.5")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as program:
        program.stdout.close()
        assert program.stderr.read() == "mean alpha: expected at least 0.99, got 0.9432\n"
        assert program.wait() == 1


def test_attributes_by_name_and_all(files, found_by, capsys):
    found = found_by("attributes", files["graded"], "--attribute", "malignancy")["results"]
    assert found["alpha"]["malignancy"] == pytest.approx(nominal_alpha([[1, 2], [3, 3], [5, 5], [4, 5]], "ordinal"))
    assert found["units"] == {"malignancy": 4}
    for options, text in (
        ("--metric ordinal", "form: values: expected numbers for 'ordinal', got"),
        ("", "form: nominal alpha 1.00"),
        ("--attribute form --order oval round", "form: ordinal alpha 1.00"),
    ):
        assert main(["attributes", str(files["graded"]), *options.split(), "--bootstrap", "0"]) == 0
        assert text in capsys.readouterr().out


def test_volumes_are_compared_as_volumes(capsys, lidc_path):
    assert main(["agreement", str(lidc_path), "--bootstrap", "0"]) == 0
    assert capsys.readouterr().out.startswith("KαLOS(volume_iou, ")


@extended
@pytest.mark.parametrize("file", ["-", "summary.md"])
def test_a_report_sums_up_in_markdown(labels, tmp_path, monkeypatch, capsys, file):
    monkeypatch.chdir(tmp_path)
    assert main(["report", str(labels), "--samples", "5", "--fraction", "0.5", "--out", "out", "--summary", file]) == 0
    text = capsys.readouterr().out if file == "-" else (tmp_path / file).read_text(encoding="utf-8")
    assert text.startswith("## How far the raters of labels")
    assert "| rater | images | labels |" in text
    assert str(tmp_path) not in text


def test_a_report_of_volumes_compares_them_as_volumes(tmp_path, lidc_path):
    options = ["--samples", "20", "--bootstrap", "20", "--out", str(tmp_path)]
    assert main(["report", str(lidc_path), *options]) == 0
    (page,) = tmp_path.glob("*.html")
    assert "similarity = volume_iou:" in page.read_text(encoding="utf-8")
