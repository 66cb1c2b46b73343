"""`docs/command-line.md` lists all outputs; its example commands run as written."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

from kalos_core.cli import COMMANDS, main
from tests.tiers import first

DOCS = Path(__file__).resolve().parents[2] / "docs"
TEXT = (DOCS / "command-line.md").read_text(encoding="utf-8")
SCHEMA = json.loads((DOCS.parent / "kalos_core" / "cli" / "results.schema.json").read_text(encoding="utf-8"))
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


GUIDE = (DOCS / "guides" / "ci.md").read_text(encoding="utf-8")
LINES = [line for block in re.findall(r"```bash\n(.*?)```", GUIDE, flags=re.DOTALL) for line in block.splitlines()]


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
def test_every_command_of_the_guide_runs(piped):
    """Run it, with the exit code that a comment beside it states."""
    assert len(LINES) > 5
    for line in LINES:
        words, _, comment = line.partition("#")
        command, _, source = words.partition("<")
        if source:
            piped(source.strip())
        assert main(shlex.split(command)[1:]) == int((comment.split() or ["0"])[-1]), line
    assert "**Failed:** mean alpha\\: raters agree less than before, " in Path("changes.md").read_text(encoding="utf-8")
    assert json.loads(Path("found.json").read_text(encoding="utf-8"))["failed"] == []


@pytest.mark.usefixtures("folder")
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
@pytest.mark.parametrize("command", first(COMMANDS, 5), ids=lambda command: command.name)
def test_the_example_of_the_help_runs(command):
    assert main(shlex.split(command.example_line)[1:]) in (0, 1)


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
    document = json.loads((out / "results.json").read_text(encoding="utf-8"))
    assert list(document["results"]) == codes(re.search(r"^Results: (.*)$", section, flags=re.MULTILINE)[1])
    check_schema(document)


def check_schema(document):
    """Check that output matches the published schema; a missing or an additional key is invalid."""
    jsonschema = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(SCHEMA)
    check.check_schema(SCHEMA)
    assert not [f"{list(error.path)}: {error.message}" for error in check.iter_errors(document)]
    for key in document:
        assert list(check.iter_errors({name: value for name, value in document.items() if name != key}))
    assert list(check.iter_errors({**document, "more": 1}))


def test_a_report_of_real_data_is_what_the_schema_says(tmp_path, lidc_path):
    assert main(["report", str(lidc_path), "--samples", "5", "--bootstrap", "20", "--out", str(tmp_path / "out")]) == 0
    document = json.loads((tmp_path / "out" / "results.json").read_text(encoding="utf-8"))
    check_schema(document)
    assert not {"raters", "pairs", "variations"} & set(document["tables"])  # a session is another person in each scan


def test_every_command_is_documented():
    names = {command.name for command in COMMANDS}
    assert set(re.findall(r"^\| `([\w-]+)` \| ", TEXT, flags=re.MULTILINE)) >= names
    assert set(SECTIONS) == names
    for command in COMMANDS:
        assert bool(command.score) == ("Score: " in SECTIONS.get(command.name, ""))
