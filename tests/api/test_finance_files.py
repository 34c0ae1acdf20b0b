"""The files of finance: who gets them, what is noted, and what is refused."""

from datetime import date, timedelta

import pytest
import sqlalchemy as sa

from core import clock
from core.covers.insurers import insurer_a
from core.services.finance import ageing, bank_accounts
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.parties import Party
from core.services.finance.payments import payouts
from core.services.finance.statements import statements
from core.services.people import credentials, sign_in
from core.services.policies import changes
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.services.finance_office import OUTSIDERS, Finance
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOW)


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    Portfolio(seed=21, size=40, sellers=(partner.id,)).write(store)
    return Finance(store)


def cookie(finance: Finance, name: str) -> dict[str, str]:
    with finance.store.writing(Scope.system()) as session:
        return {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, finance.people[name].id)}"}


def test_the_bank_file_goes_to_finance_once_approved_and_each_opening_is_noted(
    finance: Finance, client: Client, partner: Partner
) -> None:
    party = Party("distributor", partner.id)
    with clock.freeze(NOW - timedelta(days=90)):
        account = {"bank_name": "Bank", "account_name": "=Swift", "account_number": "0123456789"}
        finance.do(bank_accounts.confirm, finance.do(bank_accounts.propose, party, account, by="root"), by="second")
    made = finance.do(statements.prepare, party, date(2026, 8, 1), by="funmi")
    for state in ("Approved", "Sent"):
        finance.do(statements.move, made, state, by="femi")
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    path, mine = f"/payouts/{batch}.csv", cookie(finance, "funmi")
    assert client.get(path, headers=mine).status_code == 409
    finance.do(payouts.approve, batch, by="femi")
    assert client.get(path).status_code == 401
    assert client.get(path, key=partner.live_key).status_code == 401
    for name in OUTSIDERS:
        assert client.get(path, headers=cookie(finance, name)).status_code == 403
    assert client.get(path, headers=mine | {"sec-fetch-site": "cross-site"}).status_code == 403
    answer = client.get(path, headers=mine)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    assert "0123456789" in answer.text
    assert ",'=Swift," in answer.text, "a spreadsheet runs no formula of it"
    with finance.store.reading(Scope.system()) as session:
        opened = sa.select(AuditEntry.actor).where(AuditEntry.action == "bank file opened")
        assert list(session.execute(opened).scalars()) == ["staff funmi@f.example"]


def test_the_schedule_of_a_tax_is_a_file_of_finance(finance: Finance, client: Client, partner: Partner) -> None:
    finance.do(statements.prepare, Party("distributor", partner.id), date(2026, 8, 1), by="funmi")
    mine = cookie(finance, "funmi")
    answer = client.get("/taxes/withholding/2026-08.csv", headers=mine)
    assert answer.text.startswith("payee,tax_number,statement,state,base,rate_percent,tax,source")
    assert client.get("/taxes/withholding/2026-08.xlsx", headers=mine).content[:2] == b"PK"
    for path, status in (
        ("/taxes/withholding/2026-13.csv", 400),
        ("/taxes/other/2026-08.csv", 404),
        ("/taxes/vat/2026-08.doc", 404),
    ):
        assert client.get(path, headers=mine).status_code == status
    assert client.get("/taxes/vat/2026-08.csv", headers=cookie(finance, "oye")).status_code == 403


def test_the_ages_go_to_finance_as_they_stand_on_the_screen(finance: Finance, client: Client, partner: Partner) -> None:
    made = finance.do(statements.prepare, Party("distributor", partner.id), date(2026, 8, 1), by="funmi")
    for state in ("Approved", "Sent"):
        finance.do(statements.move, made, state, by="femi")
    mine, expected = cookie(finance, "funmi"), b"".join(ageing.csv_chunks(finance.read(ageing.list_aged)))
    assert client.get("/ageing.csv", headers=mine).content == expected
    assert b"Swift Lenders" in expected
    assert client.get("/ageing.xlsx", headers=mine).content.startswith(b"PK")
    assert client.get("/ageing.pdf", headers=mine).status_code == 404
    assert client.get("/ageing.csv", key=partner.live_key).status_code == 401
    for name in OUTSIDERS:
        assert client.get("/ageing.csv", headers=cookie(finance, name)).status_code == 403


def test_a_credit_note_is_a_pdf_of_finance_for_the_customer_and_for_the_insurer(
    finance: Finance, client: Client, partner: Partner
) -> None:
    sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True)
    given = {"reason": "Sold the car", "by_insurer": True, "actor": "staff x", "expected_version": 1}
    finance.do(changes.cancel, sale.policy_id, **given)
    note = next(
        row
        for row in finance.read(credit_note_reading.list_unpaid, NOW + timedelta(days=1))
        if row.policy_id == sale.policy_id
    )
    mine = cookie(finance, "funmi")
    for copy in ("customer", "insurer"):
        answer = client.get(f"/credit-notes/{note.id}/{copy}.pdf", headers=mine)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")
        assert answer.content.startswith(b"%PDF")
        assert f"{note.number}-{copy}.pdf" in answer.headers["content-disposition"]
    path = f"/credit-notes/{note.id}/customer.pdf"
    assert client.get(path).status_code == 401
    assert client.get(path, key=partner.live_key).status_code == 401
    assert client.get(path, headers=mine | {"sec-fetch-site": "cross-site"}).status_code == 403
    for name in OUTSIDERS:
        assert client.get(path, headers=cookie(finance, name)).status_code == 403
    for wrong, status in ((f"{note.id}/all", 404), (f"{partner.id}/customer", 404), ("7/customer", 400)):
        assert client.get(f"/credit-notes/{wrong}.pdf", headers=mine).status_code == status
