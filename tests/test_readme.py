"""The README's Python examples run, and what it names is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)


@pytest.fixture
def labels(tmp_path, monkeypatch):
    """What the examples read: labels.json and images/, in the current folder."""
    from demo.files import IMAGES, write
    from demo.raters import simulate
    from demo.scenes import draw_scenes

    scenes = draw_scenes(count=3)
    folder = write(tmp_path / "demo", scenes, simulate(scenes))
    (folder / IMAGES).rename(folder / "images")
    monkeypatch.chdir(folder)


@pytest.mark.filterwarnings("ignore:label convergence is .* mAP on all:kalos_core.KalosWarning")
@pytest.mark.filterwarnings("ignore:.* annotations reach beyond their image:kalos_core.KalosWarning")
@pytest.mark.usefixtures("labels")
def test_python_examples_run():
    assert len(EXAMPLES) == 3
    names = {}
    for example in EXAMPLES:
        exec(example, names)
    names["loaded"].dataset.delete()


@pytest.mark.parametrize("path", re.findall(r"!\[[^]]*\]\(([^)]+)\)", README))
def test_pictures_exist(path):
    assert (ROOT / path).is_file()


def test_operators_and_functions_named_exist():
    import kalos_core.fiftyone as kf

    named = set(re.findall(r"\*\* \(`(\w+)`\)", README)) | set(re.findall(r"kf\.(\w+)", README))
    assert {"load_raters", "compute_agreement", "find_variations", "delete_run", "load_run"} <= named
    assert all(hasattr(kf, name) for name in named)


def test_make_targets_named_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make (\w+)", README)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
