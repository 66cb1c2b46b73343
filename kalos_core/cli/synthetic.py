"""Commands on synthetic raters: noise, experiments."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from kalos_core import NoiseModel, write_coco
from kalos_core.cli.answers import Answer
from kalos_core.cli.commands import Command
from kalos_core.cli.objects import LABELS
from kalos_core.cli.options import Flag, Given, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, annotations_of
from kalos_core.display import number_of
from kalos_core.files import write_whole
from kalos_core.noise.experiments import run_experiments


def _noise(given: Given) -> Answer:
    annotations = annotations_of(given, given["labels"])
    model = _model(given) or NoiseModel.fit(annotations, **given.of(NoiseModel.fit))
    tables = {"parameters": model.to_pandas()}
    lines = [f"{number_of(len(tables['parameters']), 'parameter')} of how raters differ, from {given['labels']}"]
    results: dict[str, object] = {"model": json.loads(model.to_json())}
    if "draws" in given.values:
        fidelity = model.fidelity(annotations, **given.of(NoiseModel.fidelity))
        tables["fidelity"] = fidelity.to_pandas()
        results["inside"] = int(fidelity.inside.sum())
        lines.append(repr(fidelity).splitlines()[0])
    if "generate" in given.values:
        made = model.generate(annotations, **given.of(NoiseModel.generate))
        tables["events"] = made.by_rater().to_pandas()
        lines.append(f"{write_coco(made.annotations, given['generate'])}: {made!r}")
    if "save" in given.values:
        write_whole(Path(given["save"]), model.to_json())
    return Answer("\n".join(lines), results, tables, ("parameters", *(name for name in tables if name != "parameters")))


def _model(given: Given) -> NoiseModel | None:
    file = given.get("model")
    if file is None:
        return None
    return NoiseModel.default() if file == "default" else NoiseModel.from_json(Path(file))


def _experiments(given: Given) -> Answer:
    annotations = annotations_of(given, given["labels"])
    options = {**given.of(run_experiments), "model": _model(given), "progress": given.progress}
    result = run_experiments(annotations, **options)
    claims = result.claims()
    rows = [(claim.source, claim.statement, claim.verdict, claim.found) for claim in claims]

    def write(path: Path) -> None:
        from kalos_core.report import Section, Table, experiment_sections, page

        claimed = Table(("KαLOS", "says", "here it", "found"), rows, "Statements of the paper, tried again")
        sections = [Section("", [claimed]), *experiment_sections(result)]
        write_whole(path, page(f"Experiments on {given['labels'].name}", sections))

    text = "\n".join([*map(str, claims), "experiments.html has the plots; the tables are next to it"])
    results = {"claims": [dict(zip(("source", "statement", "verdict", "found"), row, strict=True)) for row in rows]}
    return Answer(text, results, result.tables(), files={"experiments.html": write})


_MODEL = Flag("model", str, help="JSON file of a noise model, or default for the shipped one")

COMMANDS = (
    Command(
        "noise",
        "how raters differ, as distributions, and synthetic raters who differ so",
        _noise,
        (LABELS,),
        (
            Flag("model", str, help=f"{_MODEL.help}; by default one is fitted to the labels"),
            Flag("save", str, help="file for the model, as JSON"),
            Flag("generate", str, help="COCO file for synthetic raters"),
            *options_of(NoiseModel.fit, NoiseModel.generate),
            *(replace(option, default=None) for option in options_of(NoiseModel.fidelity, only=("draws",))),
            *OF_ANNOTATIONS,
        ),
    ),
    Command(
        "experiments",
        "what solvers and alpha do on synthetic raters with known correspondences (KαLOS §5)",
        _experiments,
        (("labels", "annotations, the first rater of which is the reference"),),
        (_MODEL, *options_of(run_experiments), *OF_ANNOTATIONS),
        out=Path("experiments"),
    ),
)
