"""What the README names is there; `test_docs` runs its examples."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", re.findall(r"!\[[^]]*\]\(([^)]+)\)", README))
def test_images_exist(path):
    assert (ROOT / path).is_file()


def test_it_stays_short():
    assert len(README.splitlines()) <= 150
    assert README.count("```python") == 3
    assert len(re.findall(r"!\[", README)) == 1


@pytest.mark.parametrize("path", sorted(set(re.findall(r"[^!]\[[^]]*\]\((docs/[^)]+)\)", README))))
def test_links_lead_somewhere(path):
    assert (ROOT / path).is_file()


def test_make_targets_named_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in set(re.findall(r"`?make (\w+)", README)):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
