"""Command for all analyses at once: report."""

from __future__ import annotations

import shlex
from pathlib import Path

from kalos_core.cli.answers import Answer
from kalos_core.cli.commands import Command
from kalos_core.cli.objects import LABELS
from kalos_core.cli.options import Flag, Given, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, annotations_of
from kalos_core.report import Source, steps_of, study, summary_of, write_report
from kalos_core.results import strict


def _report(given: Given) -> Answer:
    path, call = given["labels"], _call(given)
    annotations = annotations_of(given, path)
    found = study(annotations, **given.of(study), progress=given.progress)
    title = given.get("title") or f"How far the raters of {path.name} agree"
    source = Source.of_file(path, call) if path.is_file() else Source.of_table(annotations, call)

    def write(file: Path) -> None:
        write_report(found, file, title, interactive=given.get("interactive", False), source=source)

    results = {
        **found.summary(),
        "said": [entry.text for entry in found.said],
        "next": steps_of(found),
        "doubts": found.doubts,
        "source": vars(source),
    }
    text = "\n".join([*results["said"], "All results are in report.html; the tables are in the same folder."])
    summary = summary_of(found, title, source)
    return Answer(
        text, results, found.tables(), score=found.agreement.alpha, files={"report.html": write}, summary=summary
    )


def _call(given: Given) -> str:
    """Return the command line to reproduce the report, with names of files and folders but without their paths."""
    words = ["kalos-core", "report", *(path.name for path in given.paths.values())]
    for name, value in given.values.items():
        flag = f"--{name.replace('_', '-')}"
        if isinstance(value, bool):
            words.append(flag if value else flag.replace("--", "--no-", 1))
        else:
            shown = Path(value).name if name == "images" else value
            words += [flag, *map(str, strict(shown) if isinstance(shown, list) else [shown])]
    return shlex.join(words)


COMMANDS = (
    Command(
        "report",
        "all results for a set of labels: one HTML page to share, and its tables",
        _report,
        (LABELS,),
        (
            *options_of(study, without=("images",)),
            Flag("images", str, "Folder of the images, for the drawings.", path="folder"),
            *options_of(write_report),
            *OF_ANNOTATIONS,
        ),
        score="mean alpha",
        out=Path("report"),
    ),
)
