"""`python -m kalos_core`: commands on files."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kalos_core.errors import InputError
from kalos_core.noise.model import DEFAULTS, NoiseModel
from kalos_core.readers import read_coco


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns 2, with a message on standard error, where the input cannot be used."""
    options = _parser().parse_args(arguments)
    try:
        options.run(options)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m kalos_core", description="How far raters agree, and where not.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_noise_defaults(commands)
    _add_experiments(commands)
    return parser


def _add_noise_defaults(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("noise-defaults", help="fit the parameters that the noise model is shipped with")
    command.add_argument("path", type=Path, help="COCO file with the annotations of two raters, such as lvis200.json")
    command.add_argument("--out", type=Path, default=DEFAULTS, help=f"where to write them (default: {DEFAULTS})")
    command.set_defaults(run=_noise_defaults)


def _noise_defaults(options: argparse.Namespace) -> None:
    from kalos_core.noise.defaults import default_model
    from kalos_core.report import write_text

    model = default_model(read_coco(options.path), options.path.name)
    write_text(options.out, model.to_json())
    print(f"{options.out}: {len(model.provenance)} distributions")


def _add_experiments(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    text = "what solvers and alpha do on synthetic raters with known correspondences"
    command = commands.add_parser("experiments", help=text, description=f"{text.capitalize()} (KαLOS §5).")
    command.add_argument("path", type=Path, help="COCO file whose first rater is the reference")
    command.add_argument("--out", type=Path, default=Path("experiments"), help="folder for tables and plots")
    command.add_argument("--model", type=Path, help="JSON of a noise model (default: the shipped one)")
    command.add_argument(
        "--repeats", type=int, default=3, help="random draws of each setting of the solvers (default: 3)"
    )
    command.add_argument("--seed", type=int, default=0)
    command.set_defaults(run=_experiments)


def _experiments(options: argparse.Namespace) -> None:
    from tqdm import tqdm

    from kalos_core.figures.experiments import plot_experiments
    from kalos_core.noise.experiments import run_experiments
    from kalos_core.report import Plot, Section, Table, make_folder, page, write_tables, write_text

    model = None if options.model is None else NoiseModel.from_json(options.model)
    annotations = read_coco(options.path)
    make_folder(options.out)
    with tqdm(total=100, bar_format="{desc} {bar} {percentage:.0f} % {elapsed}") as bar:

        def progress(share: float, label: str) -> None:
            bar.set_description_str(label)
            bar.update(100 * share - bar.n)

        result = run_experiments(annotations, model, repeats=options.repeats, seed=options.seed, progress=progress)
    write_tables(options.out, result.tables())
    claims = result.claims()
    written = options.out / "experiments.html"
    rows = [(claim.source, claim.statement, claim.verdict, claim.found) for claim in claims]
    sections = [Section("", [Table(("KαLOS", "says", "here it", "found"), rows)])]
    sections += [Section(heading, [Plot(figure)]) for heading, figure in plot_experiments(result).items()]
    write_text(written, page(f"Experiments on {options.path.name}", sections))
    for claim in claims:
        print(claim)
    print(f"{written}: plots; the tables are next to it")


if __name__ == "__main__":
    sys.exit(main())
