"""`python -m tests.bench.journeys [URL]`: what a person waits for, measured in a browser against a running desk.

A step lasts from the click, as the browser gets it, until the last change of the page or of a chart's canvas before it
rests: no script of the screen runs, and nothing was drawn for a while. Each is done `ROUNDS` times; the medians are
printed beside what is to be reached. The account is COVERDESK_BENCH_EMAIL with COVERDESK_DEMO_PASSWORD; by default the
demonstration's operations.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import Final

from playwright.sync_api import Page, sync_playwright
from rich.console import Console
from rich.table import Table

ROUNDS: Final = 9
URL: Final = "http://127.0.0.1:8501"
WIDTH, HEIGHT = 1440, 900
# Milliseconds without a change of the page, after which it rests; not part of what is measured.
QUIET: Final = 500
_WATCH = """() => {
  window.journey = { began: performance.now(), changed: performance.now() };
  const watch = (root) => {
    observer.observe(root, { subtree: true, childList: true, characterData: true });
    if (root.shadowRoot) watch(root.shadowRoot);
    root.querySelectorAll("*").forEach((element) => element.shadowRoot && watch(element.shadowRoot));
  };
  const observer = new MutationObserver((changes) => {
    window.journey.changed = performance.now();
    changes.flatMap((change) => [...change.addedNodes]).forEach((node) => node.querySelectorAll && watch(node));
  });
  window.journeyWatch?.disconnect();
  window.journeyWatch = observer;
  watch(document.body);
  const clicked = () => { window.journey.began = window.journey.changed = performance.now(); };
  document.addEventListener("pointerdown", clicked, { capture: true, once: true });
  if (window.journeyCanvas) return;
  window.journeyCanvas = CanvasRenderingContext2D.prototype.clearRect;
  CanvasRenderingContext2D.prototype.clearRect = function (...where) {
    window.journey.changed = performance.now();
    return window.journeyCanvas.apply(this, where);
  };
}"""
_RESTS = f"""() => document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState === "notRunning"
  && performance.now() - window.journey.changed > {QUIET}"""
_LASTED = "() => window.journey.changed - window.journey.began"


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One thing that a person does: how to come before it, and what to do; `within` is what is to be reached, in ms."""

    name: str
    within: int
    before: str
    act: Callable[[Page], None]
    after: Callable[[Page], None] = lambda _: None


def _charts(page: Page) -> None:
    page.locator(".js-plotly-plot .main-svg").first.wait_for()


def _link(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("link", name=name, exact=True).first.click()


def _filter_by_source(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Request source")).first.click()


STEPS: Final = (
    Step(
        name="Dashboard until its charts rest", within=1000, before="/purchases", act=_link("Dashboard"), after=_charts
    ),
    Step(
        name="Change of period",
        within=700,
        before="/dashboard",
        act=lambda page: page.get_by_role("radio", name="Last month").or_(page.get_by_text("Last month")).first.click(),
    ),
    Step(name="A filter taken away", within=300, before="/purchases?source=api", act=_filter_by_source),
    Step(
        name="Another order, by its header",
        within=300,
        before="/purchases",
        act=lambda page: page.locator("a.order").last.click(),
    ),
    Step(
        name="A record opened", within=400, before="/purchases", act=lambda page: page.locator("a.record").first.click()
    ),
)


def main() -> None:
    """Sign in, measure and print."""
    url = sys.argv[1] if len(sys.argv) > 1 else URL
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(base_url=url, viewport={"width": WIDTH, "height": HEIGHT})
        _sign_in(page)
        found = {step.name: [_measure(page, step) for _ in range(ROUNDS)] for step in STEPS}
        browser.close()
    Console(width=110).print(table_of(found))


def _sign_in(page: Page) -> None:
    page.goto("/")
    page.get_by_label("E-mail", exact=True).fill(
        os.environ.get("COVERDESK_BENCH_EMAIL", "operations@coverdesk.example")
    )
    page.get_by_label("Password", exact=True).fill(os.environ.get("COVERDESK_DEMO_PASSWORD", "coverdesk-demo"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()


def _measure(page: Page, step: Step) -> float:
    """Return the milliseconds of one step."""
    page.goto(step.before)
    page.evaluate(_WATCH)
    page.wait_for_function(_RESTS)
    # What the driver loads into a page for its first look at an element, 75 ms here, nobody waits for.
    page.locator("body").evaluate("() => [1]")
    page.evaluate(_WATCH)
    step.act(page)
    step.after(page)
    page.wait_for_function(_RESTS)
    return float(page.evaluate(_LASTED))


def table_of(found: Mapping[str, list[float]]) -> Table:
    """Return the medians beside what is to be reached."""
    table = Table("step", "median ms", "slowest ms", "to reach ms", title=f"{ROUNDS} rounds, {WIDTH} wide")
    for step in STEPS:
        runs = found[step.name]
        table.add_row(step.name, f"{median(runs):.0f}", f"{max(runs):.0f}", f"{step.within}")
    return table


if __name__ == "__main__":
    main()
