"""`make demo`: load a multi-rater data set, analyse it, open the App with the panel in place."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalos_core import InputError, KalosError, KalosWarning

if TYPE_CHECKING:
    from demo.scenes import Scene

ROOT = Path(__file__).resolve().parent.parent
WORKSPACE = "raters"

KEY = "first"
"""Key of the analysis."""

PLUGIN = "@kalos/variation"

MADE_HERE = "made by `make demo`"
"""Tag of data sets that a later demo may replace; a data set without it is the user's own."""

WHAT_TO_TRY = """
  Open {address}

  - The panel Raters, at the right: its buttons are sections. Overview lists the findings; click a sentence to see its
    evidence, and Back to return.
  - Classes: click the hardest one; the grid shows its images, worst first. The filter applies to all sections.
    Clear removes the filter.
  - Raters: one scorecard per rater; click it for typical confusions, examples, and a feedback sheet to print.
  - Decide: open the next dispute. The tab "Raters on this sample", next to the open sample (the split icon keeps the
    image next to it), lists the annotations of all raters for this object, with buttons to decide.
  - Edit a label in FiftyOne's Annotate tab; then Runs: Update, and Compare shows what it changed.
  - Sidebar: tick raters on and off; filter their labels by {variation}, {unit} or similarity.
  - Operators (key `): load your own labels, new runs, delete runs.

  Your own COCO file:  make demo LABELS=labels.json IMAGES=images/ (more variables: see the Makefile)

  Press Ctrl+C to stop.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options(arguments)
    _use_this_plugin(options.home)
    import fiftyone as fo

    import kalos_core.fiftyone as kf

    warnings.showwarning = _show_warning
    _say_if_the_plugin_is_missing()
    try:
        dataset, runs = _make(options, fo, kf)
    except (KalosError, OSError) as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 2
    shown = _shown(kf)
    for name, run in runs.items():
        print(shown[name].headline(run))
    _arrange(dataset, fo)
    if options.no_app:
        return 0
    session = fo.launch_app(
        dataset, spaces=dataset.load_workspace(WORKSPACE), port=options.port, address=options.address, remote=True
    )
    names = {"variation": runs["variations"].names.main, "unit": runs["agreement"].names.unit}
    print(WHAT_TO_TRY.format(address=f"http://{options.address}:{options.port}", **names), flush=True)
    with suppress(KeyboardInterrupt):
        session.wait(-1)
    return 0


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Print our own warnings as notes, and hide those of libraries."""
    if issubclass(category, KalosWarning):
        print(f"Note: {message}", file=sys.stderr)


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--labels", type=Path, help="a COCO file with several raters, instead of the drawn scenes")
    parser.add_argument("--images", type=Path, help="folder of its images")
    parser.add_argument("--category-field", help="annotation field that holds the class as text")
    parser.add_argument("--aliases", help="names the raters wrote -> classes: JSON, or a file that holds it")
    parser.add_argument("--home", type=Path, default=ROOT / "artifacts" / "demo", help="where images are put")
    parser.add_argument("--address", default="localhost")
    parser.add_argument("--port", type=int, default=5151)
    parser.add_argument("--no-app", action="store_true", help="stop after the analyses")
    return parser.parse_args(arguments)


def _use_this_plugin(home: Path) -> None:
    """Let FiftyOne find the plugin in this session; a setting of the user is not changed."""
    if "FIFTYONE_PLUGINS_DIR" in os.environ:
        return
    folder = home / "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "kalos-variation"
    if link.is_symlink() and link.resolve() != ROOT:  # the clone was moved
        link.unlink()
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)
    os.environ["FIFTYONE_PLUGINS_DIR"] = str(folder)


def _say_if_the_plugin_is_missing() -> None:
    from fiftyone.plugins import list_plugins

    if PLUGIN not in [plugin.name for plugin in list_plugins()]:
        print(
            f"Note: {PLUGIN} is not in your FIFTYONE_PLUGINS_DIR ({os.environ['FIFTYONE_PLUGINS_DIR']}), so the App "
            f"opens without its panels. Link {ROOT} into that folder, or unset the variable.",
            file=sys.stderr,
        )


def _make(options: argparse.Namespace, fo: Any, kf: Any) -> tuple[Any, dict[str, Any]]:
    """Create the data set with all analyses, and return their runs. An earlier demo is replaced only at the end."""
    name = f"kalos-{options.labels.stem}" if options.labels else "kalos-demo"
    if fo.dataset_exists(name) and MADE_HERE not in fo.load_dataset(name).tags:
        raise InputError(f"The data set {name!r} was not made by a demo. To run the demo, rename it, or the file.")
    dataset = _own(options, kf) if options.labels else _synthetic(options, kf)
    try:
        runs = _analyse(dataset, kf)
        if fo.dataset_exists(name):
            fo.delete_dataset(name)
        dataset.name = name
    except BaseException:
        dataset.delete()
        raise
    dataset.tags = [MADE_HERE]
    dataset.persistent = True
    dataset.save()
    return dataset, runs


def _analyse(dataset: Any, kf: Any) -> dict[str, Any]:
    """Return the runs of the demo, with their results."""
    settings = {name: demo.settings for name, demo in _shown(kf).items()}
    analysis = kf.analyse(dataset, KEY, kinds=list(settings), settings=settings, progress=True)
    return {name: kf.load_run(dataset, run.key) for name, run in analysis.runs.items()}


def _shown(kf: Any) -> dict[str, Any]:
    """Return the kinds of runs of the demo, and how to create them."""
    return {name: kind.demo for name, kind in kf.KINDS.items() if kind.demo is not None}


def _synthetic(options: argparse.Namespace, kf: Any) -> Any:
    """Create the drawn scenes with four simulated raters."""
    from demo.files import IMAGES, LABELS, write
    from demo.raters import simulate
    from demo.scenes import draw_scenes

    print("Drawing 72 scenes and simulating four raters ...", flush=True)
    scenes = draw_scenes()
    folder = write(options.home / "scenes", scenes, simulate(scenes))
    dataset = _load(kf, folder / LABELS, folder / IMAGES, canvas=None)
    tag_themes(dataset, scenes)
    return dataset


def tag_themes(dataset: Any, scenes: Sequence[Scene]) -> None:
    """Tag the samples as streets, parks, harbours or farmyards."""
    theme_of = {scene.name: scene.theme for scene in scenes}
    dataset.set_values("tags", [[theme_of[Path(path).stem]] for path in dataset.values("filepath")], progress=False)


def _own(options: argparse.Namespace, kf: Any) -> Any:
    """Load a user's own file."""
    canvas = options.home / "canvas" / options.labels.stem
    names = {"category_field": options.category_field, "aliases": _aliases(options.aliases)}
    return _load(kf, options.labels, options.images, canvas=canvas, **names)


def _aliases(given: str | None) -> Any:
    """Read aliases given as JSON, or as a file that holds JSON."""
    if not given:
        return None
    try:
        is_text = given.lstrip().startswith("{")
        return json.loads(given if is_text else Path(given).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"aliases: expected JSON, or a file that holds it, got {given!r}: {error}") from error


def _load(kf: Any, labels: Path, images: Path | None, *, canvas: Path | None, **names: Any) -> Any:
    loaded = kf.load_raters(labels, images=images, canvas=canvas, progress=True, persistent=False, **names)
    print(f"\n{loaded.annotations:,} annotations of {len(loaded.fields)} raters on {loaded.images:,} images.")
    if loaded.missing_images:
        print(f"{len(loaded.missing_images):,} images are missing; grey canvases of the right size replace them.")
    if loaded.crowds:
        print(f"{loaded.crowds:,} crowd regions are stored separately; agreement ignores them.")
    return loaded.dataset


def _arrange(dataset: Any, fo: Any) -> None:
    """Open the panel next to the grid."""
    grid, own = fo.Panel(type="Samples", pinned=True), fo.Panel(type="raters")
    spaces = fo.Space(
        children=[
            fo.Space(children=[grid], active_child=grid.component_id),
            fo.Space(children=[own], active_child=own.component_id),
        ],
        orientation="horizontal",
    )
    dataset.save_workspace(WORKSPACE, spaces, overwrite=True)


if __name__ == "__main__":
    sys.exit(main())
