"""Presses that take a typed text and those that do not, on a page of one area: runs come when the test says so."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from core.settings import ROOT

NOTE = "The bank calls back on Monday."
SCRIPTS = "\n".join(
    (ROOT / "core" / "ui" / "browser" / name).read_text() for name in ("typed_notes.js", "kept_texts.js")
)
AREA = '<div data-testid="stTextArea"><textarea aria-label="What to say"></textarea></div>'
PAGE = f"""<!doctype html><div data-testid="stMain">
<button role="tab">Talk</button> <button>Save the note</button> <div class="st-key-note">{AREA}</div></div>
<script>window.coverdesk = {{ person: "jo" }};
function isRunning() {{ return false; }}
{SCRIPTS}
listenForTexts();</script>"""
# As soon as the text is put back, a button is pressed, and the run that follows draws the area anew without it.
PRESS = """([name, said]) => new Promise(pressed => {
  (function look() {
    const area = document.querySelector("textarea");
    if (area.value !== said) return requestAnimationFrame(look);
    [...document.querySelectorAll("button")].find(button => button.textContent === name).click();
    const anew = area.cloneNode();
    anew.value = "";
    area.replaceWith(anew);
    pressed();
  })();
})"""

# Another page is opened and left by Back before anything that looks from time to time has seen it.
LEAVE_AND_RETURN = """() => {
  const here = location.href;
  history.pushState({}, "", "/tasks");
  history.replaceState({}, "", here);
  dispatchEvent(new PopStateEvent("popstate"));
  const anew = document.querySelector("textarea").cloneNode();
  anew.value = "";
  document.querySelector("textarea").replaceWith(anew);
}"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose text was typed before it was loaded anew."""
    context = browser.new_context()
    opened = context.new_page()
    opened.route("**/*", lambda route: route.fulfill(body=PAGE, content_type="text/html"))
    opened.goto("http://127.0.0.1/claim?id=1")
    opened.get_by_label("What to say").fill(NOTE)
    opened.reload()
    yield opened
    context.close()


def test_a_tab_takes_no_text(page: Page) -> None:
    page.evaluate(PRESS, ["Talk", NOTE])
    expect(page.get_by_label("What to say")).to_have_value(NOTE)
    assert NOTE in str(page.evaluate("JSON.stringify(sessionStorage)"))


def test_a_text_is_put_back_by_a_back_that_comes_at_once(page: Page) -> None:
    expect(page.get_by_label("What to say")).to_have_value(NOTE)
    page.get_by_label("What to say").fill("The bank has called.")
    page.evaluate(LEAVE_AND_RETURN)
    expect(page.get_by_label("What to say")).to_have_value("The bank has called.")


def test_a_button_takes_the_text_with_which_it_was_pressed(page: Page) -> None:
    page.evaluate(PRESS, ["Save the note", NOTE])
    page.wait_for_function("!JSON.stringify(sessionStorage).includes('The bank')")
    expect(page.get_by_label("What to say")).to_have_value("")
