"""A study has the results of its parts, and its page is one file in which text from data is escaped."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image

from kalos_core import Annotations, InputError, agreement, attribute_agreement, label_convergence, variations
from kalos_core.display import with_interval
from kalos_core.report import (
    Figure,
    Items,
    Section,
    Source,
    Study,
    Table,
    Text,
    page,
    steps_of,
    study,
    summary_of,
    write_report,
)
from kalos_core.report.front import LIMITATIONS
from kalos_core.report.look import Ranked, Row
from kalos_core.report.studies import LOCAL

HOSTILE = "</script><img src=x onerror=alert(1)>"
TURNED = "evil\u202egpj.exe"


class Page(HTMLParser):
    """Tags, texts, and content of scripts of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = [("", {})]
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        if self.tags[-1][0] not in ("script", "style"):
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def rows(images: int = 24, raters: str = "abc", **names: str) -> list[dict[str, Any]]:
    """Return cats by all raters; the last labels every third as a dog, and misses every fourth."""
    made = []
    for image in range(images):
        for rater in raters:
            last = rater == raters[-1]
            category = "dog" if last and image % 3 == 0 else "cat"
            box = [10 + image, 10, 30 + (rater == "b"), 30]
            row = {"image": f"/home/me/{image}.jpg", "rater": names.get(rater, rater), "box": box}
            if not last or image % 4:
                made.append({**row, "category": names.get(category, category)})
    return made


def table(found: list[dict[str, Any]] | None = None, **names: str) -> Annotations:
    found = found or rows(**names)
    return Annotations.from_rows(found, image_size={row["image"]: (120, 90) for row in found}, assigned="all")


def written(found: Study, folder: Path, *title: str) -> str:
    write_report(found, folder / "report.html", *title)
    return (folder / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def found() -> Study:
    return study(table(), samples=30, fraction=0.5)


def test_its_numbers_are_those_of_the_functions(found: Study) -> None:
    alone = agreement(table())
    summary = found.summary()
    assert summary["alpha"] == alone.alpha
    assert [summary["alpha_low"], summary["alpha_high"]] == alone.alpha_interval.tolist()
    assert summary["global_alpha"] == alone.global_alpha
    assert summary["notation"] == alone.notation
    counts = variations(table()).counts()
    assert found.variations.counts == counts  # type: ignore[union-attr]
    assert counts["wrong_class"] == 12  # 6 dogs of rater c, against two raters each: images 3, 6, 9, 15, 18, 21
    ceiling = label_convergence(table(), 30, 0.5).whole_convergence
    assert found.convergence.whole.whole_convergence == ceiling  # type: ignore[union-attr]


def test_tables_have_a_row_for_each(found: Study) -> None:
    tables = found.tables()
    names = "data images classes raters pairs sensitivity variations calibration ceiling"
    assert set(tables) == set(names.split())
    assert tables["images"]["image"].tolist()[:2] == ["0.jpg", "1.jpg"]  # no absolute paths
    assert tables["raters"]["rater"].tolist() == ["a", "b", "c"]
    assert len(tables["pairs"]) == 3
    assert all(isinstance(entry, pd.DataFrame) for entry in tables.values())


def test_the_page_says_all_of_it_and_needs_no_network_and_no_script(found: Study, tmp_path: Path) -> None:
    text = written(found, tmp_path, "Cats & dogs")
    seen = Page(text)
    assert "Cats & dogs" in seen.text
    for said in (*(entry.text for entry in found.said), *LIMITATIONS, found.agreement.sums.configuration.notation):
        assert " ".join(said.split()) in seen.text
    chapters = ("In short", "Data", "Agreement", "Threshold", "Differences", "Classes", "Raters", "Ceiling", "Methods")
    for heading in (*chapters, "Limitations", "How the figures are computed"):
        assert f">{heading}</h2>" in text
    assert not {"script", "link", "iframe"} & {tag for tag, _ in seen.tags}
    assert all(str(attrs["src"]).startswith("data:image/jpeg;base64,") for _, attrs in seen.tags if "src" in attrs)
    assert "url(" not in text
    ids = {attrs["id"] for _, attrs in seen.tags if "id" in attrs}
    assert {str(attrs["href"]).removeprefix("#") for _, attrs in seen.tags if "href" in attrs} <= ids
    assert "/home/me" not in text
    drawn = sum(len(kinds) for kinds in found.examples.values()) + len(found.worst)
    assert text.count("data:image/jpeg;base64,") == drawn > 0


def test_everything_that_is_drawn_has_a_name_and_headers_a_scope(found: Study, tmp_path: Path) -> None:
    tags = Page(written(found, tmp_path)).tags
    for tag, attrs in tags:
        if tag == "svg":
            assert attrs.get("aria-hidden") == "true" or (attrs["role"] == "img" and attrs["aria-label"])
        assert tag != "img" or "outlines" in str(attrs["alt"])
        assert tag != "th" or attrs.get("scope") in ("row", "col")
        assert "title" not in attrs  # printed or sent pages have no tooltips
    assert sum(tag == "figure" for tag, _ in tags) > 10


def test_a_report_imports_no_plotly_unless_it_is_asked_for(tmp_path: Path) -> None:
    code = (
        "import sys; from kalos_core import Annotations; from kalos_core.report import study, write_report\n"
        "rows = [{'image': i, 'rater': r, 'category': 'cat', 'box': [0, 0, 9, 9]} for i in range(9) for r in 'abc']\n"
        "found = study(Annotations.from_rows(rows), samples=20)\n"
        "write_report(found, sys.argv[1]); assert 'plotly' not in sys.modules\n"
        "write_report(found, sys.argv[2], interactive=True)"
    )
    still, alive = tmp_path / "still.html", tmp_path / "alive.html"
    subprocess.run([sys.executable, "-c", code, still, alive], check=True)
    text = alive.read_text(encoding="utf-8")
    assert text.count('class="live"') == still.read_text(encoding="utf-8").count("Formula and source") > 8
    assert text.count("<script") == text.count("</script>") == text.count('class="live"') + 2
    scripts = re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    assert not any("click" in script for script in scripts)  # nothing would happen on a page


def test_attributes_have_a_chapter_and_a_table(found: Study, tmp_path: Path) -> None:
    graded = [
        {**row, "attributes": {HOSTILE: row["rater"] == "a" and number % 2 == 0, "age": row["image"], "size": 1e200}}
        for number, row in enumerate(rows())
    ]
    whole = table(graded)
    seen = study(whole, samples=20, fraction=0.5)
    own = attribute_agreement(agreement(whole), HOSTILE)
    assert own.metric == "nominal"
    text = " ".join(with_interval(own.alpha, own.alpha_interval).split())
    page = Page(written(seen, tmp_path))
    assert [of.name for of in seen.graded] == [HOSTILE, "age"]
    assert HOSTILE in page.text
    assert text in page.text
    assert "Left out: values: expected numbers of at most 1e+150" in page.text
    assert seen.tables()["attributes"]["attribute"].tolist() == [HOSTILE] * 3 + ["age"] * 3
    assert "Attributes" not in Page(written(found, tmp_path)).text


def test_names_from_data_are_text(tmp_path: Path) -> None:
    hostile = study(table(a=HOSTILE, cat="<b>**x**", dog=TURNED), samples=20, fraction=0.5)
    text = written(hostile, tmp_path, HOSTILE)
    seen = Page(text)
    assert not [tag for tag, attrs in seen.tags if "onerror" in attrs or (tag == "b")]
    assert HOSTILE in seen.text
    assert "\u202e" not in text
    assert "&amp;#" not in text  # plotly's escapes are text on the page
    write_report(hostile, tmp_path / "alive.html", interactive=True)
    alive = (tmp_path / "alive.html").read_text(encoding="utf-8")
    scripts = re.findall(r'<script type="application/json">(.*?)</script>', alive, re.DOTALL)
    assert len(scripts) == alive.count('class="live"') > 0
    assert not any("<" in script for script in scripts)


def test_an_interactive_page_holds_what_plotly_draws() -> None:
    figure = go.Figure(go.Bar(x=["</script>"], y=np.array([0.5]))).update_layout(height=333)
    blocks = [Text("x"), Items(["1 < 2"]), Table(["a"], [["b"]])]
    form = Ranked("Names", ("name", "value"), [Row("</script>", "0.5", 0.5)])
    sections = [Section("s", [*blocks, Figure(form, "finding", plot=lambda: figure)])]
    made = page("t", sections, interactive=True)
    assert "\\u003c\\u002fscript\\u003e" in made
    assert "height:333px" in made
    assert made.count("</script>") == made.count("<script") == 3
    assert "<script" not in page("t", sections)


class TestImages:
    def test_a_folder_that_is_not_there_is_refused_at_once(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"images: expected an existing folder, got '.*none'"):
            study(table(), images=tmp_path / "none")

    @pytest.mark.parametrize(("there", "said"), [([], "0 of 24 images"), (["0.jpg"], "1 of 24 images")])
    def test_images_that_are_not_in_it_are_counted(self, tmp_path: Path, there: list[str], said: str) -> None:
        made = [{**row, "image": Path(row["image"]).name} for row in rows()]
        for name in there:
            Image.new("RGB", (120, 90)).save(tmp_path / name)
        found = study(table(made), images=tmp_path, samples=20, fraction=0.5)
        assert [text for text in found.doubts if said in text]


def test_alpha_at_the_recommended_threshold_is_that_of_an_agreement_there(found: Study, tmp_path: Path) -> None:
    advice = found.advice
    assert advice is not None
    assert found.calibration.bootstrap == 200  # type: ignore[union-attr]
    if advice.settings is None:
        pytest.fail("expected advice: boxes of one size, apart from each other, have another threshold")
    alone = agreement(table(), **advice.settings)
    shown = with_interval(alone.alpha, alone.alpha_interval)
    assert " ".join(f"alpha would be {shown}".split()) in Page(written(found, tmp_path)).text


@pytest.mark.parametrize(("bootstrap", "said"), [(0, "not checked: calibrated without an interval"), (50, "yes")])
def test_a_threshold_is_trusted_only_with_an_interval(bootstrap: int, said: str, tmp_path: Path) -> None:
    own = study(table(), bootstrap=bootstrap, samples=20, fraction=0.5)
    trusted = [of.trusted for of in own.calibration]  # type: ignore[union-attr]
    text = Page(written(own, tmp_path)).text
    assert said in text or not any(trusted)
    assert ("none is trusted" in text) == (bootstrap == 0)


class TestRatersAreLocal:
    def test_nothing_is_said_per_rater(self, tmp_path: Path) -> None:
        local = replace(table(), raters_are_local=True)
        found = study(local, samples=20, fraction=0.5)
        text = Page(written(found, tmp_path)).text
        assert LOCAL in text
        assert not [said for said in found.said if said.leads_to == "Raters"]
        assert not {"raters", "pairs", "variations"} & set(found.tables())
        assert "detections" not in text.split("How the figures are computed")[0]
        assert not found.examples
        assert LOCAL in plain_markdown(summary_of(found, "Mine"))


def plain_markdown(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def test_a_summary_says_what_the_first_page_says_with_the_rates_of_raters(found: Study) -> None:
    text = plain_markdown(summary_of(found, "Mine", Source("kalos-core report a.json", "f" * 64, "a.json")))
    for line in (*steps_of(found), "SHA-256 " + "f" * 64, "kalos-core report a.json"):
        assert line in text
    (card,) = [card for card in found.cards if card.rater == "c"]
    assert card.counts["missing"] == (6, 24)  # every fourth of 24
    assert "| c | 24 | 18 |" in text
    assert "6 of 24 (25\u00a0%)" in text


def test_a_source_names_its_file_and_digest(tmp_path: Path) -> None:
    path = tmp_path / "labels.json"
    path.write_bytes(b"abc")
    source = Source.of_file(path, "kalos-core report labels.json")
    # from FIPS 180-2, appendix B.1
    assert source.digest == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert (source.of, str(tmp_path) in " ".join(source.lines())) == ("labels.json", False)
