"""`make demo`: load a multi-rater data set, run both analyses, open the App with the panels in place."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from pathlib import Path
from typing import Any

from kalos_core import InputError, KalosWarning

ROOT = Path(__file__).resolve().parent.parent
WORKSPACE = "raters"

WHAT_TO_TRY = """
  Open {address}

  - Agreement: click a bar of the histogram to see its images; click a row of the worst images to open one.
  - Variations: click a bar to see only those labels; click a pair of classes taken for one another.
  - Open a sample and choose the tab "Raters on this sample" (the split icon keeps the picture beside it):
    every object, and what each rater gave it. Choose a row to select its labels.
  - Sidebar: tick raters on and off; filter their labels by {variation}, {unit} or similarity.
  - Operators (key `): load your own labels, new runs, delete runs.

  Your own COCO file:  make demo LABELS=labels.json IMAGES=pictures/

  Press Ctrl+C to stop.
"""


def main() -> int:
    options = _options()
    _use_this_plugin(options.home)
    import fiftyone as fo

    import kalos_core.fiftyone as kf

    warnings.showwarning = _show_warning
    try:
        dataset = _own(options, fo, kf) if options.labels else _drawn(options, fo, kf)
        agreement = kf.compute_agreement(dataset, "agreement", progress=True)
        variations = kf.find_variations(dataset, "variations", progress=True)
    except InputError as error:
        print(f"\n{error}\n", file=sys.stderr)
        return 2
    print(f"\n{agreement.result}")
    print("Findings: " + ", ".join(f"{count:,} {name}" for name, count in variations.figures["counts"].items()))
    _arrange(dataset, agreement, fo)
    if options.no_app:
        return 0
    session = fo.launch_app(
        dataset, spaces=dataset.load_workspace(WORKSPACE), port=options.port, address=options.address, remote=True
    )
    address = f"http://{options.address}:{options.port}"
    print(WHAT_TO_TRY.format(address=address, variation=variations.key, unit=agreement.names.unit), flush=True)
    session.wait(-1)
    return 0


def _show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """Our own warnings as notes; libraries' are not the reader's business here."""
    if issubclass(category, KalosWarning):
        print(f"Note: {message}", file=sys.stderr)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make demo", description=__doc__)
    parser.add_argument("--labels", type=Path, help="a COCO file with several raters, instead of the drawn scenes")
    parser.add_argument("--images", type=Path, help="folder of its pictures")
    parser.add_argument("--home", type=Path, default=ROOT / "artifacts" / "demo", help="where pictures are put")
    parser.add_argument("--address", default="localhost")
    parser.add_argument("--port", type=int, default=5151)
    parser.add_argument("--no-app", action="store_true", help="stop after the analyses")
    return parser.parse_args()


def _use_this_plugin(home: Path) -> None:
    """Let FiftyOne find the plugin, for this session; a setting of the user's own is left alone."""
    if "FIFTYONE_PLUGINS_DIR" in os.environ:
        return
    folder = home / "plugins"
    folder.mkdir(parents=True, exist_ok=True)
    link = folder / "kalos-variation"
    if not link.exists():
        link.symlink_to(ROOT, target_is_directory=True)
    os.environ["FIFTYONE_PLUGINS_DIR"] = str(folder)


def _drawn(options: argparse.Namespace, fo: Any, kf: Any) -> Any:
    """The drawn scenes with four simulated raters."""
    from demo.files import IMAGES, LABELS, write
    from demo.raters import simulate
    from demo.scenes import draw_scenes

    print("Drawing 72 scenes and simulating four raters ...", flush=True)
    scenes = draw_scenes()
    folder = write(options.home / "scenes", scenes, simulate(scenes))
    return _load(folder / LABELS, folder / IMAGES, "kalos-demo", options, fo, kf)


def _own(options: argparse.Namespace, fo: Any, kf: Any) -> Any:
    """A user's own file."""
    return _load(options.labels, options.images, f"kalos-{options.labels.stem}", options, fo, kf)


def _load(labels: Path, images: Path | None, name: str, options: argparse.Namespace, fo: Any, kf: Any) -> Any:
    if fo.dataset_exists(name):  # an earlier demo's
        fo.delete_dataset(name)
    loaded = kf.load_raters(labels, name, images=images, canvas=options.home / "canvas" / name, progress=True)
    print(f"\n{loaded.annotations:,} annotations of {len(loaded.fields)} raters on {loaded.images:,} images.")
    if loaded.missing_pictures:
        print(f"{len(loaded.missing_pictures):,} pictures are missing: grey canvases of the right size stand in.")
    if loaded.crowds:
        print(f"{loaded.crowds:,} crowd regions were left out.")
    return loaded.dataset


def _arrange(dataset: Any, agreement: Any, fo: Any) -> None:
    """The panels beside the grid, one colour per rater, the fields worth seeing switched on."""
    from kalos_core.figures import RATER_COLOURS

    grid, first = fo.Panel(type="Samples", pinned=True), fo.Panel(type="agreement")
    spaces = fo.Space(
        children=[
            fo.Space(children=[grid], active_child=grid.component_id),
            fo.Space(children=[first, fo.Panel(type="variations")], active_child=first.component_id),
        ],
        orientation="horizontal",
    )
    dataset.save_workspace(WORKSPACE, spaces, overwrite=True)
    fields = agreement.label_fields
    dataset.app_config.color_scheme = fo.ColorScheme(
        color_by="field",
        fields=[
            {"path": field, "fieldColor": RATER_COLOURS[number % len(RATER_COLOURS)]}
            for number, field in enumerate(fields)
        ],
    )
    dataset.app_config.active_fields = fo.ActiveFields(paths=[*fields, agreement.names.alpha])
    dataset.save()


if __name__ == "__main__":
    sys.exit(main())
