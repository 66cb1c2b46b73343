"""Commands on synthetic raters: noise, experiments."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kalos_core import NoiseModel, write_coco
from kalos_core.cli.answers import Answer, Order
from kalos_core.cli.commands import Command
from kalos_core.cli.objects import LABELS
from kalos_core.cli.options import OUTPUT, STREAM, Flag, Given, options_of
from kalos_core.cli.reading import OF_ANNOTATIONS, annotations_of
from kalos_core.display import number_of
from kalos_core.files import write_whole
from kalos_core.noise.experiments import run_experiments
from kalos_core.noise.reference import prepare_reference


def _noise(given: Given) -> Answer:
    ready = _model(given)
    annotations = annotations_of(given, given["labels"])
    if "generate" in given.values:
        prepare_reference(annotations, given.get("reference"), len(given.get("schools") or [1]))  # before the fit
    model = ready or NoiseModel.fit(annotations, **given.of(NoiseModel.fit))
    tables = {"parameters": model.to_pandas()}
    lines = [f"{number_of(len(tables['parameters']), 'parameter')} of how raters differ, from {given['labels']}"]
    results: dict[str, object] = {"model": json.loads(model.to_json())}
    if "draws" in given.values:
        fidelity = model.fidelity(annotations, **given.of(NoiseModel.fidelity))
        tables["fidelity"] = fidelity.to_pandas()
        results["inside"] = int(fidelity.inside.sum())
        lines.append(repr(fidelity).splitlines()[0])
    printed: dict[str, str] = {}
    if "generate" in given.values:
        made = model.generate(annotations, **given.of(NoiseModel.generate))
        tables["events"] = made.by_rater().to_pandas()
        _write(given, "generate", lambda path: write_coco(made.annotations, path, overwrite=True), printed)
        lines.append(f"{given['generate']}: {made!r}")
    if "save" in given.values:
        _write(given, "save", lambda path: write_whole(path, model.to_json(), overwrite=True), printed)
    return Answer("\n".join(lines), results, tables, dict.fromkeys(tables, Order()), printed=printed)


def _write(given: Given, option: str, write: Callable[[Path], object], printed: dict[str, str]) -> None:
    """Write the file of an option, or keep its text for printing."""
    if given[option] != STREAM:
        write(Path(given[option]))
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / option
        write(path)
        printed[option] = path.read_text(encoding="utf-8")


def _model(given: Given) -> NoiseModel | None:
    file = given.get("model")
    if file is None:
        return None
    return NoiseModel.default() if file == "default" else NoiseModel.from_json(Path(file))


def _experiments(given: Given) -> Answer:
    options = {**given.of(run_experiments), "model": _model(given), "progress": given.progress}
    annotations = annotations_of(given, given["labels"])
    result = run_experiments(annotations, **options)
    claims = result.claims()
    rows = [(claim.source, claim.statement, claim.verdict, claim.found) for claim in claims]

    def write(path: Path) -> None:
        from kalos_core.report import Section, Table, experiment_sections, page

        claimed = Table(("KαLOS", "says", "here it", "found"), rows, "Statements of the paper, replicated")
        sections = [Section("", [claimed]), *experiment_sections(result)]
        write_whole(path, page(f"Experiments on {given['labels'].name}", sections))

    text = "\n".join([*map(str, claims), "The plots are in experiments.html; the tables are in the same folder."])
    results = {"claims": [dict(zip(("source", "statement", "verdict", "found"), row, strict=True)) for row in rows]}
    return Answer(text, results, result.tables(), files={"experiments.html": write})


_MODEL = Flag("model", str, "JSON file of a noise model, or 'default' for the built-in model.")

COMMANDS = (
    Command(
        "noise",
        "distributions of how raters differ, and synthetic raters generated from them",
        _noise,
        (LABELS,),
        (
            replace(_MODEL, help=f"{_MODEL.help} By default, a model is fitted to the labels."),
            Flag("save", str, "File for the model, as JSON.", group=OUTPUT, path="new"),
            Flag("generate", str, "COCO file for synthetic raters.", group=OUTPUT, path="new"),
            *options_of(NoiseModel.fit, NoiseModel.generate),
            *(replace(option, default=None) for option in options_of(NoiseModel.fidelity, only=("draws",))),
            *OF_ANNOTATIONS,
        ),
        example="labels.json --reference ann --generate synthetic.json --synthetic-raters 3",
        tables=("parameters", "fidelity", "events"),
    ),
    Command(
        "experiments",
        "experiments on solvers and alpha with synthetic raters and known correspondences (KαLOS §5)",
        _experiments,
        (("labels", "annotations whose first rater is the reference"),),
        (_MODEL, *options_of(run_experiments), *OF_ANNOTATIONS),
        out=Path("experiments"),
        example="labels.json --model default --repeats 1 --magnitudes 1 --counts 2",
        tables=("accuracy", "cases", "loss", "response", "raters", "schools", "stability"),
    ),
)
