"""A distributor reads the statements that were sent to it, and nobody else's (contract F3)."""

import hashlib
from datetime import date
from uuid import UUID

import pytest

from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.store.access import Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance

pytestmark = pytest.mark.frozen_at(NOW)

AUGUST = date(2026, 8, 1)


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sent", of_both=(Portfolio(seed=21, size=80),))


@pytest.fixture
def sent(store: Store, partner: Partner, stranger: Partner) -> UUID:
    finance = Finance(store)
    for each in (stranger, partner):
        made = finance.do(statements.prepare, Party("distributor", each.id), AUGUST, by="funmi")
        finance.do(statements.move, made, "Approved", by="femi")
        finance.do(statements.move, made, "Sent", by="femi")
    return made


def get(client: Client, path: str, key: str) -> object:
    return client.get(f"/v1/statements{path}", headers={"Authorization": f"Bearer {key}"})


def test_a_live_key_lists_and_reads_its_own(client: Client, sent: UUID, partner: Partner) -> None:
    listed = get(client, "", partner.live_key).json()["data"]
    assert [record["id"] for record in listed["statements"]] == [str(sent)]
    assert listed["total_count"] == 1
    one = get(client, f"/{sent}", partner.live_key).json()["data"]["statement"]
    assert one == listed["statements"][0]
    assert (one["number"], one["month"], one["state"]) == ("CS-0001", "2026-08", "Sent")


def test_the_csv_is_what_the_hash_of_the_record_says(client: Client, sent: UUID, partner: Partner) -> None:
    record = get(client, f"/{sent}", partner.live_key).json()["data"]["statement"]
    file = get(client, f"/{sent}/file?format=csv", partner.live_key)
    assert hashlib.sha256(file.content).hexdigest() == record["sha256"]
    assert file.text.count("\r\n") == record["lines"] + 3
    for format_, begins in (("pdf", b"%PDF"), ("xlsx", b"PK")):
        assert get(client, f"/{sent}/file?format={format_}", partner.live_key).content.startswith(begins)


def test_nobody_else_and_no_test_key_sees_it(client: Client, sent: UUID, partner: Partner, stranger: Partner) -> None:
    for key in (stranger.live_key, partner.test_key):
        for path in (f"/{sent}", f"/{sent}/file?format=csv"):
            assert get(client, path, key).status_code == 404
    assert get(client, "", partner.test_key).json()["data"]["statements"] == []


@every_case(("query", "message"), [("", "format is required"), ("?format=doc", "format must be one of csv, pdf, xlsx")])
def test_a_format_that_is_not_made_is_refused_by_name(
    client: Client, sent: UUID, partner: Partner, query: str, message: str
) -> None:
    answer = get(client, f"/{sent}/file{query}", partner.live_key)
    assert (answer.status_code, answer.json()["responseText"]) == (400, message)
