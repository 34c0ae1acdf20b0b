"""The statements on the screens: prepared by one person, approved and sent by another, and reversed by two."""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from core import money
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.store.access import Store
from core.ui.kit import words
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, follow, labels, lists, press, row_links, sent, texts
from tests.ui.finance_pages import exported, open_page

pytestmark = pytest.mark.frozen_at(NOW)

LIST, ONE = "finance/statements.py", "finance/statements.py#statement"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


def made(finance: Finance) -> list[statement_reading.StatementRow]:
    return finance.read(statement_reading.list_statements, month=date(2026, 8, 1))


def test_a_month_is_prepared_at_once_and_another_person_approves(finance: Finance, screen: Screen) -> None:
    later = open_page(screen, finance, LIST, month="2026-09")
    ready = [label for label in labels(later) if label.startswith("Prepare")]
    assert ready == ["Prepare 3 of September 2026"], "the others open where August closes"
    assert "August 2026 comes first" in [link.proto.label for link in later.get("page_link")]
    at = open_page(screen, finance, LIST, month="2026-08")
    assert set(lists(at)[0]["State"]) == {"Draft"}
    drafts = len(lists(at)[0])
    confirm(press(at, f"Prepare {drafts} of August 2026"))
    assert f"{drafts} statements are prepared" in texts(at)
    assert set(lists(at)[0]["State"]) == {"Prepared"}
    heads = next(payload["columns"] for payload in sent(at) if "rows" in payload)
    narrow = {head["label"] for head in heads if "less" not in head["classes"]}
    assert narrow == {"Party", "Account", "State", "Closing"}, "a narrow screen keeps what is owed"
    assert f"You have prepared {drafts} of them: somebody else of finance approves them." in texts(at)
    follow(at, row_links(at)[0])
    assert "Approve" not in labels(at), "who prepared it does not approve it"
    assert "You have prepared" not in texts(open_page(screen, finance, LIST, by="femi", month="2026-08"))
    row = next(row for row in made(finance) if row.party.account == "distributor")
    at = open_page(screen, finance, ONE, by="femi", id=str(row.id))
    confirm(press(at, "Approve"))
    left = f"You have prepared {drafts - 1} of them" if drafts > 2 else "You have prepared 1 of them"
    assert left in texts(open_page(screen, finance, LIST, month="2026-08")), "what is approved waits no more"
    at = open_page(screen, finance, ONE, by="femi", id=str(row.id))
    confirm(press(at, "Mark as sent"))
    assert next(each for each in made(finance) if each.id == row.id).paper.state == "Sent"
    for label, minor in row.paper.trailer:
        assert label in texts(at)
        assert words.naira(minor) in [str(text.value) for text in at.text]
    links = [link.proto.url for link in at.get("link_button")]
    assert [f"/statements/{row.id}.{name}" for name in ("pdf", "xlsx", "csv")] == links


def test_a_dispute_and_its_settlement_stand_in_the_history(finance: Finance, screen: Screen, partner: Partner) -> None:
    made = finance.do(statements.prepare, Party("distributor", partner.id), date(2026, 8, 1), by="funmi")
    for state, note in (("Approved", ""), ("Sent", ""), ("Disputed", "Two policies are missing")):
        finance.do(statements.move, made, state, by="femi", note=note)
    at = press(open_page(screen, finance, ONE, by="wale", id=str(made)), "Settle the dispute")
    assert at.text_input(key="decision.field.note").label == "How it was settled"
    confirm(at)
    assert "Must say why, in at least five characters" in texts(at)
    assert not at.error, "what is wrong with a field stands below it"
    at.text_input(key="decision.field.note").set_value("They were of September")
    confirm(at)
    assert "The dispute of CS-0001 is settled." in texts(at)
    shown = " ".join(str(text.value) for text in at.text) + texts(at)
    for event in ("Disputed", "Two policies are missing", "Dispute settled", "They were of September"):
        assert event in shown


def test_a_header_sorts_every_account_of_the_month(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST, month="2026-08", order="month-back")
    rows = finance.read(statement_reading.list_month, date(2026, 8, 1))
    assert len(rows) > 2
    amounts = sorted((row.change_minor for row in rows), reverse=True)
    assert list(lists(at)[0]["Of the month"]) == [words.naira(minor) for minor in amounts]
    heads = {head["label"]: head for payload in sent(at) if "rows" in payload for head in payload["columns"]}
    assert heads["Of the month"]["sorted"] == "descending"
    assert "order=party" in heads["Party"]["href"]


def test_somebody_else_approves_and_sends_a_whole_month_with_its_sums_before_the_eyes(
    finance: Finance, screen: Screen
) -> None:
    at = open_page(screen, finance, LIST, month="2026-08")
    drafts = len(lists(at)[0])
    confirm(press(at, f"Prepare {drafts} of August 2026"))
    assert not [label for label in labels(at) if label.startswith("Approve")], "who prepared them does not approve"
    rested = finance.rest("femi", NOW + timedelta(hours=1))
    at = screen(path=LIST, signed_in=rested, month="2026-08")
    assert [button.disabled for button in at.button if button.label == f"Approve {drafts}"] == [True]
    assert (
        "Somebody else gave you your password, or the link to it, less than 24 hours ago: you can approve from"
        in texts(at)
    )
    rows = finance.read(statement_reading.list_month, date(2026, 8, 1))
    opening, change, closing = (
        sum(getattr(row, name) for row in rows) for name in ("opening_minor", "change_minor", "closing_minor")
    )
    assert opening + change == closing
    sums = f"opening {words.naira(opening)} + of the month {words.naira(change)} = closing {words.naira(closing)}"
    assert f"{len(rows)} stated: {sums}." in texts(at)
    owed = sum(max(row.closing_minor, 0) for row in rows)
    assert f"owed by the platform **{words.naira(owed)}** · owed to it **{words.naira(owed - closing)}**" in texts(at)
    at = press(open_page(screen, finance, LIST, by="wale", month="2026-08"), f"Approve {drafts}")
    for account in ("distributor", "provider"):
        each = [row.paper.closing_minor for row in made(finance) if row.paper.account == account]
        owed = words.naira(sum(minor for minor in each if minor > 0))
        assert f"**{len(each)}** statements, owed by the platform **{owed}**" in texts(at)
    # One of them was approved by somebody else while the dialog was open.
    first = made(finance)[0]
    finance.do(statements.move, first.id, "Approved", by=finance.rest("femi", None))
    confirm(at)
    assert [each.value for each in at.success] == [f"{drafts - 1} statements are approved"]
    assert f"1 was not done:**\n\n- {first.paper.number} of {first.paper.party}: " in texts(at)
    confirm(press(at, f"Mark {drafts} as sent"))
    assert {row.paper.state for row in made(finance)} == {"Sent"}
    _equals_its_file(open_page(screen, finance, LIST, month="2026-08", order="closing-back"), closing)
    assert not [label for label in labels(at) if label.startswith(("Approve", "Mark", "Prepare"))]
    assert finance.money_faults() == []


def _equals_its_file(at: AppTest, closing_minor: int) -> None:
    file, shown = exported(at, "statements"), lists(at)[0]
    for name in ("Party", "Number", "Account"):
        assert [row[name] for row in file] == list(shown[name]), name
    assert [words.naira(money.to_minor(Decimal(row["Closing (NGN)"]))) for row in file] == list(shown["Closing"])
    assert sum(money.to_minor(Decimal(row["Closing (NGN)"])) for row in file) == closing_minor


def test_a_draft_leads_to_its_movements_and_is_prepared_alone(finance: Finance, screen: Screen) -> None:
    later = open_page(screen, finance, LIST, month="2026-09")
    follow(later, next(link for link in row_links(later) if "provider." in link))
    assert "Prepare it" not in labels(later), "it would be refused"
    (first,) = (link.proto for link in later.get("page_link") if link.proto.label == "August 2026 comes first")
    assert first.query_string.endswith("2026-08")
    at = open_page(screen, finance, LIST, month="2026-08")
    (shown, *_) = lists(at)[0].to_dict("records")
    follow(at, row_links(at)[0])
    assert f"**{shown['Lines']}** lines · {shown['Of the month']} of the month, before taxes" in texts(at)
    assert "Its movements of the month" in [link.proto.label for link in at.get("page_link")]
    confirm(press(at, "Prepare it"))
    assert [row.paper.number for row in made(finance)] == ["CS-0001"]


def test_the_running_month_is_not_prepared_and_says_so(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST, month="2026-11")
    assert "The month is not over yet" in texts(at)
    assert not [button.label for button in at.button if button.label.startswith("Prepare")]


def test_other_roles_do_not_reach_statements(finance: Finance, screen: Screen) -> None:
    for role in ("operations", "claims", "supervisor"):
        for path in (LIST, ONE):
            with pytest.raises(ValueError, match="statement"):
                screen(role, path=path)


@every_case(
    ("given", "message"),
    [("1", "names no statement"), ("0" * 8 + "-0000-7000-8000-" + "0" * 12, "no such"), ("distributor.x", "no party")],
)
def test_a_wrong_statement_is_explained(finance: Finance, screen: Screen, given: str, message: str) -> None:
    assert message in open_page(screen, finance, ONE, id=given).error[0].value


def test_a_reversal_is_prepared_on_the_newest_statement_alone(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    party = Party("distributor", partner.id)
    first, second = (finance.do(statements.prepare, party, date(2026, month, 1), by="funmi") for month in (8, 9))
    at = open_page(screen, finance, ONE, by="femi", id=str(first))
    assert "Reverse" not in labels(at)
    at = press(open_page(screen, finance, ONE, by="femi", id=str(second)), "Reverse")
    at.text_input(key="decision.field.reason").set_value("The agreement was another one")
    confirm(at)
    at = open_page(screen, finance, LIST, month="2026-09")
    assert "CS-0003" in list(lists(at)[0]["Number"])
