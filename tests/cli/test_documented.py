"""`docs/command-line.md` lists what is written, and the examples for continuous integration work."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest
import yaml

from kalos_core.cli import COMMANDS, main

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "command-line.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^### ([\w-]+)\n(.*?)(?=^### |\Z)", TEXT, flags=re.MULTILINE | re.DOTALL))

TEAMS = "--teams '{{experts: [ann, bob], crowd: [cid]}}'"
RUNS = [
    ("agreement", "{outlined} --thresholds 0.3 0.5 --bootstrap 5 --next 2 --truth confusion --boundaries"),
    ("attributes", "{graded} --bootstrap 5"),
    ("variations", "{labels}"),
    ("report", "{labels} --samples 5 --fraction 0.5 --similarities box_iou centroid"),
    ("calibrate", "{labels} --similarities box_iou centroid"),
    ("convergence", "{labels} --samples 5 --fraction 0.5 --models 'net 0.4'"),
    ("compare", "{labels} {labels} --bootstrap 5"),
    ("shards", "{labels} {out}-shards --images-per-shard 4"),
    ("labels", "{table} --reject-broken --bootstrap 5 --truth confusion --metric ordinal --order cat dog " + TEAMS),
    ("sparse", "{labels}"),
    ("sparse", "{table}"),
    ("pixels", "{masks} --images {masks}/ann --boundaries --regions"),
    ("divisions", "{masks} --bootstrap 5"),
    ("truth", "{masks}"),
    ("rank", "{labels} --predictions net={predictions}"),
    ("rank", "{table} --predictions net={scores}"),
    ("noise", "{labels} --model default --draws 1 --generate {out}.json --reference ann"),
    ("experiments", "{labels} --repeats 1 --magnitudes 1 --counts 2"),
]


def codes(text):
    return re.findall(r"`([^`]+)`", text)


@pytest.mark.parametrize(("command", "arguments"), RUNS, ids=[f"{name}-{text[1:6]}" for name, text in RUNS])
def test_tables_and_results_are_those_documented(files, tmp_path, command, arguments):
    out = tmp_path / "out"
    assert main([command, *shlex.split(arguments.format(**files, out=out)), "--out", str(out)]) == 0
    section = SECTIONS[command]
    if "Of classifiers" in section:
        section = section.split("Of classifiers")["{scores}" in arguments]
    rows = re.findall(r"^\| `(\w+)\.csv` \|[^|]*\| (.*) \|$", section, flags=re.MULTILINE)
    written = {path.stem: pd.read_csv(path, nrows=0).columns.tolist() for path in out.glob("*.csv")}
    assert set(written) == {name for name, _ in rows}
    for name, columns in written.items():
        assert columns in [codes(text) for other, text in rows if other == name]
    results = json.loads((out / "results.json").read_text(encoding="utf-8"))["results"]
    assert list(results) == codes(re.search(r"^Results: (.*)$", section, flags=re.MULTILINE)[1])


def test_every_command_is_documented():
    names = {command.name for command in COMMANDS}
    assert set(re.findall(r"^\| `([\w-]+)` \| ", TEXT, flags=re.MULTILINE)) >= names
    assert set(SECTIONS) == names
    for command in COMMANDS:
        assert bool(command.score) == ("Score: " in SECTIONS.get(command.name, ""))


def test_the_example_of_continuous_integration_runs(labels, tmp_path, monkeypatch):
    workflow = yaml.safe_load((DOCS / "examples" / "agreement-workflow.yml").read_text(encoding="utf-8"))
    command = next(
        step["run"] for step in workflow["jobs"]["agreement"]["steps"] if "kalos-core" in step.get("run", "")
    )
    monkeypatch.chdir(tmp_path)
    for name in ("before.json", "labels.json"):
        Path(name).write_bytes(labels.read_bytes())
    config = (DOCS / "examples" / "agreement.yaml").read_text(encoding="utf-8")
    for least, code in (("0.6", 0), ("0.99", 1)):
        Path("agreement.yaml").write_text(config.replace("fail_under: 0.6", f"fail_under: {least}"), encoding="utf-8")
        assert main(shlex.split(command)[1:]) == code
        assert Path("found/results.json").exists()
