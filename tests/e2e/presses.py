"""Presses of the pointer and of keys, counted as a person makes them, and the way of the focus."""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page

# Every real press counts, also one that only puts the cursor somewhere; a key that is held with another does not.
# At the document: what Playwright takes back at the window, and presses again, because the page moved under the
# pointer, does not come to it.
COUNT = """
for (const [event, name] of [["pointerdown", "clicks"], ["keydown", "keys"]])
  document.addEventListener(event, (press) => {
    if (press.isTrusted && !["Control", "Shift"].includes(press.key))
      sessionStorage[name] = Number(sessionStorage[name] ?? 0) + 1;
  }, true);"""


@dataclass(frozen=True)
class Presses:
    """The presses of pointer and keys on one page; its tab keeps them from screen to screen."""

    page: Page

    def clicks(self) -> int:
        return int(self.page.evaluate("Number(sessionStorage.clicks ?? 0)"))

    def keys(self) -> int:
        return int(self.page.evaluate("Number(sessionStorage.keys ?? 0)"))

    def forget(self) -> None:
        self.page.evaluate("delete sessionStorage.clicks; delete sessionStorage.keys")


def tab_to(page: Page, name: str, role: str = "button", *, key: str = "Tab") -> None:
    """Press Tab, or another key, until the focus is on what a screen reader announces by this name."""
    tab_to_element(page, page.get_by_role(role, name=name).first, key=key)  # type: ignore[arg-type]


def tab_to_element(page: Page, wanted: Locator, *, key: str = "Tab") -> None:
    """Press a key until the focus is on an element or within it, also in the shadow of a component."""
    wanted.wait_for()
    for _ in range(80):
        page.keyboard.press(key)
        if wanted.evaluate("element => element.contains(element.getRootNode().activeElement)"):
            return
    raise AssertionError(f"{wanted} is not reached by {key}")
