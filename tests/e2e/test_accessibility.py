"""Every screen, light and dark, has no serious fault that axe-core finds, but for those of the framework."""

from collections.abc import Iterator
from typing import Any, Final, Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from core.ui.frame import menu
from tests.e2e.conftest import Visit, settled

SERIOUS: Final = frozenset({"serious", "critical"})
# Streamlit's own menu groups its links in sections that are not list items; by the rule, and a part of the markup.
OF_THE_FRAMEWORK: Final = (("list", 'data-testid="stSidebarNavItems"'), ("listitem", '<li class="st-emotion-cache'))
# Where each hidden screen of a record is opened from.
LISTS: Final = {"purchases": "purchase", "customers": "customer", "search": "policy"}
# Whose eyes a section is looked at with, where not an admin's.
BY: Final = {"Compliance": "compliance"}


def faults(page: Page) -> Iterator[str]:
    """Find what is wrong for a person with a screen reader, low vision or no mouse."""
    found: Any = Axe().run(page).response
    for fault in found["violations"]:
        for node in fault["nodes"] if fault["impact"] in SERIOUS else ():
            if not any(fault["id"] == rule and part in node["html"] for rule, part in OF_THE_FRAMEWORK):
                yield f"{fault['id']}: {node['target']} {node['html'][:150]}"


@pytest.mark.parametrize("look", ["light", "dark"])
def test_no_screen_has_a_serious_fault(visit: Visit, page: Page, look: Literal["light", "dark"]) -> None:
    page.emulate_media(color_scheme=look)
    found, now = {}, ""
    for screen in menu.SCREENS:
        if screen.hidden:
            continue
        if (who := BY.get(screen.section, "admin")) != now:
            page.context.clear_cookies()
            visit(who, f"/{screen.address}")
            now = who
        page.goto(f"/{screen.address}")
        settled(page)
        found[screen.address] = list(faults(page))
        if screen.address in LISTS:
            page.locator("a.record").first.click()
            page.wait_for_url(f"**/{LISTS[screen.address]}?**")
            settled(page)
            found[LISTS[screen.address]] = list(faults(page))
    assert {screen: wrong for screen, wrong in found.items() if wrong} == {}
