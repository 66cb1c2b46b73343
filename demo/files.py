"""Atomic writing of the demo's data set to a folder."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from demo.raters import DESCRIPTION, Labels
from demo.scenes import Scene

IMAGES, LABELS = "images", "labels.json"
QUALITY = 92  # of the JPEG files


def write(folder: str | Path, scenes: Sequence[Scene], labels: Labels) -> Path:
    """Write `images/*.jpg` and `labels.json` into `folder`, and return it.

    Everything is written next to `folder` first and moved there at the end, so a failure leaves
    nothing behind and an earlier demo untouched. A folder that holds anything other than an earlier
    demo is refused.
    """
    target = Path(folder).absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    _refuse_foreign(target)
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        _fill(draft / "new", scenes, labels)
        _swap(draft / "new", target, draft / "old")
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target


def _fill(folder: Path, scenes: Sequence[Scene], labels: Labels) -> None:
    (folder / IMAGES).mkdir(parents=True)
    for scene, image in zip(scenes, labels["images"], strict=True):
        scene.image.save(folder / IMAGES / image["file_name"], quality=QUALITY, subsampling=0)
    text = json.dumps(labels, allow_nan=False, indent=1)
    (folder / LABELS).write_text(text + "\n", encoding="utf-8")


def _swap(new: Path, target: Path, old: Path) -> None:
    """Replace `target` by `new`; if that fails, restore the old one."""
    replaced = target.exists()
    if replaced:
        os.replace(target, old)
    try:
        os.replace(new, target)
    except OSError:
        if replaced:
            os.replace(old, target)
        raise


def _refuse_foreign(target: Path) -> None:
    """Raise unless `target` is free, empty, or holds an earlier demo and nothing else."""
    if not target.exists():
        return
    if not target.is_dir():
        raise NotADirectoryError(f"{target} is a file; the demo needs a folder.")
    names = {entry.name for entry in target.iterdir()}
    if names and not (names == {IMAGES, LABELS} and _is_demo(target)):
        raise FileExistsError(f"{target} holds files that are not an earlier demo; give another folder.")


def _is_demo(folder: Path) -> bool:
    try:
        labels = json.loads((folder / LABELS).read_text(encoding="utf-8"))
        ours = labels["info"]["description"] == DESCRIPTION
        files = {image["file_name"] for image in labels["images"]}
        return ours and {entry.name for entry in (folder / IMAGES).iterdir()} <= files
    except (OSError, ValueError, KeyError, TypeError):
        return False
