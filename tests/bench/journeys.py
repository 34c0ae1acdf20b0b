"""`python -m tests.bench.journeys [URL]`: what a person waits for, measured in a browser against a running desk.

A step lasts from the click, as the browser gets it, until the last change of the page or of a chart's canvas before it
rests: no script of the screen runs, and nothing was drawn for a while. Each is done `ROUNDS` times; the medians are
printed beside what is to be reached. The account is COVERDESK_BENCH_EMAIL with COVERDESK_DEMO_PASSWORD; by default the
demonstration's operations.

Two whole journeys follow, each in a session of its own, with its clicks: a manager's morning from the dashboard to a
file of what fell, and an officer's claim from the queue, where the next is taken, to the form of its decision.
"""

import os
import re
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import median
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright
from rich.console import Console
from rich.table import Table

ROUNDS, WALKS = 9, 3
EMAIL: Final = os.environ.get("COVERDESK_BENCH_EMAIL", "operations@coverdesk.example")
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Journey:
    """A whole piece of work of one person: steps that follow each other on one page, each a click."""

    name: str
    role: str
    before: str
    steps: Mapping[str, Callable[[Page], None]]


def _download(page: Page) -> None:
    page.get_by_role("link", name=re.compile("for spreadsheets|CSV")).first.click()
    page.get_by_text("Export receipt").first.wait_for()


# The lists of what moved stand in light components, one below the other; the last row of distributors fell most.
JOURNEYS: Final = (
    Journey(
        name="A manager's morning",
        role="operations",
        before="/purchases",
        steps={
            "dashboard": _link("Dashboard"),
            "what fell most among distributors": lambda page: page.locator("a.record[href*=distributor]").last.click(),
            "its purchases": lambda page: page.get_by_role("link", name=re.compile("^See these .* purchases")).click(),
            "formats of the file": lambda page: page.locator('[class*="st-key-export_formats"] button').first.click(),
            "the file": _download,
        },
    ),
    Journey(
        name="An officer's claim",
        role="claims",
        before="/tasks",
        steps={
            "queue": lambda page: page.get_by_role("link", name=re.compile("Queue")).first.click(),
            "the next claim, taken": lambda page: page.get_by_role("button", name="Take next").click(),
            "Decline": lambda page: page.get_by_role("button", name="Decline", exact=True).click(),
        },
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
        page.close()
        walked = [(journey, [_walk(browser, url, journey) for _ in range(WALKS)]) for journey in JOURNEYS]
        browser.close()
    out = Console(width=110)
    out.print(table_of(found))
    for journey, walks in walked:
        out.print(_describe(journey, walks))


def _describe(journey: Journey, walks: Sequence[Mapping[str, float]]) -> str:
    """Return a journey in a line: its clicks, the seconds that were waited for, and those of each step."""
    steps = {name: median(walk[name] for walk in walks) / 1000 for name in journey.steps}
    timings = ", ".join(f"{name} {seconds:.2f}" for name, seconds in steps.items())
    return f"{journey.name}: {len(steps)} clicks, {sum(steps.values()):.2f} s waited in all ({timings})"


def _walk(browser: Browser, url: str, journey: Journey) -> dict[str, float]:
    """Return the milliseconds of each step of a journey, by its name; a browser's context of its own."""
    with closing(browser.new_context(base_url=url, viewport={"width": WIDTH, "height": HEIGHT})) as context:
        page = context.new_page()
        _sign_in(page, f"{journey.role}@coverdesk.example")
        page.goto(journey.before)
        _rest(page)
        return {name: _lasted(page, act) for name, act in journey.steps.items()}


def _sign_in(page: Page, email: str = EMAIL) -> None:
    page.goto("/")
    page.get_by_label("E-mail", exact=True).fill(email)
    page.get_by_label("Password", exact=True).fill(os.environ.get("COVERDESK_DEMO_PASSWORD", "coverdesk-demo"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()


def _measure(page: Page, step: Step) -> float:
    """Return the milliseconds of one step."""
    page.goto(step.before)
    _rest(page)
    return _lasted(page, step.act, step.after)


def _rest(page: Page) -> None:
    page.evaluate(_WATCH)
    page.wait_for_function(_RESTS)
    # What the driver loads into a page for its first look at an element, 75 ms here, nobody waits for.
    page.locator("body").evaluate("() => [1]")


def _lasted(page: Page, act: Callable[[Page], None], after: Callable[[Page], None] = lambda _: None) -> float:
    page.evaluate(_WATCH)
    act(page)
    after(page)
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
