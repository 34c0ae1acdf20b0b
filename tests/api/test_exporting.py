"""The download of an export: who gets it, with which headers, and what stays behind."""

import csv
import hashlib
import io
from decimal import Decimal

import pytest

from core import ids
from core.desk import export_runs
from core.desk.export_runs import ReceiptFilter
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import Portfolio, Sales
from tests.spreadsheets import cells

PATH = "/exports/purchases.csv"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="cookie", of_partner=(Portfolio(seed=5, size=20),))


@pytest.fixture
def cookie(store: Store, partner: Partner) -> dict[str, dict[str, str]]:
    """For each role, the headers of a browser that it is signed in with."""
    found = {}
    with store.writing(Scope.system()) as session:
        for role in ("operations", "finance", "claims", "supervisor", "admin"):
            person = staff.add_or_update(
                session, email=f"{role}@coverdesk.example", name=role, roles=[role], password="x" * 12, actor="tests"
            )
            found[role] = {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, person)}"}
    return found


@every_case("role", ["operations", "finance", "admin"])
def test_who_has_the_purchases_screen_gets_the_file(
    client: Client, cookie: dict[str, dict[str, str]], role: str, store: Store
) -> None:
    receipt_id = ids.new()
    answer = client.get(f"{PATH}?receipt={receipt_id}", headers=cookie[role])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-disposition"].startswith('attachment; filename="purchases-live-')
    assert len(list(csv.reader(io.StringIO(answer.text, newline="")))) == 21
    with store.reading(Scope.system()) as session:
        receipt = export_runs.get_receipt(session, receipt_id)
    assert receipt
    assert (receipt.rows, receipt.who) == (20, f"{role}@coverdesk.example")


def test_strangers_and_other_roles_are_refused(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    assert client.get(PATH).status_code == 401
    assert client.get(PATH, headers={"cookie": f"{sign_in.COOKIE}=made-up"}).status_code == 401
    assert client.get(PATH, headers=cookie["claims"]).status_code == 403


def test_an_api_key_opens_no_export(client: Client, cookie: dict[str, dict[str, str]], partner: Partner) -> None:
    assert client.get(PATH, key=partner.live_key).status_code == 401


def test_a_link_on_another_site_makes_no_file(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert client.get(PATH, headers=cookie["finance"] | {"sec-fetch-site": site}).status_code == status


def test_only_get_makes_a_file(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    for method in ("HEAD", "POST"):
        assert client.request(method, PATH, headers=cookie["finance"]).status_code == 405


def test_the_mode_of_the_address_is_the_mode_of_the_file(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    answer = client.get(f"{PATH}?mode=test", headers=cookie["finance"])
    assert "purchases-test-" in answer.headers["content-disposition"]
    assert answer.text.count("\r\n") == 1


@every_case("query", ["from=2026-02-31", "provider=nope", "receipt=1", "from=2026-02-02&to=2026-02-01"])
def test_what_cannot_be_meant_is_refused_in_words(
    client: Client, cookie: dict[str, dict[str, str]], query: str
) -> None:
    answer = client.get(f"{PATH}?{query}", headers=cookie["finance"])
    assert answer.status_code == 400
    assert "must" in answer.text


def test_a_file_has_the_columns_and_the_order_of_its_address(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    answer = client.get(f"{PATH}?columns=total,created_on&order=smallest", headers=cookie["finance"])
    assert answer.status_code == 200
    heading, *rows = csv.reader(io.StringIO(answer.text, newline=""))
    assert heading == ["total", "created_on"]
    totals = [Decimal(row[0]) for row in rows]
    assert len(totals) == 20
    assert totals == sorted(totals)
    refused = client.get(f"{PATH}?columns=totl&order=cheapest", headers=cookie["finance"])
    assert refused.status_code == 400
    assert "columns has no totl, did you mean total?" in refused.text
    assert "order must be one of newest, oldest, largest" in refused.text


def test_a_second_click_on_the_same_link_gets_a_receipt_of_its_own(
    client: Client, cookie: dict[str, dict[str, str]], store: Store
) -> None:
    link = f"{PATH}?receipt={ids.new()}"
    first, second = (client.get(link, headers=cookie["finance"]) for _ in range(2))
    assert first.content == second.content
    with store.reading(Scope.system()) as session:
        assert export_runs.list_receipts(session, ReceiptFilter()).total_count == 2


ALLOWED = {
    "purchases": {"operations", "finance", "admin"},
    "renewals": {"operations", "finance", "admin"},
    "policies": {"operations", "claims", "admin"},
    "customers": {"operations", "claims", "admin"},
    "claims": {"claims", "supervisor", "admin"},
}


def test_each_kind_goes_to_the_roles_of_its_screen_alone(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    for kind, allowed in ALLOWED.items():
        for role, headers in cookie.items():
            answer = client.get(f"/exports/{kind}.csv?distributor={ids.new()}", headers=headers)
            assert answer.status_code == (200 if role in allowed else 403), (kind, role)
    for file in ("secrets.csv", "purchases.pdf", "purchases"):
        assert client.get(f"/exports/{file}", headers=cookie["admin"]).status_code == 404


def test_a_workbook_is_sent_whole_with_the_hash_of_its_bytes(
    client: Client, cookie: dict[str, dict[str, str]], store: Store
) -> None:
    receipt_id = ids.new()
    answer = client.get(f"/exports/purchases.xlsx?receipt={receipt_id}", headers=cookie["finance"])
    assert answer.status_code == 200
    assert answer.headers["content-type"].endswith("spreadsheetml.sheet")
    assert ".xlsx" in answer.headers["content-disposition"]
    assert len(cells(answer.content)) == 21
    with store.reading(Scope.system()) as session:
        receipt = export_runs.get_receipt(session, receipt_id)
    assert receipt
    assert receipt.sha256 == hashlib.sha256(answer.content).hexdigest()


def test_a_repetition_names_its_first_and_only_of_the_same(
    client: Client, cookie: dict[str, dict[str, str]], store: Store
) -> None:
    first, second = ids.new(), ids.new()
    client.get(f"/exports/purchases.csv?receipt={first}&source=api", headers=cookie["finance"])
    path = f"/exports/purchases.csv?receipt={second}&again={first}"
    assert client.get(path, headers=cookie["finance"]).status_code == 400
    assert client.get(f"{path}&source=api", headers=cookie["finance"]).status_code == 200
    with store.reading(Scope.system()) as session:
        assert [receipt.again_of for receipt in export_runs.list_receipts(session, ReceiptFilter()).items] == [
            first,
            None,
        ]


@every_case("format_", ["csv", "xlsx"])
@every_case(
    ("query", "message"),
    [
        ("providr=x", "providr is not known, did you mean provider?"),
        ("nothing=x", "nothing is not known here, use mode, receipt, again, from, to, provider"),
        ("frm=2026-01-01", "frm is not known, did you mean from?"),
        ("mode=tset", "mode must be live or test"),
        ("%00%0A=x", "\\x00\\n is not known here"),
        # A filter of another list, which would be passed over here.
        ("view=open", "view is not known here"),
    ],
)
def test_an_export_refuses_every_name_that_does_not_narrow_it(
    client: Client, cookie: dict[str, dict[str, str]], format_: str, query: str, message: str
) -> None:
    answer = client.get(f"/exports/purchases.{format_}?{query}", headers=cookie["finance"])
    assert answer.status_code == 400
    assert answer.text.startswith(message)
