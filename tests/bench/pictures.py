"""`python -m tests.bench.pictures [URL] [SCREEN ...]`: pictures of the screens of the demonstration in docs/screens.

The demonstration is made anew in a temporary folder and served there, or is the one at the given address. Every screen
has one picture; those that are named by their addresses, such as `staff`, are made alone. Each is opened by the first
role that may, 1440 by 900 pixels, light. A screen of one record is opened from the first row of the list that leads to
it.
A picture is a WebP file of at most `MOST` bytes; docs/screens/README.md shows them all.
"""

import io
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from core.settings import ROOT
from core.ui.frame.menu import SCREENS, Screen
from tests.e2e.conftest import FLAGS
from tests.e2e.serving import Serving

FOLDER: Final = ROOT / "docs" / "screens"
WIDTH, HEIGHT, MOST = 1440, 900, 120_000
PURCHASES: Final = 20_000
# How long a list may still draw after the script of its screen has ended.
_RESTS: Final = 1_500
_PATIENCE: Final = 300_000
# No place is kept for what is still loaded, and each chart has its drawing.
_IS_DRAWN: Final = """() => {
    const charts = [...document.querySelectorAll('[data-testid="stPlotlyChart"]')];
    return charts.every((chart) => chart.querySelector('.main-svg'))
        && !document.querySelector('[data-testid="stMain"] [data-testid="stSkeleton"]');
}"""
# The list whose rows lead to each screen of one record, where it is not the one of the same section.
LISTS: Final[Mapping[str, str]] = {
    "purchase": "purchases",
    "claim": "queue?view=open",
    "customer": "customers",
    "policy": "search",
    "loan_book": "loan_books",
    "movement": "movements",
    "statement": "statements",
    "payment": "payments?view=payments",
    "payout": "payments?view=payouts",
    "credit_note": "credit_notes",
    "bordereau": "bordereaux",
    "reconciliation": "reconcile",
    "difference": "reconciliation",
    "export": "exports",
    "request": "requests",
    "erasure": "retention",
    "breach": "breaches",
    "complaint": "complaints",
    "filing": "returns",
    "person": "staff",
    "key": "keys",
    "product": "products",
    "rates": "product",
    "distributor": "partners",
    "insurer": "partners?view=insurers",
    "agreement": "distributor",
    "audit_entry": "audit_log",
    "webhook": "webhooks",
    "delivery": "webhook",
}


@contextmanager
def demonstration() -> Iterator[str]:
    """The address of the demonstration that is given, or of one that is made now."""
    if given := next((each for each in sys.argv[1:] if "://" in each), None):
        yield given
        return
    with TemporaryDirectory(prefix="coverdesk-pictures-") as name:
        folder = Path(name)
        os.environ["COVERDESK_DEMO"] = "true"
        serving = Serving(folder)
        coverdesk = Path(sys.executable).with_name("coverdesk")
        for command in (["init"], ["demo", "--purchases", str(PURCHASES)]):
            subprocess.run([coverdesk, *command], cwd=ROOT, env=serving.environment, check=True)
        with serving as url:
            yield url


def sign_in(browser: Browser, url: str, role: str) -> Page:
    """Return a page on which the demonstration's person of a role is signed in."""
    page = browser.new_page(base_url=url, viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
    page.set_default_timeout(_PATIENCE)
    page.goto("/")
    page.get_by_label("E-mail", exact=True).fill(f"{role}@coverdesk.example")
    page.get_by_label("Password", exact=True).fill(os.environ.get("COVERDESK_DEMO_PASSWORD", "coverdesk-demo"))
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()
    return page


def open_screen(page: Page, address: str) -> bool:
    """Open a screen, or that of the first record to which its list leads; False where no record does."""
    if address not in LISTS:
        page.goto(f"/{address}")
        settle(page)
        return True
    source = LISTS[address].partition("?")[0]
    if source in LISTS:
        if not open_screen(page, source):
            return False
    else:
        page.goto(f"/{LISTS[address]}")
        settle(page)
    links = page.locator(f'a[href*="/{address}?"], a[href^="{address}?"]')
    if not links.count():
        return False
    page.goto(str(links.first.get_attribute("href")))
    settle(page)
    return True


def settle(page: Page) -> None:
    """Wait until the screen is drawn."""
    page.get_by_role("button", name="Sign out").wait_for()
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    page.wait_for_timeout(_RESTS)
    page.wait_for_function(_IS_DRAWN)


def keep(picture: bytes, path: Path) -> None:
    """Write a picture as WebP, as good as the bound of its size allows."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    for quality in range(90, 20, -10):
        buffer = io.BytesIO()
        image.save(buffer, "WEBP", quality=quality, method=6)
        if buffer.tell() <= MOST:
            break
    path.write_bytes(buffer.getvalue())


def write_index(shown: Sequence[Screen]) -> None:
    """Write the page that shows every picture by its section."""
    lines = [
        "# The screens",
        "",
        f"One picture of each screen, {WIDTH} pixels wide, of the demonstration. `make pictures` makes them anew.",
    ]
    for section, screens in groupby(sorted(shown, key=lambda each: each.section), key=lambda each: each.section):
        lines += ["", f"## {section}"]
        for screen in screens:
            lines += ["", f"### {screen.title}", "", f"![{screen.title}]({screen.address}.webp)"]
    (FOLDER / "README.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Make every picture or those that are named, role by role, and say which screens had no record to show."""
    FOLDER.mkdir(exist_ok=True)
    shown: list[Screen] = []
    named = {each for each in sys.argv[1:] if "://" not in each}
    if unknown := named - {screen.address for screen in SCREENS}:
        sys.exit(f"There is no screen {', '.join(sorted(unknown))}")
    wanted = [screen for screen in SCREENS if not named or screen.address in named]
    with demonstration() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=FLAGS)
        for role, screens in groupby(sorted(wanted, key=lambda each: each.roles[0]), key=lambda each: each.roles[0]):
            page = sign_in(browser, url, role)
            for screen in screens:
                if open_screen(page, screen.address):
                    keep(page.screenshot(), FOLDER / f"{screen.address}.webp")
                    shown.append(screen)
                else:
                    sys.stdout.write(f"no record: {screen.title}\n")
            page.close()
        browser.close()
    if not named:
        write_index(shown)
    sys.stdout.write(f"{len(shown)} pictures in {FOLDER}\n")


if __name__ == "__main__":
    main()
