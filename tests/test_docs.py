"""The README and the pages of the documentation: examples run as written and print what stands below them."""

import ast
import contextlib
import io
import re
import shutil
from functools import partial
from importlib import import_module
from inspect import ismodule
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
EXAMPLE = DOCS / "examples" / "street.json"
WRITTEN = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "api")]
"""All but the API reference, whose examples are those of the docstrings."""

BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n+```text\n(?P<output>.*?)```)?", flags=re.DOTALL)
"""An example, with what it prints if that stands directly below it."""

PAGES = [page for page in WRITTEN if BLOCK.search(page.read_text(encoding="utf-8"))]


def name_of(page):
    return str(page.relative_to(ROOT))


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """A folder like the clone's, with the example file and nothing else of it; new data sets are deleted at the end."""
    (tmp_path / "docs" / "examples").mkdir(parents=True)
    shutil.copy(EXAMPLE, tmp_path / "docs" / "examples")
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    import fiftyone as fo

    for name in {"street"} & set(fo.list_datasets()):
        fo.delete_dataset(name)


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")  # of so small a file; the pages speak of them
@pytest.mark.parametrize("page", PAGES, ids=name_of)
@pytest.mark.usefixtures("clone")
def test_examples_run(page):
    names = {"__name__": page.stem}
    for number, block in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block["code"], f"{name_of(page)}, example {number}", "exec"), names)
        if block["output"] is not None:
            assert printed.getvalue().split() == block["output"].split(), f"{name_of(page)}, example {number}"


@pytest.mark.parametrize("page", [page for page in WRITTEN if page.name != "README.md"], ids=name_of)
def test_links_lead_somewhere(page):
    """In the repository, too, where nothing checks them when the site is built."""
    for target in re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_every_page_in_the_navigation_is_there():
    def pages(entries):
        for entry in entries:
            value = next(iter(entry.values())) if isinstance(entry, dict) else entry
            yield from pages(value) if isinstance(value, list) else [value]

    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    found = list(pages(config["nav"]))
    assert len(found) == len(set(found))
    assert [page for page in found if not (DOCS / page).is_file()] == []


def test_nothing_is_loaded_from_elsewhere():
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    assert config["theme"]["font"] is False
    assert not {"extra_css", "extra_javascript"} & set(config)
    assert "offline" not in config["plugins"]  # it loads a script from elsewhere


def test_the_example_is_what_the_demo_draws():
    import json

    from demo.raters import simulate
    from demo.scenes import draw_scenes

    written = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert EXAMPLE.stat().st_size < 200_000
    assert written == json.loads(json.dumps(simulate(draw_scenes(count=len(written["images"])))))


def documented():
    """What the pages of the API reference document."""
    return {
        target
        for page in (DOCS / "api").glob("*.md")
        for target in re.findall(r"^::: ([\w.]+)", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    }


def test_everything_public_is_in_the_api_reference():
    import kalos_core

    targets = documented()
    for target in targets:  # each is there: a package, a module, or something in one
        owner, _, name = target.rpartition(".")
        found = import_module(owner)
        assert hasattr(found, name) or import_module(target), target
    packages = {path.parent.name for path in (ROOT / "kalos_core").glob("*/__init__.py")} - {"cli", "fiftyone"}
    assert {f"kalos_core.{package}" for package in packages} <= targets
    covered = [import_module(target) for target in targets if f"{target.replace('.', '/')}/" in _folders()]
    elsewhere = {name for package in covered for name in package.__all__}
    assert {f"kalos_core.{name}" for name in set(kalos_core.__all__) - elsewhere} <= targets


def _folders():
    return {f"{path.parent.relative_to(ROOT)}/" for path in (ROOT / "kalos_core").rglob("__init__.py")}


def test_everything_of_the_bridge_is_in_the_api_reference():
    module = ast.parse((ROOT / "kalos_core" / "fiftyone" / "__init__.py").read_text(encoding="utf-8"))
    names = {name.asname for node in module.body if isinstance(node, ast.ImportFrom) for name in node.names} - {None}
    assert {f"kalos_core.fiftyone.{name}" for name in names} == {
        target for target in documented() if target.startswith("kalos_core.fiftyone.")
    }


PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")


def test_every_figure_and_table_of_the_papers_has_a_row():
    kalos, convergence = PAPERS.split("## Label convergence")
    for paper, figures, tables in ((kalos, 30, 6), (convergence, 10, 3)):
        rows = re.findall(r"^\| (Fig\.|Table) (\d+)(?:[–-](\d+))?", paper, flags=re.MULTILINE)
        for kind, last in (("Fig.", figures), ("Table", tables)):
            found = {n for k, low, high in rows if k == kind for n in range(int(low), int(high or low) + 1)}
            assert found == set(range(1, last + 1)), kind


def test_the_operators_of_the_app_page_exist():
    import kalos_core.fiftyone as kf

    named = set(re.findall(r"\*\* \(`(\w+)`\)", (DOCS / "app.md").read_text(encoding="utf-8")))
    assert {"analyse", "load_raters", "compute_agreement", "find_variations", "delete_run"} <= named
    assert all(hasattr(kf, name) for name in named)


def test_what_the_pages_call_exists():
    import kalos_core.fiftyone as kf

    for page in WRITTEN:
        for name in re.findall(r"\bkf\.(\w+)", page.read_text(encoding="utf-8")):
            assert hasattr(kf, name), f"{page.name}: kf.{name}"


@pytest.fixture(scope="module")
def called():
    """What a call in the tables of the papers may name; experiments are short."""
    names = {}
    for module in PLOTTED:
        found = import_module(f"kalos_core{module}")
        names |= {name: value for name, value in vars(found).items() if name[0] != "_" and not ismodule(value)}
    annotations = names["read_coco"](EXAMPLE)
    short = {"magnitudes": (0.5, 1), "raters": (3,)}
    return names | {
        "annotations": annotations,
        "first": annotations.select(raters=["ana", "ben"]),
        "second": annotations.select(raters=["ana", "chen"]),
        "image": annotations.images[0],
        "unit": 0,
        "model": names["NoiseModel"].fit(annotations),
        "label_convergence": partial(names["label_convergence"], samples=20, fraction=0.5),
        "solver_accuracy": partial(names["solver_accuracy"], **short),
        "run_experiments": partial(names["run_experiments"], magnitudes=(0.5, 1), counts=(2, 3), repeats=1),
    }


PLOTTED = ("", ".diagnostics", ".convergence", ".noise.experiments", ".figures", ".figures.experiments")
"""Modules that the tables of the papers call."""

ROWS = [row for row in re.findall(r"^\| (?:Fig\.|Table) .*\|$", PAPERS, flags=re.MULTILINE) if "`" in row]


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_every_call_of_the_papers_runs(row, called):
    for call in re.findall(r"`([^`]*\([^`]*)`", row.split("|")[-2]):
        if "dataset" in call:
            continue  # a function of the bridge: see above
        if "path" in call or '"pose"' in call:  # of data that are not in the repository
            assert call.partition("(")[0] in called
            break
        called["result"] = eval(call, called)
