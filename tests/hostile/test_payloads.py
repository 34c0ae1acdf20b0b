"""Texts of clients are shown as text everywhere: on screens, in files, on certificates and the page that verifies."""

import csv
import io
import itertools
import re
import zipfile
from typing import Any

import pikepdf
import pytest
import sqlalchemy as sa

from core.covers.cover import Cover
from core.covers.registry import COVERS
from core.desk.exported_lists import TITLES, get_kind
from core.services.catalogue import keys
from core.services.claims.workflow import questions
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, Customer, Distributor, Policy, Product, Provider, Purchase, Staff
from core.ui.frame import menu
from tests import papers
from tests.api.claiming import LODGE
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.covers import shipped
from tests.hostile.payloads import FORMULA, HTML, LINKED, MARKDOWN, unescaped
from tests.pages import turn_to
from tests.spreadsheets import cells
from tests.ui.conftest import Screen

pytestmark = pytest.mark.parametrize("database", ["sqlite"])
_plates = itertools.count(100)
# What shows the newest record of which table, by the address of the screen.
SHOWS: dict[str, Any] = {
    "purchase": Purchase,
    "policy": Policy,
    "customer": Customer,
    "claim": Claim,
    "product": Product,
    "rates": Product,
    "distributor": Distributor,
    "insurer": Provider,
    "person": Staff,
}
PARAMETERS = ("find", "email", "policy", "who", "what", "text", "provider", "from", "status", "id", "page", "order")


def hostile(cover: Cover[Any], text: str) -> dict[str, Any]:
    """The example of a cover with a hostile text wherever one is taken, in its items too."""
    body = shipped.body(cover)
    for name, value in body.items():
        if isinstance(value, list) and value and isinstance(value[0], dict):
            body[name] = [{**item, **_taken(cover, body, text, (name, item))} for item in value]
    unique = {name: f"HOST{next(_plates)}" for name in body if name.endswith("registration_number")}
    return {**body, **_taken(cover, body, text), **unique}


def _taken(
    cover: Cover[Any], body: dict[str, Any], text: str, within: tuple[str, dict[str, Any]] | None = None
) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in (within[1] if within else body).items():
        for planted in (text, f"https://e.example/{LINKED}", f"{LINKED}@e.example"):
            changed = {within[0]: [{**within[1], name: planted}]} if within else {name: planted}
            if isinstance(value, str) and name not in found and not shipped.faults(cover.request, body | changed):
                found[name] = planted
    return found


def sell_everything(client: Client, key: str, text: str) -> list[dict[str, Any]]:
    """A sale of every cover with hostile texts; the policies."""
    sold = []
    for cover in COVERS:
        answer = client.post(f"/v1{cover.path}", key=key, json=hostile(cover, text))
        assert answer.status_code == 201, f"{cover.key}: {answer.text}"
        sold.append(answer.json()["data"].get("policy", answer.json()["data"]))
    return sold


def lodge(client: Client, key: str, number: str, file_name: str) -> str:
    """A claim whose papers have a hostile name; its id."""
    fields = {
        "policy_number": number,
        "incident_type": "Loss of job",
        "accidental": "false",
        "loan_offer_date": "2026-08-01",
        "loan_repayment_date": "2027-08-01",
        "loan_amount": "100000",
        "pending_repayment_amount": "75000",
    }
    papers_ = {name: (file_name, papers.pdf()) for name in ("loan_offer_letter", "employment_termination_letter")}
    answer = client.post(LODGE, key=key, data=fields, files=papers_)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["data"]["claim"]["id"]
    return found


@pytest.fixture
def planted(store: Store, client: Client, partner: Partner) -> dict[str, str]:
    """Hostile texts in every kind of record; the id of one for each screen that shows one."""
    credit_life = sell_everything(client, partner.live_key, MARKDOWN)[-1]
    claim_id = lodge(client, partner.live_key, credit_life["meta"]["policy_number"], f"{MARKDOWN}{HTML}.pdf")
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Distributor).values(business_name=MARKDOWN))
        session.execute(sa.update(Product).values(name=MARKDOWN, description=HTML))
        session.execute(sa.update(Provider).values(company_name=MARKDOWN, first_name=MARKDOWN))
        officer = staff.add_or_update(
            session, email="zq@x.example", name=MARKDOWN, roles=["claims"], password="x" * 12, actor=MARKDOWN
        )
        keys.issue_key(session, distributor_id=partner.id, is_live=True, name=MARKDOWN, actor=MARKDOWN)
        person = staff.get_by_email(session, "zq@x.example")
        session.flush()
        questions.ask_claimant(
            session, session.scalars(sa.select(Claim)).one().id, text=f"{MARKDOWN}\n# {HTML}", person=person
        )
        questions.add_comment(
            session, session.scalars(sa.select(Claim)).one().id, text=f"{HTML}\n- {MARKDOWN}", person=person
        )
    with store.reading(Scope.system()) as session:
        shown = {name: str(session.scalars(sa.select(table)).first().id) for name, table in SHOWS.items()}
    return shown | {"claim": claim_id, "person": str(officer)}


def test_hostile_texts_are_text_on_every_screen(
    store: Store, planted: dict[str, str], screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = screen("admin")
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session, email="a@x.example", name=MARKDOWN, roles=["admin"], password="x" * 12, actor="tests"
        )
        admin = staff.get_by_email(session, "a@x.example")
    # A claim that is opened is viewed by somebody who exists.
    monkeypatch.setattr("core.ui.frame.frame.current", lambda: admin)
    for page in menu.SCREENS:
        at.query_params.clear()
        if page.address in planted:
            at.query_params["id"] = planted[page.address]
        turn_to(at, page.path).run()
        if page.address in planted:
            at.query_params["id"] = planted[page.address]
            at.run()
        assert not at.exception, page.path
        assert list(unescaped(at)) == [], page.path


def test_hostile_addresses_of_screens_are_refused_as_text(store: Store, screen: Screen) -> None:
    at = screen("admin")
    for page in menu.SCREENS:
        at.query_params.clear()
        turn_to(at, page.path)
        for name in PARAMETERS:
            at.query_params[name] = f"{MARKDOWN}{HTML}"
        assert not at.run().exception, page.path
        assert list(unescaped(at)) == [], page.path


def test_formulas_arrive_in_no_spreadsheet(store: Store, client: Client, partner: Partner) -> None:
    number = sell_everything(client, partner.live_key, FORMULA)[-1]["meta"]["policy_number"]
    lodge(client, partner.live_key, number, f"{FORMULA}.pdf")
    with store.writing(Scope.system()) as session:
        admin = staff.add_or_update(
            session, email="a@x.example", name=FORMULA, roles=["admin"], password="x" * 12, actor="tests"
        )
        cookie = {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, admin)}"}
        session.execute(sa.update(Distributor).values(business_name=FORMULA))
    planted_in = set()
    for kind in map(get_kind, TITLES):
        text = client.get(f"/exports/{kind.name}.csv", headers=cookie).text
        assert not re.search(r'(^|,)"?=', text, re.MULTILINE), kind.name
        book = client.get(f"/exports/{kind.name}.xlsx", headers=cookie).content
        for file in zipfile.ZipFile(io.BytesIO(book)).namelist():
            assert b"<f>" not in zipfile.ZipFile(io.BytesIO(book)).read(file), f"{kind.name} has a formula"
        shown = [str(cell) for row in cells(book) for cell in row.values()]
        # A cell of text runs nothing, whatever it begins with; Excel's CSV makes constants of figures and nothing else.
        for_excel = client.get(f"/exports/{kind.name}.excel-csv", headers=cookie).content.decode("utf-8-sig")
        begun = [cell for row in csv.reader(io.StringIO(for_excel)) for cell in row if cell.startswith(("=", "@"))]
        assert not [cell for cell in begun if not re.fullmatch(r'="[+0-9 .,:/eE-]+"', cell)], kind.name
        planted_in |= {kind.name for cell in shown if "HYPERLINK" in cell}
    assert planted_in >= {"purchases", "policies", "customers", "claims"}


def test_a_certificate_and_its_page_show_markup_as_text(store: Store, client: Client, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Product).values(name=HTML))
        session.execute(sa.update(Provider).values(company_name=HTML))
    for policy in sell_everything(client, partner.live_key, HTML):
        address = policy["meta"]["certificate_url"]
        if address is None:
            continue
        path = address.removeprefix("http://127.0.0.1:8501")
        page = client.get(path.replace("/certificates/", "/verify/").removesuffix(".pdf"))
        assert page.status_code == 200
        assert "<script>" not in page.text
        assert "<img" not in page.text
        assert "script-src" not in page.headers["content-security-policy"]
        with pikepdf.open(io.BytesIO(client.get(path).content)) as document:
            names = {str(key) for made in document.objects if isinstance(made, pikepdf.Dictionary) for key in made}
            assert not names & {"/JS", "/JavaScript", "/AA", "/Launch", "/EmbeddedFile"}
            links = {str(made["/URI"]) for made in document.objects if "/URI" in getattr(made, "keys", dict)()}
            assert all(link.startswith("http://127.0.0.1:8501/verify/") for link in links), links
