"""A study in one call: report."""

from __future__ import annotations

from pathlib import Path

from kalos_core.cli.answers import Answer
from kalos_core.cli.commands import Command
from kalos_core.cli.objects import LABELS
from kalos_core.cli.options import Flag, Given, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, annotations_of
from kalos_core.report import study, write_report


def _report(given: Given) -> Answer:
    annotations = annotations_of(given, given["labels"])
    found = study(annotations, **given.of(study), progress=given.progress)
    title = given.get("title") or f"How far the raters of {Path(given['labels']).name} agree"

    def write(path: Path) -> None:
        write_report(found, path, title)

    results = {**found.summary(), "said": [entry.text for entry in found.said], "doubts": found.doubts}
    text = "\n".join([*results["said"], "report.html has all of it; the tables are next to it"])
    return Answer(text, results, found.tables(), score=found.agreement.alpha, files={"report.html": write})


COMMANDS = (
    Command(
        "report",
        "all there is to say about some labels: one HTML page to send, and its tables",
        _report,
        (LABELS,),
        (
            *options_of(study, without=("images",)),
            Flag("images", str, help="folder of the images, for the drawings"),
            Flag("title", str, help="of the page; by default it names the file"),
            *OF_ANNOTATIONS,
        ),
        score="mean alpha",
        out=Path("report"),
    ),
)
