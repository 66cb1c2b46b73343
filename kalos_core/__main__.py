"""`python -m kalos_core`: what is done with files, from the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from kalos_core.errors import InputError
from kalos_core.noise.model import DEFAULTS
from kalos_core.readers import read_coco


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; 2, and what is wrong with the input on standard error, where it cannot be used."""
    chosen = _parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("python -m kalos_core", description="How far raters agree, and where not.")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    _add_noise_defaults(commands)
    return parser


def _add_noise_defaults(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    command = commands.add_parser("noise-defaults", help="fit the parameters that the noise model is shipped with")
    command.add_argument("path", type=Path, help="COCO file with the marks of two raters, such as lvis200.json")
    command.add_argument("--out", type=Path, default=DEFAULTS, help=f"where to write them (default: {DEFAULTS})")
    command.set_defaults(run=_noise_defaults)


def _noise_defaults(chosen: argparse.Namespace) -> None:
    from kalos_core.noise.defaults import default_model

    model = default_model(read_coco(chosen.path), chosen.path.name)
    chosen.out.write_text(model.to_json(), encoding="utf-8")
    print(f"{chosen.out}: {len(model.provenance)} laws")


if __name__ == "__main__":
    sys.exit(main())
