"""README, documentation and notebooks: examples run as written with the printed output; names exist."""

import ast
import contextlib
import io
import json
import random
import re
import shutil
from importlib import import_module
from inspect import signature
from pathlib import Path

import plotly.graph_objects as go
import pytest
import shapely

from tests.tiers import extended, first

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
EXAMPLE = DOCS / "examples" / "street.json"
WRITTEN = [ROOT / "README.md", *sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "api")]
"""All pages except the API reference, whose examples are in docstrings."""

BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n+```text\n(?P<output>.*?)```)?", flags=re.DOTALL)
"""Example, with its output if that follows directly."""

with_examples = [page for page in WRITTEN if BLOCK.search(page.read_text(encoding="utf-8"))]
PAGES = sorted(with_examples, key=lambda page: page.name not in ("README.md", "decide.md"))
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


def name_of(page):
    return str(page.relative_to(ROOT))


# ---- examples ----


@pytest.fixture
def clone(tmp_path, monkeypatch):
    """Create a folder like the clone's, with only the examples; new data sets are deleted at the end."""
    import fiftyone as fo

    known = set(fo.list_datasets())
    shutil.copytree(EXAMPLE.parent, tmp_path / "docs" / "examples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    yield tmp_path
    for name in set(fo.list_datasets()) - known:
        fo.delete_dataset(name)


@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")  # small files give warnings, which the pages mention
@pytest.mark.parametrize("page", first(PAGES, 2), ids=name_of)
@pytest.mark.usefixtures("clone")
def test_examples_run(page):
    run_page(page)


@extended
@pytest.mark.filterwarnings("ignore::kalos_core.KalosWarning")
@pytest.mark.usefixtures("clone")
def test_examples_run_again_and_in_any_order():
    """Run all pages in one session, each page twice and each block twice in a row, like cells of a notebook."""
    order = PAGES * 2
    random.Random(0).shuffle(order)
    for page in order:
        run_page(page, times=2)


def run_page(page, times=1):
    """Run the blocks of a page, `times` each, and compare their output."""
    names = {"__name__": page.stem}
    for number, block in enumerate(BLOCK.finditer(page.read_text(encoding="utf-8")), 1):
        for _ in range(times):
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(block["code"], f"{name_of(page)}, example {number}", "exec"), names)
            if block["output"] is not None:
                assert printed.getvalue().split() == block["output"].split(), f"{name_of(page)}, example {number}"


def cells_of(path):
    return [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]


def run(cell, names):
    """Run a cell; return the value of its last line, which a notebook displays."""
    tree = ast.parse("".join(cell["source"]))
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last is not None else None


@extended
@pytest.mark.parametrize("path", NOTEBOOKS, ids=name_of)
def test_cells_of_notebooks_print_the_shown_output(path, monkeypatch):
    monkeypatch.chdir(path.parent)
    names = {}
    for number, cell in enumerate(cells_of(path), 1):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            value = run(cell, names)
        shown = "".join("".join(out["text"]) for out in cell["outputs"] if out["output_type"] == "stream")
        assert printed.getvalue().split() == shown.split(), f"{path.name}, cell {number}"
        kinds = [kind for out in cell["outputs"] for kind in out.get("data", {})]
        assert ("image/png" in kinds) == isinstance(value, go.Figure), f"{path.name}, cell {number}"


# ---- names in pages ----


def test_links_lead_somewhere():
    """This includes links in the repository, which are not checked when the site is built."""
    links = [
        (page, target)
        for page in {*WRITTEN, *ROOT.glob("*.md")}
        for target in re.findall(r"\]\((?!https?://)([^)#\s]+)", page.read_text(encoding="utf-8"))
    ]
    assert [(name_of(page), target) for page, target in links if not (page.parent / target).exists()] == []


QUESTIONS = {
    "load": "formats.md",
    "install": "install.md",
    "alpha": "reading-alpha.md",
    "disagrees": "guides/raters.md",
    "about disagreement": "guides/decide.md",
    "better or worse": "guides/compare.md",
    "in CI": "guides/ci.md",
    "without FiftyOne": "install.md",
    "one machine": "distributed.md",
    "cite": "citing.md",
}
"""Words of a question on the first page, and the page that answers it."""


def test_the_first_page_leads_to_every_page_in_two_clicks():
    first_page = DOCS / "index.md"
    reached = {first_page}
    for _ in range(2):
        reached |= {target for page in reached for target in linked(page)}
    pages = {page for page in WRITTEN if page.is_relative_to(DOCS)}
    assert sorted(name_of(page) for page in pages - reached) == []


def linked(page):
    """Pages of the documentation to which a page links."""
    targets = re.findall(r"\]\((?!https?://)([^)#\s]+\.md)", page.read_text(encoding="utf-8"))
    return {path for target in targets if (path := (page.parent / target).resolve()).is_relative_to(DOCS)}


@pytest.mark.parametrize(("words", "page"), QUESTIONS.items(), ids=QUESTIONS)
def test_the_first_page_answers_questions_of_newcomers(words, page):
    lines = [line for line in (DOCS / "index.md").read_text(encoding="utf-8").splitlines() if words in line]
    assert any(f"({page})" in line for line in lines)


def test_the_navigation_lists_every_page_once():
    listed = re.findall(r"([\w/-]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), flags=re.MULTILINE)
    pages = [page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")]
    assert sorted(listed) == sorted(pages)


def test_functions_of_the_bridge_that_pages_name_exist():
    import kalos_core.fiftyone as kf

    operators = re.findall(r"\*\* \(`(\w+)`\)", (DOCS / "app.md").read_text(encoding="utf-8"))
    assert {"analyse", "load_raters", "compute_agreement", "find_variations", "delete_run"} <= set(operators)
    called = [name for page in WRITTEN for name in re.findall(r"\bkf\.(\w+)", page.read_text(encoding="utf-8"))]
    assert [name for name in {*operators, *called} if not hasattr(kf, name)] == []


@pytest.mark.skipif(shapely.geos_version < (3, 12), reason="GEOS before 3.12 leaves other points in a united outline")
def test_the_example_is_what_the_demo_draws():
    from demo.raters import simulate
    from demo.scenes import draw_scenes

    written = json.loads(EXAMPLE.read_text(encoding="utf-8"))
    assert EXAMPLE.stat().st_size < 200_000
    assert written == json.loads(json.dumps(simulate(draw_scenes(count=len(written["images"])))))


# ---- the papers ----

PAPERS = (DOCS / "papers.md").read_text(encoding="utf-8")
MODULES = ("", ".diagnostics", ".convergence", ".noise.experiments", ".sparse", ".nominal", ".pixels", ".ranking")
MODULES += (".figures", ".figures.experiments")
"""Modules that the tables of the papers call."""


def test_calls_of_the_papers_can_be_made():
    found = [entry for module in MODULES for entry in vars(import_module(f"kalos_core{module}")).items()]
    known = {name: value for name, value in found if callable(value)}
    cells = [row.split("|")[-2] for row in re.findall(r"^\| (?:Fig\.|Table) .*\|$", PAPERS, flags=re.MULTILINE)]
    texts = [text for cell in cells for text in re.findall(r"`([^`]*\([^`]*)`", cell) if "dataset" not in text]
    nodes = [node for text in texts for node in ast.walk(ast.parse(text))]
    calls = [node for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    assert calls
    strange = []
    for call in calls:
        allowed = signature(known[call.func.id]).parameters if call.func.id in known else {}
        if len(call.args) > len(allowed) or {entry.arg for entry in call.keywords} - set(allowed):
            strange.append(ast.unparse(call))
        strange += [] if call.func.id in known else [call.func.id]
    assert strange == []
