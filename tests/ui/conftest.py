"""Screens in process: the UI script with a person of some roles in front of it."""

import functools
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pandas as pd
import pytest
import streamlit as st
from streamlit.components.v2 import manifest_scanner
from streamlit.testing.v1 import AppTest

from core import ids
from core.services.people.staff import Person
from core.settings import ROOT
from core.store.access import Store
from core.ui.frame import menu
from core.ui.kit import check_runs
from tests.conftest import fresh_store
from tests.pages import turn_to

Screen = Callable[..., AppTest]


def person_of(*roles: str) -> Person:
    return Person(
        id=ids.new(), email="somebody@coverdesk.example", name="Some_body *Bold*", roles=roles, claim_limit_minor=None
    )


@pytest.fixture
def store(
    request: pytest.FixtureRequest, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """The store behind a screen.

    That every screen opens on both databases is `test_every_screen.py`, and what it reads and writes is tested with the
    services; `make test-everything` runs every test of the screens on both.
    """
    with fresh_store(request, database, tmp_path, monkeypatch) as made:
        yield made
        if run := check_runs.latest(made):  # one that a screen has begun is a reader until its last rule
            run.wait()


@pytest.fixture(autouse=True)
def forget_other_stores() -> None:
    """Let no test see what Streamlit kept of another one's store: those on PostgreSQL have one address."""
    st.cache_data.clear()


@pytest.fixture
def screen(store: Store, monkeypatch: pytest.MonkeyPatch) -> Screen:
    """Opens a page for a person with these roles, or for `signed_in`, as a link does: by its path and its query.

    Without a path it is the home of the person. ValueError if their menu lacks the page.
    """

    def open_(
        *roles: str, path: str | None = None, signed_in: Person | None = None, **query: str | list[str]
    ) -> AppTest:
        person = signed_in or (person_of(*roles) if roles else None)
        monkeypatch.setattr("core.ui.frame.frame.current", lambda: person)
        at = AppTest.from_file(str(ROOT / "pages" / "_main.py"), default_timeout=60)
        at.query_params.update(query)
        home = next((shown.path for shown in menu.allowed_screens(person) if not shown.hidden), "") if person else ""
        if path and path != home:
            turn_to(at, path)
        at.run()
        assert not at.exception
        return at

    return open_


@pytest.fixture(scope="session", autouse=True)
def scan_for_components_once() -> Iterator[None]:
    """Let all tests of a process share one search of the installed packages for components.

    Every AppTest reads the metadata of all packages, which takes longer than most pages.
    """
    found = functools.cache(manifest_scanner.scan_component_manifests)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


def confirm(at: AppTest, **fields: str) -> AppTest:
    """Write into fields of the open dialog and confirm it."""
    for name, value in fields.items():
        at.text_input(key=f"decision.field.{name}").set_value(value)
    at.button(key="decision.confirm").click().run()
    assert not at.exception
    return at


def labels(at: AppTest) -> list[str]:
    """Return the labels of the buttons of a page."""
    return [button.label for button in at.button]


def texts(at: AppTest) -> str:
    """Everything that the page says, for looking a sentence up; what Markdown needs escaped is not."""
    kinds = ("title", "subheader", "markdown", "caption", "info", "warning", "error", "success")
    shown = "\n".join(str(element.value) for kind in kinds for element in getattr(at, kind))
    return shown.replace("\\", "").replace(":color[@]", "@")


def address(at: AppTest) -> dict[str, list[str]]:
    """The query of the page, every parameter with all its values."""
    return {name: [value] if isinstance(value, str) else list(value) for name, value in at.query_params.items()}


def press(at: AppTest, label: str) -> AppTest:
    """Press the button of this name."""
    pressed: AppTest = next(button for button in at.button if button.label == label).click().run()
    return pressed


def sent(at: AppTest) -> list[dict[str, Any]]:
    """Return the payloads that the page sends to our components, which only a browser draws."""
    return [json.loads(element.proto.json or element.proto.mixed.json) for element in at.get("bidi_component")]


def lists(at: AppTest) -> list[pd.DataFrame]:
    """Every list of records on the page as the texts of its cells, by heading; the button of a row has a column too."""
    return [_frame(payload) for payload in sent(at) if "rows" in payload]


def _frame(payload: dict[str, Any]) -> pd.DataFrame:
    cells = [[cell if isinstance(cell, str) else cell[0] for cell in row["cells"]] for row in payload["rows"]]
    shown = pd.DataFrame(cells, columns=[column["label"] for column in payload["columns"]], dtype="str")
    if payload["acts"]:
        shown["Act"] = [", ".join(row["acts"]) for row in payload["rows"]]
    return shown


def row_links(at: AppTest, place: int = 0) -> list[str | None]:
    """Return the links of the rows of a list, None where the person may not open them."""
    return [row["href"] for row in [payload for payload in sent(at) if "rows" in payload][place]["rows"]]


def follow(at: AppTest, link: str | None = None) -> AppTest:
    """Go where a link leads to, or where the page itself has just asked the browser to go."""
    link = link or next(payload["href"] for payload in sent(at) if payload.get("href"))
    parts = urlsplit(link)
    address_ = parts.path.strip("/")
    found = (screen.path for screen in menu.SCREENS if screen.address == address_)
    turn_to(at, next(found) if address_ else at.session_state["home_screen"])
    at.query_params.clear()
    for name, values in parse_qs(parts.query).items():
        at.query_params[name] = values
    at.run()
    assert not at.exception
    return at
