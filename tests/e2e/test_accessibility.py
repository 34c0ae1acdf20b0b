"""Screens, light and dark, have no serious fault that axe-core finds, but for those of the framework."""

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from core.ui.frame import menu
from tests.e2e.conftest import Visit, settled

AXE: Final = Axe()
# A colour that is on its way from light to dark is neither, nor is that of a part which a run was about to draw anew.
AT_REST: Final = """() => document.getAnimations()
    .every(each => each.playState !== "running" || each.effect.getComputedTiming().endTime === Infinity)"""
SERIOUS: Final = frozenset({"serious", "critical"})
# Streamlit's own menu groups its links in sections that are not list items; by the rule, and a part of the markup.
OF_THE_FRAMEWORK: Final = (("list", 'data-testid="stSidebarNavItems"'), ("listitem", '<li class="st-emotion-cache'))
# Where each hidden screen of a record is opened from.
LISTS: Final = {
    "purchases": "purchase",
    "customers": "customer",
    "search": "policy",
    "movements": "movement",
    "products": "product",
}
# Whose eyes a section is looked at with, where not an admin's.
BY: Final = {"Compliance": "compliance"}
SHOWN: Final = [screen for screen in menu.SCREENS if not screen.hidden]


def faults(page: Page, **options: Any) -> Iterator[str]:
    """Find what is wrong for a person with a screen reader, low vision or no mouse."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE.axe_script)
    # Without `resultTypes` everything that is right comes over as well, megabytes of each page.
    found: Any = page.evaluate("options => axe.run(options)", {"resultTypes": ["violations"], **options})
    for fault in found["violations"]:
        for node in fault["nodes"] if fault["impact"] in SERIOUS else ():
            if not any(fault["id"] == rule and part in node["html"] for rule, part in OF_THE_FRAMEWORK):
                yield f"{fault['id']}: {node['target']} {node['html'][:150]}"


def faults_of_either_look(page: Page) -> list[str]:
    """Find the faults of a page in light, and those of its colours in dark."""
    in_light = look(page, "light")
    in_dark = [f"dark {fault}" for fault in look(page, "dark", runOnly=["color-contrast"])]
    page.emulate_media(color_scheme="light")
    return in_light + in_dark


def look(page: Page, scheme: Literal["light", "dark"], **options: Any) -> list[str]:
    page.emulate_media(color_scheme=scheme)
    expect(page.locator("html, body, .stApp").last).to_have_css("color-scheme", scheme)
    page.wait_for_function(AT_REST)
    return list(faults(page, **options))


def open_by_menu(page: Page, screen: menu.Screen) -> None:
    """Open a screen by its link, without loading the application anew for each."""
    # A claim officer's queue has its count beside its name.
    name = re.compile(rf"^{re.escape(screen.title)}( \(\d+\))?$")
    page.get_by_role("navigation", name="App pages").get_by_role("link", name=name).click()
    expect(page).to_have_title(re.compile(rf"(^|\) ){re.escape(screen.title)} ·"))
    settled(page)


@pytest.mark.exhaustive
def test_no_screen_has_a_serious_fault(visit: Visit, page: Page) -> None:
    assert faults_of_screens(visit, page, SHOWN) == {}


def faults_of_screens(visit: Visit, page: Page, screens: Iterable[menu.Screen]) -> dict[str, list[str]]:
    """Find the faults of some screens, and of the record behind the first row of those in `LISTS`."""
    page.emulate_media(color_scheme="light")
    found, now = {}, ""
    for screen in screens:
        if (who := BY.get(screen.section, "admin")) != now:
            page.context.clear_cookies()
            visit(who, f"/{screen.address}")
            now = who
        open_by_menu(page, screen)
        found[screen.address] = faults_of_either_look(page)
        if screen.address in LISTS:
            page.locator("a.record").first.click()
            page.wait_for_url(f"**/{LISTS[screen.address]}?**")
            settled(page)
            found[LISTS[screen.address]] = faults_of_either_look(page)
    return {screen: wrong for screen, wrong in found.items() if wrong}
