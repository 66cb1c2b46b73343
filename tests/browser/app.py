"""Actions of a user in the App, by name."""

from __future__ import annotations

import re

from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Locator, Page, TimeoutError, expect

from panels.table import BY_NAME, GROUPS
from tests.browser.conftest import SCREENSHOTS
from tests.browser.windows import SIZE

RATERS = "raters"
"""Panel that contains all sections."""

CHOSEN = re.compile("MuiButton-contained")


def title_of(name: str) -> str:
    """Return the text on the tab of a section."""
    return getattr(BY_NAME[name], "TITLE", "") or name


class App:
    """The App in one window."""

    def __init__(self, page: Page, server: str, *, keeps_pictures: bool) -> None:
        self.page = page
        self.server = server
        self.keeps_pictures = keeps_pictures
        self.opened = ""
        """Name of the data set that the user opened last."""

    def open(self, dataset: str, workspace: str, view: str | None = None) -> None:
        """Open a data set; a workspace says what to open, because the server keeps what was open before."""
        named = f"&view={view}" if view else ""
        self.page.goto(f"{self.server}/datasets/{dataset}?workspace={workspace}{named}")
        expect(self.page.locator('[data-cy="looker"]').first).to_be_visible()
        self.opened = dataset

    def expect_still_open(self) -> None:
        """Check that the window shows the data set that the user opened."""
        if self.opened:
            expect(self.page.get_by_role("textbox", name="Select dataset")).to_have_value(self.opened)

    def picture(self, name: str, readme: str | None = None, of: Locator | None = None) -> None:
        """Save a screenshot if requested, with an element in its centre, and for the README if given."""
        expect(self.page.get_by_text("Pixelating...")).to_have_count(0)
        if of is not None:
            expect(of).to_be_visible()
        if not self.keeps_pictures:  # browsers without a graphics card take most of a second for one
            return
        if of is not None:
            self.scroll_to(of)
        self.page.wait_for_timeout(250)  # wait for animations
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png", animations="disabled")
        if readme:
            (SCREENSHOTS / "readme").mkdir(exist_ok=True)
            shown = Image.open(SCREENSHOTS / f"{name}.png").convert("RGB")
            small = shown.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
            small.save(SCREENSHOTS / "readme" / f"{readme}.png", optimize=True)

    def expect_accessible(self, panel: str) -> None:
        """Check that axe-core finds no violations of WCAG 2.1 AA in a panel."""
        inside = {"include": [[f'[data-cy="panel-content-{panel}"]']]}
        found = Axe().run(self.page, inside, {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
        said = [
            f"{rule['id']}: {node['html'][:200]} {node['failureSummary']}"
            for rule in found.response["violations"]
            for node in rule["nodes"][:3]
        ]
        assert not said, "\n".join(said)

    # ---- grid and sidebar ----

    def expect_count(self, count: int) -> None:
        word = "sample" if count == 1 else "samples"
        expect(self.page.locator('[data-cy="entry-counts"]').first).to_have_text(f"{count} {word}")

    # ---- panels ----

    def panel(self, name: str) -> Locator:
        return self.page.locator(f'[data-cy="panel-content-{name}"]')

    def expect_idle(self, panel: str) -> None:
        """Check that the tab of a panel has no spinner: all requests are answered."""
        expect(self.page.locator(f'[data-cy="panel-tab-{panel}"] .MuiCircularProgress-root')).to_have_count(0)

    def scroll_to(self, element: Locator) -> dict[str, float]:
        """Scroll an element into view and return its final position; plots are redrawn and move until then."""
        before = None
        for _ in range(80):
            element.evaluate("e => e.scrollIntoView({block: 'center'})")
            box = element.bounding_box()
            if box is not None and box == before:
                return box
            before = box
            self.page.wait_for_timeout(200)
        raise AssertionError("what was to be clicked did not come to rest")

    # ---- the panel of sections ----

    def raters(self) -> Locator:
        return self.panel(RATERS)

    def choose_part(self, name: str, *pages: str) -> Locator:
        """Open a section by the tab of its group, and a page of it by its button; return the panel."""
        group = next(group for group, sections in GROUPS.items() if name in (one.NAME for one in sections))
        self.raters().get_by_role("tab", name=group, exact=True).click()
        among = self.raters().get_by_role("radiogroup", name=group, exact=True)
        if among.count():
            among.first.get_by_role("radio", name=title_of(name), exact=True).click()
        self.expect_section(name)
        for page in pages:
            among = self.raters().get_by_role("main").get_by_role("radio", name=page, exact=True)
            among.click()
            expect(among).to_be_checked()
            self.expect_idle(RATERS)
        return self.raters()

    def _press(self, button: Locator) -> None:
        self.expect_idle(RATERS)  # a section that is still loading would redraw
        if not CHOSEN.search(button.get_attribute("class") or ""):
            button.click()
        expect(button).to_have_class(CHOSEN)
        self.expect_idle(RATERS)

    def expect_section(self, name: str) -> None:
        expect(self.raters().get_by_role("main", name=title_of(name), exact=True)).to_be_visible()
        expect(self.raters().get_by_role("status", name="Loading")).to_have_count(0)
        self.expect_idle(RATERS)

    def choose_filter(self, shown: str, entry: str) -> None:
        """Choose an entry from the menu of the filter that shows a text."""
        self.expect_idle(RATERS)
        self.choose_in_menu(RATERS, shown, entry)
        self.expect_idle(RATERS)

    def back(self) -> None:
        self.expect_idle(RATERS)
        self.raters().get_by_role("button", name="Back", exact=True).click()

    def choose_in_menu(self, panel: str, shown: str, entry: str) -> None:
        """Choose an entry from the drop-down that shows a text."""
        self.panel(panel).get_by_role("combobox").filter(has_text=shown).click()
        self.page.get_by_role("option", name=entry, exact=True).click()

    def expect_nothing_cut_off(self, panel: str) -> None:
        """Check that no element of a panel is wider than its container, unless it scrolls, such as large matrices."""
        assert not (found := self.cut_off(panel)), found

    def cut_off(self, panel: str) -> list[str]:
        """Return elements that are wider than their container."""
        wide: list[str] = self.panel(panel).evaluate(
            """root => [root, ...root.querySelectorAll('*')]
                .filter(e => !e.closest('svg, .js-plotly-plot, .MuiSlider-root, .MuiSwitch-root, [data-scrolls]'))
                .filter(e => e.clientWidth > 0)
                .filter(e => e.scrollWidth > e.clientWidth + 1)
                .filter(e => getComputedStyle(e).display !== 'inline')
                .filter(e => !e.closest('[role=combobox]'))  // a closed menu shortens what its list shows whole
                .map(e => `${e.tagName} ${e.scrollWidth} > ${e.clientWidth}: ${e.innerText.slice(0, 60)}`)
            """
        )
        beyond: list[str] = self.panel(panel).evaluate(
            """root => { const right = root.getBoundingClientRect().right + 1;
                return [...root.querySelectorAll('.js-plotly-plot text, td, th, p, button')]
                    .filter(e => !e.closest('[data-scrolls]'))
                    .filter(e => e.getBoundingClientRect().width > 0 && e.getBoundingClientRect().right > right)
                    .map(e => e.textContent) }"""
        )
        return [*wide, *beyond]

    def use_light_theme(self) -> None:
        self.page.locator('button[title="Light mode"]').click()
        expect(self.page.locator('button[title="Dark mode"]')).to_be_visible()

    # ---- operators ----

    def start_operator(self, label: str) -> Locator:
        """Choose an operator from the list that the key ` opens; return its form."""
        listed = self.page.locator('[data-cy="operators-browser"]')
        for _ in range(10):
            self.page.evaluate("document.activeElement.blur()")
            self.page.keyboard.press("Backquote")
            try:
                listed.wait_for(timeout=2_000)
                break
            except TimeoutError:  # the App does not listen until it is ready
                continue
        self.page.keyboard.type(label)
        listed.get_by_text(label).first.click()
        return self.form()

    def form(self) -> Locator:
        form = self.page.locator('[data-cy="operators-prompt-modal"]')
        expect(form.get_by_role("button", name="Execute")).to_be_visible()
        return form

    def fill(self, form: Locator, label: str, text: str) -> Locator:
        """Fill in the input below a label of a form."""
        field = form.get_by_text(label, exact=True).locator("xpath=following::input[1]")
        field.fill(text)
        return field

    def finish(self) -> None:
        """Click Done once, and check that no dialog is left."""
        self.page.get_by_role("button", name="Done").click()
        expect(self.page.locator("[role=dialog]")).to_have_count(0)

    # ---- the open sample ----

    def sample_panel(self) -> Locator:
        """Return the panel next to the open sample, side by side with the image."""
        self.page.locator('#modal [data-cy="panel-tab-sample"]').click()
        self.page.locator('#modal button[title="Split horizontally"]').first.click()
        expect(self.page.locator('#modal [data-cy="sample-canvas"]').first).to_be_visible()
        panel = self.page.locator('#modal [data-cy="panel-content-sample"]')
        expect(panel).to_be_visible()
        return panel

    def close_sample(self) -> None:
        self.page.mouse.click(10, SIZE["height"] / 2)  # next to it
        expect(self.page.locator('[data-cy="modal"]')).to_have_count(0)

    def expect_open_sample(self, path: str) -> None:
        entry = self.page.locator('#modal [data-cy="sidebar-entry-filepath"]')
        expect(entry).to_contain_text(re.compile(re.escape(path)))
