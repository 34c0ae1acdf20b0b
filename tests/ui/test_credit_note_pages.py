"""Credit notes on the screens: approved by one person, paid by another, returned, listed and aged."""

import re
from datetime import date, timedelta
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Checkbox

from core import clock
from core.covers.insurers import insurer_a
from core.services.audit import log as audit
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.services.people import staff
from core.services.policies import changes
from core.store.access import Store
from core.ui.kit import words
from tests.conftest import Partner
from tests.portfolio import NOW
from tests.services.finance_office import Finance
from tests.services.selling import sell
from tests.ui.conftest import Screen, confirm, follow, lists, press, row_links, sent, texts
from tests.ui.finance_pages import open_page

pytestmark = pytest.mark.frozen_at(NOW)

ACCOUNT = {"payee_bank": "A Bank", "payee_account": "0123456780"}
LIST, ONE, AGEING = "finance/credit_notes.py", "finance/credit_notes.py#credit_note", "finance/ageing.py"


def sell_and_cancel(finance: Finance, partner: Partner, *, sold: int, cancelled: int) -> None:
    """Leave the credit note of a policy that was sold and cancelled so many days ago."""
    with clock.freeze(NOW - timedelta(days=sold)):
        sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True)
    with clock.freeze(NOW - timedelta(days=cancelled)):
        given = {"reason": "Sold the car", "by_insurer": True, "actor": finance.people["root"].actor}
        finance.do(changes.cancel, sale.policy_id, **given, expected_version=1)


def test_a_credit_note_goes_from_one_person_to_another_and_is_listed_and_aged(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    assert "No credit note yet" in texts(open_page(screen, finance, LIST, by="funmi"))
    sell_and_cancel(finance, partner, sold=100, cancelled=40)
    (note,) = finance.read(credit_note_reading.list_unpaid, clock.now())
    row = lists(open_page(screen, finance, LIST, by="funmi"))[0].iloc[0]
    assert (row["Number"], row["Given back"], row["Days"]) == ("CN-0001", words.naira(note.total_minor), "40")
    assert "No credit note matches" in texts(open_page(screen, finance, LIST, by="funmi", state="Paid"))
    for find in ("cn 1", note.customer, note.policy_number, words.naira(note.total_minor), "cn-2", "nobody"):
        found = lists(open_page(screen, finance, LIST, by="funmi", find=find or ""))
        assert bool(found) is (find not in ("cn-2", "nobody")), find
    at = open_page(screen, finance, AGEING, by="funmi")
    aged = lists(at)[0]
    assert list(aged["Party"]) == ["Total", f"Customers of {note.provider}"]
    assert list(aged["Total"]) == [words.naira(note.total_minor)] * 2
    heads = [head for payload in sent(at) if "rows" in payload for head in payload["columns"]]
    assert all("right" in head["classes"] for head in heads if head["label"] not in ("Party", "Kind", "Ages"))
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


def test_who_has_no_part_in_the_next_step_of_a_credit_note_reads_why(
    store: Store, partner: Partner, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    finance = Finance(store)
    sell_and_cancel(finance, partner, sold=40, cancelled=40)
    (note,) = finance.read(credit_note_reading.list_unpaid, clock.now())
    page = {"path": ONE, "id": str(note.id)}
    with monkeypatch.context() as patched:
        patched.setattr(deciding, "list_renamed_by", lambda *_: [finance.people["femi"].id])
        at = open_page(screen, finance, by="femi", **page)
        assert [button.disabled for button in at.button if button.label == "Approve"] == [True]
        assert "You gave the holder of this policy another name or phone: somebody else of finance approves" in texts(
            at
        )
    ended = "You ended this policy: somebody else of finance approves its refund."
    assert ended in texts(open_page(screen, finance, by="root", **page))
    finance.do(deciding.approve, note.id, ACCOUNT, by="femi")
    approved = "You approved it: somebody else of finance notes its payment."
    assert approved in texts(open_page(screen, finance, by="femi", **page))
    assert "somebody else" not in texts(open_page(screen, finance, by="funmi", **page))
    finance.do(deciding.pay, note.id, {"bank_reference": "TRF/9", "value_on": str(clock.today())}, by="funmi")
    paid = "You noted this payment: somebody else notes that it came back."
    assert paid in texts(open_page(screen, finance, by="funmi", **page))


def test_ageing_has_its_ages_on_a_telephone_too(store: Store, partner: Partner, screen: Screen) -> None:
    finance = Finance(store)
    sell_and_cancel(finance, partner, sold=40, cancelled=40)
    at = open_page(screen, finance, AGEING, by="funmi")
    heads = next(payload["columns"] for payload in sent(at) if "rows" in payload)
    narrow = {head["label"]: head["classes"] for head in heads if "less" not in head["classes"]}
    assert narrow == {"Party": "first", "Ages": "under only", "Total": "corner right"}
    aged = lists(at)[0]
    assert list(aged["Ages"]) == [f"31 to 60 days {amount}" for amount in aged["Total"]]
    assert list(aged["Kind"]) == ["All", "Refunds"]


def test_ageing_leads_to_the_balances_and_credit_notes_that_it_adds_up(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    sell_and_cancel(finance, partner, sold=40, cancelled=40)
    at = open_page(screen, finance, AGEING, by="funmi")
    links = [link.proto.label for link in at.get("page_link")]
    assert {"What is due with each party", "Credit notes"} <= set(links)


def test_each_party_of_the_ageing_leads_to_its_newest_statement(store: Store, partner: Partner, screen: Screen) -> None:
    finance = Finance(store)
    party = Party("distributor", partner.id)
    finance.agree(party, {"starts_on": date(2026, 1, 1), "number": "A-1", "premium_held_by": "platform"})
    sell_and_cancel(finance, partner, sold=60, cancelled=30)
    made = finance.do(statements.prepare, party, date(2026, 9, 1), by="funmi")
    for state in ("Approved", "Sent"):
        finance.do(statements.move, made, state, by="femi")
    at = open_page(screen, finance, AGEING, by="funmi")
    assert f"on {words.day(clock.today())}, by" in texts(at)
    kinds, links = list(lists(at)[0]["Kind"]), row_links(at)
    assert dict(zip(kinds, links, strict=True)) == {
        "All": None,
        "Distributor": f"/statement?id={made}",
        "Refunds": None,
    }
    assert "Back to the ageing" in [link.proto.label for link in follow(at, links[1]).get("page_link")]


def test_ageing_without_an_amount_offers_no_file(store: Store, screen: Screen) -> None:
    at = open_page(screen, Finance(store), AGEING, by="funmi")
    assert texts(at).count("Nothing is due.") == 2
    assert not at.get("link_button")


def test_a_refund_that_the_distributor_gives_back_offers_no_payment_and_says_why(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    sell_and_cancel(finance, partner, sold=10, cancelled=0)
    (note,) = finance.read(credit_note_reading.list_unpaid, clock.now() + timedelta(days=1))
    terms = {"number": "AG/1", "starts_on": "2026-11-01", "collects": "distributor"}
    finance.agree(Party("distributor", partner.id), terms)
    at = open_page(screen, finance, ONE, by="femi", id=str(note.id))
    assert "has this refund back" in at.info[0].value
    assert "Approve" not in [button.label for button in at.button]


def press_many(at: AppTest, start: str) -> AppTest:
    """Press the button whose label begins so; the sum of what it is for follows."""
    return press(at, next(button.label for button in at.button if button.label.startswith(f"{start}, ")))


def list_boxes(at: AppTest) -> list[Checkbox]:
    """The boxes of the credit notes of the open dialog, in their order, without the one that ticks all."""
    return [box for box in at.checkbox if re.fullmatch(r"decision\.field\.[0-9a-f]{32}", str(box.key))]


def list_ticked(at: AppTest) -> list[str]:
    return [str(box.key).rpartition(".")[2] for box in list_boxes(at) if box.value]


def tick(at: AppTest, keys: list[str]) -> AppTest:
    """Tick these credit notes of the open dialog, and no others."""
    for box in list_boxes(at):
        box.set_value(str(box.key).rpartition(".")[2] in keys)
    return at.run()


def test_many_credit_notes_are_approved_by_one_and_paid_by_another(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    keys = _give_back(finance, partner, 3)
    at = open_page(screen, finance, LIST, by="root")
    assert not any(button.label.startswith(("Approve", "Note")) for button in at.button)
    total = sum(note.total_minor for note in finance.read(credit_note_reading.list_unpaid, clock.now()))
    at = press(open_page(screen, finance, LIST, by="femi"), f"Approve 3, {words.naira(total)}")
    assert list_ticked(at) == keys, "all that wait for the person"
    confirm(at.checkbox(key="decision.field.all").uncheck().run())
    assert "choose the credit notes" in texts(at)
    assert "**0 credit notes**\n**₦0.00**" in texts(at)
    chosen = tick(at, keys[:2])
    assert f"**2 credit notes**\n**{words.naira(total // 3 * 2)}**" in texts(at), "their count and sum below them"
    assert texts(confirm(chosen)).count("Give the account number: a credit note is approved for an account") == 2
    accounts = {f"{key} {name}": value for key in keys[:2] for name, value in ACCOUNT.items()}
    at = confirm(chosen, **{**accounts, f"{keys[1]} payee_account": "12"})
    assert _states(finance, keys) == ["Computed"] * 3
    assert "10 digits" in texts(at)
    at = confirm(at, **accounts)
    assert "2 approved. Somebody else of finance notes the payments." in texts(at)
    assert _states(finance, keys) == ["Approved", "Approved", "Computed"]
    at = open_page(screen, finance, LIST, by="femi")
    assert [button.label for button in at.button if button.label.startswith(("Approve", "Note"))] == [
        f"Approve 1, {words.naira(total // 3)}"
    ]
    at = press(open_page(screen, finance, LIST, by="funmi"), f"Note 2 payments, {words.naira(total // 3 * 2)}")
    same = {f"{key} bank_reference": "TRF/20" for key in keys[:2]}
    at = confirm(at, **same)
    assert _states(finance, keys) == ["Approved", "Approved", "Computed"]
    assert _list_refusals(finance, keys)[-1:] == [
        "bank_reference was used for another payment already: give the reference of this one"
    ]
    at = confirm(at, **{**same, f"{keys[1]} bank_reference": "TRF/21"})
    assert "2 credit notes are paid." in texts(at)
    assert _states(finance, keys) == ["Paid", "Paid", "Computed"]


def test_ticked_credit_notes_have_their_own_buttons_with_count_and_sum(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    keys = _give_back(finance, partner, 3)
    for key in keys[:2]:
        finance.do(deciding.approve, UUID(key), ACCOUNT, by="femi")
    each = finance.read(credit_note_reading.get_note, UUID(keys[0])).total_minor
    at = open_page(screen, finance, LIST, by="funmi")
    payload = next(payload for payload in sent(at) if payload.get("choosing"))
    at.session_state["credit-notes_picked"] = payload["mark"], [str(UUID(key)) for key in keys[1:]]
    at.run()
    assert f"**2** ticked, {words.naira(each * 2)}" in texts(at)
    named = [button.label for button in at.button if button.label.startswith(("Approve", "Note"))]
    assert named == [f"Approve 1, {words.naira(each)}", f"Note 1 payment, {words.naira(each)}"], "no others"
    at = press_many(at, "Note 1 payment")
    assert list_ticked(at) == [keys[1]]


def test_a_payment_is_not_noted_from_a_tab_that_shows_another_account_than_the_one_approved_since(
    store: Store, partner: Partner, screen: Screen
) -> None:
    """It was paid as the tab shows it, and would be noted as paid to the account of now."""
    finance = Finance(store)
    (key,) = _give_back(finance, partner, 1)
    finance.do(deciding.approve, UUID(key), ACCOUNT, by="femi")
    one = press(open_page(screen, finance, ONE, by="funmi", id=str(UUID(key))), "It was paid")
    many = press_many(open_page(screen, finance, LIST, by="funmi"), "Note 1 payment")
    finance.do(deciding.approve, UUID(key), {**ACCOUNT, "payee_account": "0123456799"}, by="femi")
    one = confirm(one, bank_reference="TRF/1")
    assert "approved for another payee or account since you looked at it" in texts(one)
    many = tick(many, [key])
    many = confirm(many, **{f"{key} bank_reference": "TRF/1"})
    assert "approved for another payee or account since you looked at it" in texts(many)
    assert _states(finance, [key]) == ["Approved"]


def test_nobody_approves_from_a_tab_another_account_than_it_shows(
    store: Store, partner: Partner, screen: Screen
) -> None:
    """An account that is left empty is the one approved first: by then it may be another one than the tab shows."""
    finance = Finance(store)
    (key,) = _give_back(finance, partner, 1)
    friend = {"payee": "A Friend", **ACCOUNT}
    finance.do(deciding.approve, UUID(key), friend, by="femi")
    one = press(open_page(screen, finance, ONE, by="funmi", id=str(UUID(key))), "Approve")
    many = press_many(open_page(screen, finance, LIST, by="funmi"), "Approve 1")
    finance.do(deciding.approve, UUID(key), friend, by="wale")
    finance.do(deciding.approve, UUID(key), {**friend, "payee_account": "0123456799"}, by="wale")
    one = confirm(one)
    assert "approved for another payee or account since you looked at it" in texts(one)
    many = confirm(tick(many, [key]))
    assert "approved for another payee or account since you looked at it" in texts(many)
    assert _states(finance, [key]) == ["Awaits second person"]


def test_many_returns_of_the_bank_are_noted_by_somebody_who_paid_none_of_them(
    store: Store, partner: Partner, screen: Screen
) -> None:
    finance = Finance(store)
    keys = _give_back(finance, partner, 2)
    for place, key in enumerate(keys):
        finance.do(deciding.approve, UUID(key), ACCOUNT, by="femi")
        finance.do(deciding.pay, UUID(key), {"bank_reference": f"TRF/{place}", "value_on": str(NOW.date())}, by="funmi")
    assert not any(button.label == "Note returns" for button in open_page(screen, finance, LIST, by="funmi").button)
    at = press(open_page(screen, finance, LIST, by="wale"), "Note returns")
    at = confirm(tick(at, keys), reason="no")
    assert _states(finance, keys) == ["Paid", "Paid"]
    at = confirm(at, reason="The accounts are closed", **{f"{keys[1]} bank_reference": "RET/21"})
    assert "2 credit notes came back." in texts(at)
    assert _states(finance, keys) == ["Returned", "Returned"]
    one = open_page(screen, finance, ONE, by="wale", id=str(UUID(keys[0])))
    assert any(shown.value.startswith(f"{finance.people['root'].name}, ") for shown in one.text)


def test_a_refusal_of_one_of_many_stays_in_the_log(store: Store, partner: Partner, screen: Screen) -> None:
    """Femi's own account is refused on the page of one; in the dialog of many it would be tried unseen."""
    finance = Finance(store)
    keys = _give_back(finance, partner, 2)
    finance.do(
        staff.set_own_details,
        finance.people["femi"].id,
        phone_number=None,
        account_number=ACCOUNT["payee_account"],
        actor="tests",
    )
    finance.people["femi"] = finance.person("femi")
    at = press_many(open_page(screen, finance, LIST, by="femi"), "Approve 2")
    at = tick(at, keys)
    assert not [each.label for each in at.text_input if "\\" in each.label], "read aloud as it is written"
    at = confirm(at, **{f"{key} {name}": value for key in keys for name, value in ACCOUNT.items()})
    assert _states(finance, keys) == ["Computed", "Computed"]
    assert _list_refusals(finance, keys) == ["It has your own e-mail, phone or account: somebody else works on it"]


def _list_refusals(finance: Finance, keys: list[str]) -> list[str]:
    subjects = [audit.subject_of("credit_note", UUID(key)) for key in keys]
    entries = [entry for subject in subjects for entry in finance.read(audit.list_history, subject)]
    return [(entry.after or {})["refused"] for entry in entries if entry.action.endswith(" refused")]


def _give_back(finance: Finance, partner: Partner, number: int) -> list[str]:
    """Cancel as many sales, and return the keys of their credit notes in the order of their numbers."""
    given = {"reason": "Sold the car", "by_insurer": True, "actor": finance.people["root"].actor}
    for place in range(number):
        plate = f"LSR{place + 300}AA"
        with clock.freeze(NOW - timedelta(days=100)):
            sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number=plate)
        with clock.freeze(NOW - timedelta(days=40)):
            finance.do(changes.cancel, sale.policy_id, **given, expected_version=1)
    notes = finance.read(credit_note_reading.list_unpaid, clock.now())
    return [note.id.hex for note in sorted(notes, key=lambda note: note.number)]


def _states(finance: Finance, keys: list[str]) -> list[str]:
    return [finance.read(credit_note_reading.get_note, UUID(key)).state for key in keys]
