"""Commands in pipelines: comparison with a previous version, streams, the example workflow, hooks, signals."""

import json
import os
import shlex
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from kalos_core import agreement, compare, read_coco
from kalos_core.cli import main
from kalos_core.diagnostics.comparison import Differences

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = [sys.executable, "-m", "kalos_core"]


# ---- worse than before ----


def differences(values, ends):
    """Return differences of 50 images each with these intervals."""
    difference, interval = np.array(values), np.array(ends)
    none = np.full(len(values), np.nan)
    return Differences(
        name=np.array(list("abcd"[: len(values)]), object),
        alpha_a=none,
        alpha_b=none,
        difference=difference,
        interval=interval,
        global_difference=none,
        global_interval=np.full((len(values), 2), np.nan),
        images=np.full(len(values), 50),
    )


def test_worse_entries_by_hand():
    """Student's t of a 95 % interval of 50 images is 2.01: of -0.11 with an interval 0.2 wide t is 2.21, p .032, which
    is clear in one row, but not as the second of four, whose p is .032 * 4 / 2 (Benjamini & Hochberg 1995)."""
    one = differences([-0.11], [[-0.21, -0.01]])
    assert one.is_worse.tolist() == [True]
    ends = [[-0.31, -0.11], [-0.21, -0.01], [-0.1, 0.1], [-0.1, 0.1]]
    assert differences([-0.21, -0.11, 0.0, 0.0], ends).is_worse.tolist() == [True, False, False, False]


@pytest.mark.usefixtures("folder")
def test_compare_fails_where_the_whole_interval_is_below_0(capsys):
    found = compare(*(agreement(read_coco(path)) for path in ("before.json", "labels.json")))
    assert found.is_worse
    assert found.interval[1] < 0
    assert found.classes.name[found.classes.is_worse].tolist() == ["dog"]
    for flags, code in (
        ("before.json labels.json --fail-if-worse", 1),
        ("labels.json before.json --fail-if-worse --fail-if-class-worse --fail-if-rater-worse", 0),
        ("before.json labels.json", 0),
    ):
        assert main(["compare", *flags.split(), "--json", "found.json"]) == code
        error = capsys.readouterr().err
        failed = json.loads(Path("found.json").read_text(encoding="utf-8"))["failed"]
        assert error == "".join(f"{reason}\n" for reason in failed)
        assert bool(failed) == bool(code)
    assert main(["compare", "before.json", "labels.json", "--fail-if-class-worse", "--fail-if-rater-worse"]) == 1
    error = capsys.readouterr().err.splitlines()
    assert error[0].startswith("class dog: raters agree less than before, \u2212")
    raters = [f"rater {name}" for name in found.raters.name[found.raters.is_worse]]
    assert [line.split(":")[0] for line in error[1:]] == raters


@pytest.mark.usefixtures("folder")
def test_of_few_images_nothing_is_found_worse_and_a_warning_says_so(capsys):
    for name in ("before.json", "labels.json"):
        content = json.loads(Path(name).read_text(encoding="utf-8"))
        content["images"] = content["images"][:4]
        content["annotations"] = [row for row in content["annotations"] if row["image_id"] < 4]
        Path(f"few-{name}").write_text(json.dumps(content), encoding="utf-8")
    assert main(["compare", "few-before.json", "few-labels.json", "--fail-if-worse"]) == 0
    assert (
        "has no interval (fewer than 8 images), so the check for worse agreement cannot fail" in capsys.readouterr().err
    )


# ---- streams ----


@pytest.mark.usefixtures("folder")
def test_standard_input_is_any_file_and_tables_go_to_standard_output(piped, capsys):
    def given(*arguments, path):
        piped(path)
        assert main(arguments) == 0
        return capsys.readouterr().out

    document = json.loads(given("agreement", "-", "--json", "-", path="labels.json"))
    assert document["inputs"] == {"labels": "-"}
    assert list(document["read"]) == ["stdin.json"]
    assert document["results"]["alpha"] == agreement(read_coco("labels.json")).alpha
    table = pd.read_csv(StringIO(given("labels", "-", "--csv", "raters", path="labels.csv")))
    assert table["rater"].tolist() == ["ann", "bob", "cid"]
    model = given("noise", "-", "--model", "default", "--save", "-", path="labels.json")
    assert json.loads(model)["format"]


@pytest.mark.usefixtures("folder")
def test_messages_call_standard_input_so(piped, refusal):
    Path("broken.json").write_text("{", encoding="utf-8")
    piped("broken.json")
    assert refusal("agreement", "-").startswith("stdin.json: expected JSON")
    Path("broken.gz").write_bytes(b"\x1f\x8b and no more")
    piped("broken.gz")
    assert refusal("agreement", "-").startswith("stdin.csv.gz: expected a readable table")


@pytest.mark.usefixtures("folder")
def test_summaries_show_names_as_text():
    content = json.loads(Path("labels.json").read_text(encoding="utf-8"))
    content["categories"][0]["name"] = "<b>|cat"
    Path("labels.json").write_text(json.dumps(content), encoding="utf-8")
    assert main(["agreement", "labels.json", "--summary", "found.md", "--fail-under", "1", "--top", "1"]) == 1
    lines = Path("found.md").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("## kalos")
    assert lines[2].startswith("**Failed:** mean alpha\\: expected at least 1, got 0.")
    assert "... 1 row left out; --top 2 shows all" in lines
    assert main(["agreement", "labels.json", "--summary", "found.md", "--sort", "category", "--top", "0"]) == 0
    assert any(line.startswith("| \\<b\\>\\|cat |") for line in Path("found.md").read_text("utf-8").splitlines())


# ---- tables ----


@pytest.mark.usefixtures("folder")
def test_tables_begin_with_important_rows_and_count_omitted_ones(capsys):
    def rows(*arguments):
        assert main(["agreement", "labels.json", "--bootstrap", "0", *arguments]) == 0
        text = capsys.readouterr()
        shown = text.out.partition("classes")[2].partition("\n\n")[0].splitlines()
        return shown[0], [line.split()[0] for line in shown[2:4]], text

    few = ", all on fewer than 10 images"
    assert rows()[:2] == (f", smallest alpha first{few}", ["dog", "cat"])
    assert rows("--sort", "alpha", "--reverse")[:2] == (", largest alpha first", ["cat", "dog"])
    assert "... 1 row left out; --top 2 shows all" in rows("--top", "1")[2].out
    assert "warning: --sort: expected a column of a table, category, alpha" in rows("--sort", "alhpa")[2].err


# ---- the workflow and the hooks ----


def git(*arguments):
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *arguments], check=True, capture_output=True)


@pytest.fixture
def repository(folder, monkeypatch):
    """Create a clone whose main branch has the labels before the change, and a branch with those after it."""
    monkeypatch.setenv("GITHUB_BASE_REF", "main")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(folder / "summary.md"))
    after = Path("labels.json").read_bytes()
    Path("labels.json").write_bytes(Path("before.json").read_bytes())
    Path("before.json").unlink()
    git("init", "-q", "-b", "main")
    git("add", "labels.json")
    git("commit", "-qm", "before")
    git("remote", "add", "origin", str(folder))
    git("checkout", "-qb", "change")
    return after


def test_the_example_workflow_runs(repository):
    workflow = yaml.safe_load((ROOT / "docs" / "examples" / "agreement-workflow.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for step in workflow["jobs"]["agreement"]["steps"] if "run" in step]
    prepare, check = next(text for text in steps if "git" in text), next(text for text in steps if "--config" in text)
    config = (ROOT / "docs" / "examples" / "agreement.yaml").read_text(encoding="utf-8")
    Path("agreement.yaml").write_text(config, encoding="utf-8")
    for labels, least, code in ((None, 0.6, 0), (None, 0.99, 1), (repository, 0.1, 1)):
        if labels is not None:
            Path("labels.json").write_bytes(labels)
        Path("agreement.yaml").write_text(config.replace("fail_under: 0.6", f"fail_under: {least}"), encoding="utf-8")
        subprocess.run(["bash", "-ec", prepare], check=True, capture_output=True)
        assert main(shlex.split(os.path.expandvars(check))[1:]) == code
        assert Path("found/results.json").exists()
        assert ("**Failed:**" in Path("summary.md").read_text(encoding="utf-8")) == bool(code)


def test_the_hooks_of_pre_commit_run(repository, folder):
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))}
    assert all(hook["language"] == "python" and not hook["pass_filenames"] for hook in hooks.values())
    own = shlex.split(hooks["kalos-agreement"]["entry"])
    for least, code in (("0.6", 0), ("0.99", 1)):
        assert main([*own[1:], "labels.json", "--fail-under", least]) == code
    program = folder / "bin" / "kalos-core"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(PROGRAM)} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    Path("labels.json").write_bytes(repository)
    command = [*shlex.split(hooks["kalos-compare"]["entry"]), "labels.json", "--bootstrap", "200"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()[-1].split(",")[0]) == (
        1,
        "mean alpha: raters agree less than before",
    )


# ---- signals ----


def test_an_interrupt_is_one_line():
    heard = "import signal, runpy; signal.signal(signal.SIGINT, signal.default_int_handler)"  # jobs may ignore it
    run = "runpy.run_module('kalos_core', run_name='__main__', alter_sys=True)"
    command = [sys.executable, "-c", f"{heard}; {run}", "agreement", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=with_root()) as program:
        wait_until_it_reads(program.pid)
        program.send_signal(signal.SIGINT)
        try:
            assert (program.wait(60), program.stderr.read()) == (130, b"interrupted\n")
        finally:
            program.kill()


def with_root():
    return {**os.environ, "PYTHONPATH": str(ROOT)}


def wait_until_it_reads(pid):
    """Wait until the process reads standard input, when all modules are loaded."""
    import time

    for _ in range(1_200):
        if "pipe" in Path(f"/proc/{pid}/wchan").read_text():
            return
        time.sleep(0.05)
    pytest.skip("the system does not say what a process waits for")


def test_a_closed_pipe_is_quiet():
    done = subprocess.run(
        ["bash", "-c", f"{shlex.join(PROGRAM)} agreement --help | head -1; echo ${{PIPESTATUS[0]}}"],
        capture_output=True, text=True, check=False, env=with_root(),
    )  # fmt: skip
    assert done.stdout.startswith("usage: kalos-core agreement LABELS [options]")
    assert done.stderr == ""
