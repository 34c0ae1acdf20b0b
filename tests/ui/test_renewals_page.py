"""The renewals: rows, footer and filters, whom a row leads where; and what is due, renewed in place once."""

import re
from collections.abc import Iterator
from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.insurers import insurer_a, insurer_f
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.policies import changes
from core.services.renewals import calls, records, renewals
from core.services.renewals.due import list_due_rows
from core.services.renewals.records import DueFilter, RenewalFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Renewal
from core.ui.kit import words
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.selling import sell
from tests.ui.conftest import Screen, address, confirm, follow, labels, lists, person_of, press, row_links, sent, texts

LIST, DUE = "sales/renewals.py", "sales/due.py"
LIVE = Scope.staff(is_live=True)
A_YEAR_ON = shipped.STILL + timedelta(days=362)


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=4, size=120, days=300),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Iterator[Store]:
    with clock.freeze(NOW):
        yield store


def open_page(screen: Screen, path: str, *roles: str, **query: str | list[str]) -> AppTest:
    """A page opened by its address, as a link does."""
    return screen(*(roles or ("operations",)), path=path, **query)


def rows_of(store: Store, **given: str) -> list[Row]:
    wanted = RenewalFilter.read({name: [value] for name, value in given.items()})
    with store.reading(LIVE) as session:
        return records.RENEWALS.read_page(session, wanted, load_choices(session), paging=Paging(1, 50))


def on_screen(at: AppTest) -> list[str]:
    return list(lists(at)[0]["Policy number"])


def test_the_table_shows_a_page_and_the_footer_the_whole_with_what_failed_apart(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST)
    with sold.reading(LIVE) as session:
        total = records.compute_total(session, RenewalFilter())
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold)]
    assert f"**{total.all_rows.renewals}** renewals · {words.naira(total.all_rows.total_minor)} · All time" in texts(at)
    for minor in (total.all_rows.total_minor, total.all_rows.mca_minor, total.all_rows.rest_minor):
        assert f"**{words.naira(minor)}**" in texts(at)
    assert total.failed.renewals
    assert f"{total.effective.renewals} took effect, with {words.naira(total.effective.total_minor)}" in texts(at)


def test_its_own_filters_stand_in_the_address_and_are_taken_away(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST)
    at.selectbox(key="status").set_value("false").run()
    at.date_input(key="day_expires_from").set_value(NOW.date()).run()
    given = {"status": "false", "expires_from": str(NOW.date())}
    assert address(at) == {name: [value] for name, value in given.items()}
    expected = rows_of(sold, **given)
    assert (on_screen(at) if expected else []) == [row["policy"] or "–" for row in expected]
    press(at, "Reset")
    assert address(at) == {}


@every_case(
    ("query", "message"),
    [
        ({"status": "perhaps"}, "**Status** must be one of true, false"),
        ({"expires_from": "2026-12-01", "expires_to": "2026-11-01"}, "**Expires to** must not be before Expires from"),
        ({"provider": "nobody"}, "**Insurer** names nothing that is known here"),
    ],
)
def test_an_address_that_cannot_be_meant_says_so(
    store: Store, screen: Screen, query: dict[str, str], message: str
) -> None:
    at = open_page(screen, LIST, **query)
    assert message in at.error[0].value
    press(at, "Start again without filters")
    assert address(at) == {}


def test_an_empty_store_and_an_empty_selection_say_what_to_do_next(store: Store, screen: Screen) -> None:
    at = open_page(screen, LIST)
    assert "No policy of this mode has been renewed yet" in at.info[0].value
    assert [link.proto.label for link in at.get("page_link")] == ["See what is due"]
    at = open_page(screen, LIST, email="nobody@example.com")
    press(at, "Show all renewals")
    assert address(at) == {}


@every_case(("role", "names"), [("operations", "policy_id"), ("finance", "purchase_id")])
def test_a_row_opens_the_policy_or_for_finance_the_purchase_and_leads_back(
    sold: Store, screen: Screen, role: str, names: str
) -> None:
    at = open_page(screen, LIST, role, status="true")
    row = rows_of(sold, status="true")[2]
    follow(at, row_links(at)[2])
    assert address(at)["id"] == [str(row[names])]
    assert "Back to the renewals" in [link.proto.label for link in at.get("page_link")]


def test_who_lacks_the_role_has_neither_screen(store: Store, screen: Screen) -> None:
    for path in (LIST, DUE):
        with pytest.raises(ValueError, match="sales"):
            screen("claims", path=path)


@pytest.fixture
def due(store: Store, partner: Partner) -> Iterator[UUID]:
    """A policy that ends in three days; another one ends in twenty."""
    with clock.freeze(shipped.STILL):
        soon = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True).policy_id
    with clock.freeze(shipped.STILL + timedelta(days=17)):
        sell(store, partner, insurer_f.PERSONAL_ACCIDENT, is_live=True)
    with clock.freeze(A_YEAR_ON):
        yield soon


def tab(at: AppTest, label: str) -> str:
    """The number on a tab."""
    named = dict(str(option).split(" · ") for option in at.button_group(key="due.tab").options)
    return str(named[label]).strip("*")


def begun(at: AppTest) -> AppTest:
    """The Renew button of the first row, which the browser paints and this way of testing cannot press."""
    return pressed(at, "Renew")


def pressed(at: AppTest, act: str) -> AppTest:
    """A button of the first row."""
    row = next(payload for payload in sent(at) if "rows" in payload)["rows"][0]
    assert act in row["acts"]
    at.session_state["due_act"] = UUID(row["key"]), act
    at.run()
    assert not at.exception
    return at


def test_tabs_count_buckets_and_open_them_by_the_address(due: UUID, screen: Screen) -> None:
    at = open_page(screen, DUE)
    assert [tab(at, name) for name in ("0–7 days", "8–30 days", "Lapsed 1–30 days")] == ["1", "1", "0"]
    assert list(lists(at)[0]["Cover"]) == ["Ends in 3 days"]
    assert list(lists(at)[0]["Next premium"]) == ["₦15,000.00"]
    files = [link.proto.url for link in at.get("link_button")]
    assert any(url.startswith("/exports/due.csv?") and "bucket=week" in url for url in files), "a list to call"
    at.button_group(key="due.tab").set_value("month").run()
    assert address(at) == {"bucket": ["month"]}
    assert list(lists(at)[0]["Cover"]) == ["Ends in 20 days"]
    at.button_group(key="due.tab").set_value("lapsed").run()
    assert "No policy ends in these days" in at.info[0].value
    others = {button.label: button.proto.type for button in at.button if (button.key or "").startswith("due.in.")}
    assert others == {"0–7 days: 1": "primary", "8–30 days: 1": "secondary"}, "what ends soonest is the main one"
    at = press(open_page(screen, DUE, bucket="lapsed", find="Amaka"), "0–7 days: 1")
    assert address(at) == {"find": ["Amaka"]}, "the search stays, and is answered in another tab"
    assert list(lists(at)[0]["Cover"]) == ["Ends in 3 days"]
    payload = next(payload for payload in sent(at) if payload.get("choosing"))
    at.session_state["due_picked"] = (payload["mark"], [payload["rows"][0]["key"]])
    at = at.run().button(key="due.renew").click().run()
    assert list(lists(at)[-1]["Last call"]) == ["Not called"], "a dash says nothing on a narrow list"
    assert "**Bucket** must be one of" in open_page(screen, DUE, bucket="soon").error[0].value


def test_what_cannot_be_renewed_yet_says_from_which_day_in_the_room_of_an_amount(
    due: UUID, screen: Screen, store: Store, partner: Partner
) -> None:
    with clock.freeze(A_YEAR_ON - timedelta(days=10)):
        monthly = sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True, premium_frequency="monthly")
        with store.writing(partner.scope(is_live=True)) as session:
            changes.activate(session, monthly.policy_id, actor="tests", expected_version=1)
    shown = lists(open_page(screen, DUE, bucket="month", show=["next", "note"]))[0].set_index("Next premium")
    (opens,) = [text for text in shown.index if text.startswith("From ")]
    assert shown.loc[opens, "Not today, because"] == f"This policy can be renewed {opens.replace('From', 'from')}"


def test_what_has_no_room_beside_the_menu_is_left_to_wide_screens_unless_it_was_chosen(
    due: UUID, screen: Screen
) -> None:
    def spared(**query: str | list[str]) -> list[str]:
        payload = next(payload for payload in sent(open_page(screen, DUE, **query)) if payload.get("choosing"))
        return [column["label"] for column in payload["columns"] if "spare" in column["classes"].split()]

    assert spared() == ["Cover", "Call again", "Reminded"]
    assert spared(show=["customer", "cover"]) == []


def test_renewing_in_place_shows_the_price_buys_once_and_takes_the_row_away(
    due: UUID, screen: Screen, store: Store
) -> None:
    at = begun(open_page(screen, DUE))
    assert "Amaka Eze" in texts(at)
    assert at.button(key="decision.confirm").label == "Renew for ₦15,000.00"
    at.button(key="decision.confirm").click().run()
    assert not at.exception
    assert "Amaka Eze" in at.success[0].value
    assert "renewed for ₦15,000.00" in texts(at)
    assert tab(at.run(), "0–7 days") == "0"
    assert not lists(at)
    with store.reading(LIVE) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(Renewal)).scalar_one() == 1
    with clock.freeze(A_YEAR_ON + timedelta(days=366)):
        assert tab(open_page(screen, DUE), "0–7 days") == "1"


def test_a_term_that_a_colleague_renewed_meanwhile_is_refused_in_words(
    due: UUID, screen: Screen, store: Store, partner: Partner
) -> None:
    at = begun(open_page(screen, DUE))
    with store.writing(partner.scope(is_live=True)) as session:
        renewals.renew(session, due, partner.seller(is_live=True))
    at.button(key="decision.confirm").click().run()
    assert "Somebody else changed this policy" in at.warning[0].value
    assert "was renewed already" in texts(at)
    with store.reading(LIVE) as session:
        assert list_due_rows(session, "week", DueFilter(), load_choices(session), paging=Paging()) == []


def test_what_cannot_be_renewed_today_has_no_button_and_says_why(
    due: UUID, screen: Screen, store: Store, partner: Partner
) -> None:
    with clock.freeze(A_YEAR_ON - timedelta(days=1)):
        monthly = sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True, premium_frequency="monthly").policy_id
    with store.writing(partner.scope(is_live=True)) as session:
        changes.activate(session, monthly, actor="desk", expected_version=1)
        ended_on = clock.to_lagos_day(session.get_one(Policy, monthly).expiration_at or clock.now())
    table = lists(open_page(screen, DUE, bucket="month", show="note"))[0]
    opens_on = clock.add_days(ended_on, -15)
    assert list(zip(table["Act"], table["Not today, because"], strict=True)) == [
        ("Call, Renew", "–"),
        ("Call", f"This policy can be renewed from {words.day(opens_on)}"),
    ]


def test_finance_sees_what_is_due_and_cannot_renew(due: UUID, screen: Screen) -> None:
    at = open_page(screen, DUE, "finance")
    assert "Renew" not in lists(at)[0]
    assert not at.get("link_button"), "the list to call is for operations"
    assert list(lists(at)[0]["Cover"]) == ["Ends in 3 days"]


def test_a_call_with_ticked_customers_is_recorded_and_shown(due: UUID, screen: Screen) -> None:
    caller = person_of("operations")
    at = screen(signed_in=caller, path=DUE)
    assert "Record a call" not in labels(at), "nobody is ticked"
    payload = next(payload for payload in sent(at) if payload.get("choosing"))
    at.session_state["due_picked"] = (payload["mark"], [payload["rows"][0]["key"]])
    press(at.run(), "Record a call")
    press(at, "Record")
    assert "Fill this in" in texts(at)
    assert "**1** ticked" in texts(at)
    at.selectbox(key="decision.field.outcome").set_value("no_answer")
    at.date_input(key="decision.field.call_again_on").set_value(clock.add_days(clock.today(), 2))
    press(at, "Record")
    assert "The call is recorded" in at.success[0].value
    assert list(lists(at)[0]["Last call"]) == ["No answer"]
    assert list(lists(at)[0]["Call again"]) == [words.day(clock.add_days(clock.today(), 2))]
    callers = lists(at)[1]
    assert list(callers) == [
        *("Caller", "Calls made", "Reached", "Policies called about", "Renewed", "Premium renewed", "Conversion")
    ]
    assert list(callers.iloc[0])[1:] == ["1", "0", "1", "0", "₦0.00", "0.0 %"]
    assert "**1** call · **0** renewals · ₦0.00" in texts(at)
    at.button_group(key="calls").set_value("last-month").run()
    assert "Nobody called about a renewal in" in texts(at)
    assert "Press Call beside a customer" in texts(at)
    finance = open_page(screen, DUE, "finance")
    assert not [button for button in finance.button if button.label == "Record a call"]
    finance.button_group(key="calls").set_value("last-month").run()
    assert "Nobody called" in texts(finance)
    assert "Press Call" not in texts(finance), "finance looks alone"


def test_a_call_shows_what_to_say_and_renews_with_its_outcome(due: UUID, screen: Screen, store: Store) -> None:
    at = pressed(open_page(screen, DUE), "Call")
    text = texts(at)
    assert "am I speaking with Amaka Eze" in text
    assert {"Phone", "Next premium"} <= set(re.findall(r"\w[\w ]*", text))
    press(at, "Record the call")
    assert "Fill this in" in texts(at), "what came of it"
    at.selectbox(key="decision.field.outcome").set_value("will_renew").run()
    at.checkbox(key="decision.field.renew").check().run()
    press(at, "Record and renew")
    assert "The call is recorded. 1 policy is renewed for ₦15,000.00." in at.success[0].value.replace("\\", "")
    with store.reading(LIVE) as session:
        assert session.execute(sa.select(Renewal.policy_id)).scalars().all() == [due]
        assert [call.outcome for call in calls.list_calls(session, due)] == ["will_renew"]


@every_case("outcome", ["no_answer", "will_renew"])
def test_a_call_that_renews_nothing_is_recorded_and_closes(
    due: UUID, screen: Screen, store: Store, outcome: str
) -> None:
    at = pressed(open_page(screen, DUE), "Call")
    at.selectbox(key="decision.field.outcome").set_value(outcome).run()
    press(at, "Record the call")
    assert not at.exception
    assert [each.value.replace("\\", "") for each in at.success] == ["The call is recorded."]
    assert "Record the call" not in labels(at), "the dialog is closed"
    with store.reading(LIVE) as session:
        assert next(iter(calls.list_calls(session, due))).outcome == outcome


def test_what_is_due_and_what_was_renewed_is_found_by_any_part_of_a_name(due: UUID, screen: Screen) -> None:
    for find, number in {"EZE ama": 1, "nobody": 0, "e": None}.items():
        at = open_page(screen, DUE, find=find)
        if number is None:
            assert "Must have 2 to 100 characters" in texts(at)
        else:
            assert [tab(at, name) for name in ("0–7 days", "8–30 days")] == [str(number), "0"], find
    renewed = begun(open_page(screen, DUE))
    renewed.button(key="decision.confirm").click().run()
    assert "**1** renewal" in texts(open_page(screen, LIST, find="Amaka"))
    assert "No renewal matches" in open_page(screen, LIST, find="nobody").info[0].value


def test_ticked_policies_are_renewed_together_after_a_preview(due: UUID, screen: Screen, store: Store) -> None:
    caller = person_of("operations")
    with store.writing(LIVE) as session:
        calls.record_calls(session, [due], {"outcome": "refused"}, by=caller)
    at = open_page(screen, DUE)
    assert "Renew ticked" not in labels(at), "nothing is ticked"
    assert list(lists(at)[0]["Reminded"]) == ["No more"]
    payload = next(payload for payload in sent(at) if payload.get("choosing"))
    at.session_state["due_picked"] = (payload["mark"], [payload["rows"][0]["key"]])
    at.run()
    at = confirm(press(at, "Remind"))
    done = at.info[0].value.replace("\\", "")
    assert done == "No reminder is queued. Left out 1: does not want to renew."
    assert not at.success
    payload = next(payload for payload in sent(at) if payload.get("choosing"))
    at.session_state["due_picked"] = (payload["mark"], [payload["rows"][0]["key"]])
    at.run()
    at.button(key="due.renew").click().run()
    assert "**1** policy, **₦15,000.00** together" in texts(at)
    assert list(lists(at)[-1]["Last call"]) == ["Does not want it"]
    press(at, "Renew 1 for ₦15,000.00")
    assert "1 policy is renewed for ₦15,000.00." in at.success[0].value.replace("\\", "")
    assert tab(at, "0–7 days") == "0"
    with store.reading(LIVE) as session:
        assert session.execute(sa.select(Renewal.policy_id)).scalars().all() == [due]
    assert not [button for button in open_page(screen, DUE, "finance").button if button.key == "due.renew"]
