"""Credit notes on the screens: approved by one person, paid by another, returned, listed and aged."""

from datetime import timedelta

import pytest

from core import clock
from core.covers.insurers import insurer_a
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.policies import changes
from core.store.access import Store
from core.ui.kit import words
from tests.conftest import Partner
from tests.portfolio import NOW
from tests.services.finance_office import Finance
from tests.services.selling import sell
from tests.ui.conftest import Screen, confirm, lists, press, sent, texts
from tests.ui.finance_pages import open_page

pytestmark = pytest.mark.frozen_at(NOW)

LIST, ONE, AGEING = (f"finance/{name}.py" for name in ("credit_notes", "credit_note", "ageing"))


def test_a_credit_note_goes_from_one_person_to_another_and_is_listed_and_aged(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    assert "No credit note yet" in texts(open_page(screen, finance, LIST, by="funmi"))
    with clock.freeze(NOW - timedelta(days=100)):
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    with clock.freeze(NOW - timedelta(days=40)):
        given = {"reason": "Sold the car", "by_insurer": True, "actor": finance.people["root"].actor}
        finance.do(changes.cancel, sale.policy_id, **given, expected_version=1)
    (note,) = finance.read(credit_note_reading.list_unpaid, clock.now())
    row = lists(open_page(screen, finance, LIST, by="funmi"))[0].iloc[0]
    assert (row["Number"], row["Given back"], row["Days"]) == ("CN-0001", words.naira(note.total_minor), "40")
    assert "No credit note matches" in texts(open_page(screen, finance, LIST, by="funmi", state="Paid"))
    at = open_page(screen, finance, AGEING, by="funmi")
    aged = lists(at)[0]
    assert list(aged["Party"]) == ["Total", f"Customers of {note.provider}"]
    assert list(aged["Total"]) == [words.naira(note.total_minor)] * 2
    heads = [head for payload in sent(at) if "rows" in payload for head in payload["columns"]]
    assert all("right" in head["classes"] for head in heads if head["label"] not in ("Party", "Kind"))
    assert not any(
        button.label == "Approve" for button in open_page(screen, finance, ONE, by="root", id=str(note.id)).button
    )
    at = confirm(
        press(open_page(screen, finance, ONE, by="femi", id=str(note.id)), "Approve"),
        payee_bank="A Bank",
        payee_account="0123456780",
    )
    assert "somebody else of finance notes the payment" in texts(at)
    at = press(open_page(screen, finance, ONE, by="funmi", id=str(note.id)), "It was paid")
    confirm(at, bank_reference="")
    assert "Fill this in" in texts(at)
    at = confirm(at, bank_reference="TRF/9")
    assert "The credit note is paid" in texts(at)
    confirm(
        press(open_page(screen, finance, ONE, by="wale", id=str(note.id)), "The bank returned it"),
        reason="The account is closed",
    )
    assert finance.read(credit_note_reading.get_note, note.id).state == "Returned"
    for path in (LIST, ONE, AGEING):
        for role in ("operations", "claims", "supervisor"):
            with pytest.raises(ValueError, match=r"credit|ageing"):
                screen(role, path=path)
    for given_id in ("1", "0" * 8 + "-0000-7000-8000-" + "0" * 12):
        assert open_page(screen, finance, ONE, by="funmi", id=given_id).error[0].value
