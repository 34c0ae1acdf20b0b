"""Loan books over the API: uploaded, followed, confirmed and given up by the lender's own key (contract B7)."""

import io
from datetime import date
from typing import Any

import httpx
import pytest
from python_calamine import CalamineWorkbook

from core.api.http import forms
from core.dispatch import loan_books as worker
from core.services.audit import log
from core.services.people import credentials, sign_in
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.api.selling import UNKNOWN
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.loan_books import FORM, Lender, as_csv, loan, person

pytestmark = pytest.mark.frozen_at(shipped.STILL)
PATH = "/v1/loan-books"


def read_rows(content: bytes) -> list[list[Any]]:
    return CalamineWorkbook.from_filelike(io.BytesIO(content)).get_sheet_by_index(0).to_python()


def test_who_of_the_desk_took_a_report_stands_in_the_log(client: Client, store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    book = lender.read(as_csv([loan(1), loan(2, loan_tenure_months="1")]))
    cookies = {}
    for role in ("operations", "claims"):
        staff_id = person(store, role, role).id
        with store.writing(Scope.system()) as session:
            token = credentials.open_session(session, staff_id)
        cookies[role] = {"cookie": f"{sign_in.COOKIE}={token}"}
    address = f"/loan-books/{book.id}.csv?mode=test"
    taken = client.get(address, headers=cookies["operations"])
    assert (taken.status_code, taken.text.count("\r\n")) == (200, 3)
    # Neither who may not see it, nor what is no report, is said to have taken it.
    assert client.get(address, headers=cookies["claims"]).status_code == 403
    assert client.get(f"/loan-books/{book.id}.pdf?mode=test", headers=cookies["operations"]).status_code == 404
    with store.reading(Scope.system()) as session:
        entries = log.list_history(session, f"loan_book {book.id}")
    assert [(each.actor, each.after) for each in entries if each.action == "loan book report taken"] == [
        ("staff operations@desk.example", {"status": "validated", "format": "csv", "rows": 2})
    ]


def require_taken(store: Store, book_id: str, *formats: str) -> None:
    """The key that uploaded a done book of two rows is noted as having taken it in these formats."""
    with store.reading(Scope.system()) as session:
        entries = log.list_history(session, f"loan_book {book_id}")
    key = next(each.actor for each in entries if each.action == "loan book uploaded")
    taken = [(each.actor, each.after) for each in entries if each.action == "loan book report taken"]
    assert taken == [(key, {"status": "done", "rows": 2, "format": each}) for each in formats]


def upload(client: Client, key: str, content: bytes, name: str = "loans.csv", **changed: Any) -> httpx.Response:
    sent = {name_: value for name_, value in {**FORM, **changed}.items() if value is not None}
    return client.post(PATH, key=key, data=sent, files={"file": (name, content, "text/csv")})


def test_a_confirmation_names_what_nobody_reads(client: Client, partner: Partner) -> None:
    seen = {"rows": 1, "premium": "575.00", "preview_hash": "0" * 64, "by": "me"}
    body = {"accept": "valid", "expected": seen, "note": "x"}
    answer = client.post(f"{PATH}/{UNKNOWN}/confirm", key=partner.test_key, json=body)
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (404, "expected.by,note")


def test_a_lender_uploads_follows_confirms_and_takes_the_report(client: Client, store: Store, partner: Partner) -> None:
    key = partner.test_key
    answer = upload(client, key, as_csv([loan(1), loan(2, loan_tenure_months="1")]))
    assert (answer.status_code, answer.json()["responseText"]) == (202, "Loan book uploaded")
    book = answer.json()["data"]["loan_book"]
    assert book["status"] == "uploaded"
    again = upload(client, key, as_csv([loan(1), loan(2, loan_tenure_months="1")]), "other.csv")
    assert (again.status_code, again.json()["errorData"]) == (409, {"loan_book_id": book["id"]})
    worker.work(store)
    address = f"{PATH}/{book['id']}"
    read = client.get(address, key=key).json()["data"]["loan_book"]
    assert (read["status"], read["preview"]["premium"], read["preview"]["codes"]) == (
        *("validated", "575.00"),
        [{"code": "MALFORMED_VALUE", "rows": 1}],
    )
    seen = {"rows": 1, "premium": "575.00", "preview_hash": read["preview_hash"]}
    wrong = client.post(f"{address}/confirm", key=key, json={"accept": "valid", "expected": {**seen, "rows": 2}})
    assert (wrong.status_code, wrong.json()["errorData"]) == (409, {**seen, "rows": 1})
    assert client.post(f"{address}/confirm", key=key, json={"accept": "some"}).status_code == 400
    confirmed = client.post(f"{address}/confirm", key=key, json={"accept": "valid", "expected": seen})
    assert (confirmed.status_code, confirmed.json()["data"]["loan_book"]["status"]) == (202, "confirmed")
    worker.work(store)
    done = client.get(address, key=key).json()["data"]["loan_book"]
    assert (done["status"], done["done_rows"], done["done_amount"]) == ("done", 1, "575.00")
    rows = client.get(f"{address}/rows?outcome=covered", key=key).json()["data"]
    assert (rows["total_count"], rows["rows"][0]["line"]) == (1, 2)
    policy = client.get(f"/v1/policies/{rows['rows'][0]['policy_id']}", key=key).json()["data"]["policy"]
    assert policy["policy_number"] == rows["rows"][0]["policy_number"]
    report = client.get(f"{address}/report?format=csv", key=key)
    assert b"NOT COVERED,,,MALFORMED_VALUE" in report.content
    workbook = read_rows(client.get(f"{address}/report?format=xlsx", key=key).content)
    assert workbook[1][10:12] == ["covered", policy["policy_number"]]
    require_taken(store, book["id"], "csv", "xlsx")
    assert client.post(f"{address}/cancel", key=key).status_code == 409


def test_a_book_is_nobody_elses_and_of_its_mode(client: Client, partner: Partner, stranger: Partner) -> None:
    book = upload(client, partner.test_key, as_csv([loan(1)])).json()["data"]["loan_book"]
    for key in (stranger.test_key, partner.live_key):
        assert client.get(PATH, key=key).json()["data"]["total_count"] == 0
        for path in ("", "/rows", "/report?format=csv"):
            assert client.get(f"{PATH}/{book['id']}{path}", key=key).status_code == 404
        assert client.post(f"{PATH}/{book['id']}/cancel", key=key).status_code == 404
    assert client.get(f"{PATH}/{book['id']}/rows?outcome=some", key=partner.test_key).status_code == 400
    assert client.post(f"{PATH}/{book['id']}/cancel", key=partner.test_key).status_code == 202


def test_every_fault_of_an_upload_is_named(client: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    key = partner.test_key
    cases: list[tuple[dict[str, Any], set[str]]] = [
        ({"month": None, "attested_by": None}, {"month"}),
        ({"attested_by": None, "attestation_url": None}, {"attested_by", "attestation_url"}),
        ({"kind": "renewals", "date_format": "MM/DD/YYYY"}, {"kind", "date_format"}),
        ({"free_cover_limit": "1.005", "benefit_coverage": "death,fire"}, {"free_cover_limit", "benefit_coverage.1"}),
    ]
    for changed, fields in cases:
        answer = upload(client, key, as_csv([loan(1)]), **changed)
        assert (answer.status_code, {each["field"] for each in answer.json()["errorData"]}) == (400, fields)
    assert upload(client, key, b"").status_code == 400
    assert client.post(PATH, key=key, json=FORM).status_code == 415
    monkeypatch.setattr("core.services.selling.loan_books.books.MAX_BYTES", 1000)
    assert upload(client, key, b"x" * 1001).status_code == 413
    assert forms.FormParser.largest_file == 10 << 20


def test_the_template_is_read_as_it_is(client: Client, store: Store, partner: Partner) -> None:
    answer = client.get(f"{PATH}/template.xlsx", key=partner.test_key)
    heading, *_ = read_rows(answer.content)
    assert heading[:3] == ["loan_account_number", "first_name", "last_name"]
    book = upload(client, partner.test_key, answer.content, "template.xlsx").json()["data"]["loan_book"]
    worker.work(store)
    read = client.get(f"{PATH}/{book['id']}", key=partner.test_key).json()["data"]["loan_book"]
    assert (read["status"], read["refusal"]) == ("refused", "file has no rows below its heading")
    assert date.fromisoformat(read["attested_on"]) == date(2026, 11, 2)
