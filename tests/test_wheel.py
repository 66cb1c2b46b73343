"""Installed content: a library that works without FiftyOne, and the extra that adds it."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_string
from pathlib import Path

import pytest

from kalos_core.extras import EXTRAS
from kalos_core.version import __version__

try:
    import tomllib
except ModuleNotFoundError:  # Python 3.10
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

ALONE = """
import importlib, pkgutil, sys
from pathlib import Path

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"fiftyone", "cattrs", "bson", "pymongo"}:
            raise ImportError(f"{name} is not part of the library's installation")

sys.path.insert(0, sys.argv[1])
sys.meta_path.insert(0, Nothing())
import kalos_core
assert Path(kalos_core.__file__).is_relative_to(sys.argv[1])
names = [found.name for found in pkgutil.walk_packages(kalos_core.__path__, "kalos_core.", onerror=lambda name: None)]
for name in names:
    if not name.startswith("kalos_core.fiftyone") and not name.endswith("__main__"):
        importlib.import_module(name)
from kalos_core import Annotations
from kalos_core.report import study, write_report
rows = [{"image": i, "rater": r, "category": "cat", "box": [0, 0, 9, 9]} for i in range(3) for r in "abc"]
write_report(study(Annotations.from_rows(rows)), sys.argv[2])
"""


def names_of(requirements: list[str]) -> set[str]:
    return {re.split(r"[^\w.-]", line.strip())[0].lower() for line in requirements}


@pytest.fixture(scope="module")
def tracked() -> list[str]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [name for name in listed.split("\0") if (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def source(tracked: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the source distribution, built from the files under version control."""
    folder = tmp_path_factory.mktemp("source")
    for name in tracked:
        copy = folder / "clone" / name
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes((ROOT / name).read_bytes())
    code = f"from setuptools.build_meta import build_sdist; build_sdist({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=folder / "clone", check=True, timeout=300, stdout=subprocess.PIPE)
    (made,) = folder.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(folder)
    return folder / made.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the source distribution, as for a release."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet", "--wheel-dir"]
    subprocess.run([*command, str(folder), str(source)], check=True, timeout=300)
    (made,) = folder.glob("*.whl")
    return made


def test_the_packages_are_whole(source: Path, wheel: Path, tracked: list[str]) -> None:
    in_source = {path.relative_to(source).as_posix() for path in source.rglob("*") if path.is_file()}
    assert {"CHANGELOG.md", "CITATION.cff", "LICENSE", "README.md"} <= in_source
    assert not {name for name in in_source if name.startswith("tests/")}
    library = {name for name in tracked if name.startswith("kalos_core/")}
    with zipfile.ZipFile(wheel) as archive:
        assert library <= in_source & set(archive.namelist())
        assert any(name.endswith(".dist-info/licenses/LICENSE") for name in archive.namelist())
        (about,) = [name for name in archive.namelist() if name.endswith("METADATA")]
        page = message_from_string(archive.read(about).decode())
    assert page.get_all("Project-URL") == [f"{name}, {address}" for name, address in PROJECT["urls"].items()]
    links = re.findall(r'(?:\]\(|(?:src|href)=")([^)"]*)', page.get_payload())
    assert links
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


def test_the_supported_versions_are_those_of_the_package() -> None:
    page = (ROOT / "docs" / "versions.md").read_text(encoding="utf-8")
    oldest, newest = PROJECT["requires-python"].removeprefix(">=").split(",<3.")
    assert f"| Python | {oldest} to 3.{int(newest) - 1} |" in page
    ranges = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]]
    assert {line for line in ranges if line.startswith(("numpy", "fiftyone"))} == set(re.findall(r"`(\w+>=.+?)`", page))


def test_the_install_page_names_the_current_version_of_the_plugin() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    named = re.findall(r"(?:/tree/v|kalos-variation-)(\d+\.\d+\.\d+)", page)
    assert named == [__version__] * 2


def test_messages_about_missing_packages_name_the_requirements_of_the_extra() -> None:
    assert {name: list(needed) for name, needed in EXTRAS.items()} == {
        name: PROJECT["optional-dependencies"][name] for name in EXTRAS
    }


def test_requirements_of_the_plugin_are_those_of_the_library_and_the_app() -> None:
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    listed = sorted(line for line in lines if line and not line.startswith("#"))
    assert listed == sorted([*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["app"]])


def test_the_wheel_needs_no_fiftyone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (about,) = [name for name in names if name.endswith("METADATA")]
        (entries,) = [name for name in names if name.endswith("entry_points.txt")]
        assert "kalos-core = kalos_core.cli:main" in archive.read(entries).decode()
        needed = message_from_string(archive.read(about).decode()).get_all("Requires-Dist") or []
    assert names_of([line for line in needed if "extra ==" not in line]) == names_of(PROJECT["dependencies"])
    assert "fiftyone" in names_of([line for line in needed if 'extra == "app"' in line])
    assert {"kalos_core/py.typed", "kalos_core/noise/defaults.json", "kalos_core/report/page.html"} <= set(names)
    assert {"kalos_core/report/look.html", "kalos_core/cli/results.schema.json"} <= set(names)
    assert {name.partition("/")[0] for name in names if "dist-info" not in name} == {"kalos_core"}


def test_the_wheel_works_without_fiftyone(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    page = tmp_path / "report.html"
    command = [sys.executable, "-I", "-c", ALONE, str(tmp_path / "installed"), str(page)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Raters agree" in page.read_text(encoding="utf-8")
