"""The queue and the performance of claims on the screen: views, filters, who takes what, and where a click leads."""

import re
import secrets
from collections.abc import Callable
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.reports.figures import CLAIM_METRICS
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import questions
from core.services.claims.workflow import tasks as claim_tasks
from core.ui.kit import words
from core.ui.lists import tables
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.ui.conftest import Screen, address, follow, labels, lists, press, row_links, sent, texts

pytestmark = pytest.mark.frozen_at(NOON)

QUEUE, PERFORMANCE = "claims/queue.py", "claims/performance.py"
Opened = Callable[..., AppTest]


@pytest.fixture
def lives(office: Office) -> dict[str, UUID]:
    """Five claims: two that nobody has, two of Ada's, and one that was declined."""
    lodged = {"over": 70, "fresh": 2, "mine": 20, "asked": 30, "declined": 9}
    found = {name: office.lodge(at=NOON - timedelta(days=days), text=name) for name, days in lodged.items()}
    for name in ("mine", "asked"):
        office.put(found[name], assigned_to=office.people["ada"].id)
    with clock.freeze(NOON - timedelta(days=3)):
        office.walk(found["declined"], "Declined")
        office.do(questions.ask_claimant, found["asked"], text="Please send the letter.")
    return found


@pytest.fixture
def opened(office: Office, screen: Screen) -> Opened:
    """Opens a page as one of the office, in test mode, where its claims are."""

    def open_(path: str = QUEUE, /, *, by: str = "ada", **query: str) -> AppTest:
        return screen(path=path, signed_in=office.people[by], **{"mode": "test", **query})

    return open_


def shown(at: AppTest) -> list[str]:
    """The claims on the screen by their references; none when there is no table."""
    return list(lists(at)[0]["Reference"]) if lists(at) else []


def references(office: Office, *claim_ids: UUID) -> list[str]:
    return [f"C-{claim_id.hex[-8:].upper()}" for claim_id in claim_ids]


def choose(at: AppTest, *places: int) -> AppTest:
    """Tick the boxes of some rows."""
    shown = next(payload for payload in sent(at) if "rows" in payload)
    at.session_state["claims_picked"] = (shown["mark"], [shown["rows"][place]["key"] for place in places])
    return at.run()


def test_an_officer_comes_home_to_their_own_claims(opened: Opened, office: Office, lives: dict[str, UUID]) -> None:
    at = opened()
    assert at.title[0].value.startswith("Queue")
    assert shown(at) == references(office, lives["mine"], lives["asked"])
    assert list(lists(at)[0]["Days left"]) == ["40 days", "Paused, 33 left"]
    assert list(lists(at)[0]["Status"]) == ["Pending", "Pending"]
    labels = [option.content for option in at.segmented_control(key="claims_view").proto.options]
    assert labels == [
        "Mine **2**",
        "Unassigned **2**",
        "Referred **0**",
        "Lapsed **0**",
        "To pay **0**",
        "Overdue or near **1**",
        "Waiting **1**",
        "Open **4**",
        "All **5**",
    ]


def test_each_view_shows_what_it_counts_and_the_footer_the_whole(
    opened: Opened, office: Office, lives: dict[str, UUID]
) -> None:
    at = opened(view="all")
    for view, names in {
        "unassigned": ("over", "fresh"),
        "near": ("over",),
        "waiting": ("asked",),
        "open": ("over", "mine", "fresh", "asked"),
        "all": ("over", "mine", "fresh", "asked", "declined"),
    }.items():
        at.segmented_control(key="claims_view").set_value(view).run()
        at.run()
        assert address(at)["view"] == [view]
        assert shown(at) == references(office, *(lives[name] for name in names))
    with office.store.reading(DESK) as session:
        total = claim_totals.get_totals(session, ClaimFilter())
    assert f"**{words.naira(total.claimed_minor)}**" in texts(at)
    assert re.search(r"\*\*5\*\* claims · ₦[\d,\\.]+ claimed", texts(at))


def test_what_is_referred_says_which_decision_is_asked_for(opened: Opened, office: Office) -> None:
    first, second = (office.lodge(incident_date="2026-11-18") for _ in range(2))
    for claim_id in (first, second):
        office.move(claim_id, "Reviewing", by="ada")
    referral = {"to": "Approved", "amount": "75000", "note": "Please decide", "version": office.claim(second).version}
    office.do(claim_tasks.refer_claim, second, by="ada", **referral)
    [rows] = lists(opened(view="referred", by="sade"))
    assert (list(rows["Referred for"]), list(rows["Reference"])) == (["Approved"], references(office, second))
    assert "Referred for" not in lists(opened(view="open", by="sade"))[0]
    [rows] = lists(opened(view="open", by="sade", show=["reference", "referred"]))
    assert sorted(rows["Referred for"]) == ["Approved", "–"]


def test_claims_and_their_payments_are_exported_from_one_page(opened: Opened, office: Office) -> None:
    office.walk(office.lodge(), "Approved", "Offer sent", "Offer accepted", "Paid")
    at = opened(view="all")
    files = [urlsplit(link.proto.url).path for link in at.get("link_button")]
    claims = "/exports/claims.csv"
    assert [name for name in files if name.endswith(".csv")] == [claims, claims, "/exports/claim-payments.csv"]
    popovers = [node.proto.popover.label for node in at.main if getattr(node, "type", "") == "popover"]
    assert [label for label in popovers if "xport" in label] == ["Export", "Export payments"]


def test_filters_stand_in_the_address_and_reset_keeps_the_view(
    opened: Opened, office: Office, lives: dict[str, UUID]
) -> None:
    at = opened(view="all", order="newest")
    at.multiselect(key="status").set_value(["Declined"]).run()
    assert shown(at) == references(office, lives["declined"])
    at.multiselect(key="reason").set_value(["other"]).run()
    assert (shown(at), address(at)["reason"]) == ([], ["other"])
    assert "No claim of this view matches" in at.info[0].value
    press(at, "Reset filters")
    assert address(at) == {"mode": ["test"], "view": ["all"], "order": ["newest"]}
    at.text_input(key="q").set_value(references(office, lives["fresh"])[0]).run()
    assert shown(at) == references(office, lives["fresh"])
    press(at, "Reset filters")
    at.text_input(key="amount").set_value("12,345.50").run()
    assert (shown(at), at.text_input(key="amount").value) == ([], "12,345.50")
    assert len(shown(press(at, "Show the whole view"))) == 5


@every_case(
    ("query", "message"),
    [
        ({"view": "theirs"}, "must be one of mine, unassigned"),
        ({"from": "yesterday", "view": "all"}, "must be one day"),
        ({"amount": "lots"}, "must be an amount in naira"),
        ({"status": "Lost"}, "must be one of"),
    ],
)
def test_a_wrong_address_is_said_and_leads_back(opened: Opened, query: dict[str, str], message: str) -> None:
    at = opened(**query)
    assert message in at.error[0].value.replace("\\", "")
    press(at, "Start again without filters")
    assert not at.error
    assert "There is no claim in this mode yet" in at.info[0].value


@every_case("view", ["mine", "near", "all"])
def test_an_empty_view_says_what_to_do(opened: Opened, view: str) -> None:
    at = opened(view=view)
    assert len(at.info) == 1
    assert not lists(at)
    assert "Take next" in labels(at)


@every_case(
    ("view", "notice"),
    [
        ("referred", "No decision waits for a supervisor."),
        ("lapsed", "Every approval of an open claim stands."),
        ("to_pay", "Every offer that was accepted is paid."),
    ],
)
@pytest.mark.usefixtures("lives")
def test_a_view_that_holds_no_claim_says_so(opened: Opened, view: str, notice: str) -> None:
    assert [info.value for info in opened(view=view).info] == [notice]


def test_chosen_claims_are_assigned_once_and_let_go(opened: Opened, office: Office, lives: dict[str, UUID]) -> None:
    at = opened(view="unassigned")
    assert not [button for button in at.button if button.label == "Assign to me"]
    choose(at, 0, 1)
    assert "**2** ticked" in texts(at)
    press(at, "Assign to me")
    assert "2 claims assigned to you" in texts(at)
    assert {office.claim(lives[name]).assigned_to for name in ("over", "fresh")} == {office.people["ada"].id}
    assert "Every claim that is open or still to be settled has somebody" in at.info[0].value
    entries = [entry.action for entry in office.log(lives["over"])]
    assert entries.count("claim assigned") == 1
    at.segmented_control(key="claims_view").set_value("open").run()
    choose(at.run(), 0)
    at.selectbox(key="claims_colleague").set_value(office.people["bola"].id).run()
    press(at, "Assign 1 to bola")
    assert office.claim(lives["over"]).assigned_to == office.people["bola"].id
    choose(at, 0)
    press(at, "Unassign")
    assert office.claim(lives["over"]).assigned_to is None


def test_who_was_slower_is_told_who_took_it(opened: Opened, office: Office, lives: dict[str, UUID]) -> None:
    at = choose(opened(view="unassigned"), 0, 1)
    office.do(claim_moves.assign_claim, lives["over"], to=office.people["bola"].id, version=1)
    press(at, "Assign to me")
    assert "was taken by bola" in at.warning[0].value
    assert "1 claim assigned to you" in texts(at)
    assert office.claim(lives["over"]).assigned_to == office.people["bola"].id


def test_a_choice_stays_with_its_claims_when_the_table_changes(
    opened: Opened, office: Office, lives: dict[str, UUID]
) -> None:
    at = choose(opened(view="open"), 1)
    office.walk(lives["over"], "Declined")
    at.run()
    assert shown(at)[0] == references(office, lives["mine"])[0]
    assert next(payload for payload in sent(at) if "rows" in payload)["chosen"] == [str(lives["mine"])]
    press(at, "Unassign")
    assert office.claim(lives["mine"]).assigned_to is None


def test_chosen_claims_are_asked_together(opened: Opened, office: Office, lives: dict[str, UUID]) -> None:
    at = choose(opened(view="open"), 0, 1)
    at.text_area(key="claims_question").set_value("Please send the letter")
    at.button(key="ask_claimants").click().run()
    assert not at.exception
    assert "2 claims are asked." in texts(at)
    assert office.claim(lives["over"]).clock_stopped_at


def test_next_is_taken_and_opened_and_leads_back(opened: Opened, office: Office, lives: dict[str, UUID]) -> None:
    at = opened(by="bola", view="near")
    follow(press(at, "Take next"))
    assert address(at)["id"] == [str(lives["over"])]
    assert office.claim(lives["over"]).assigned_to == office.people["bola"].id
    assert at.session_state["claims_address"]["view"] == ["near"]
    office.put(lives["fresh"], assigned_to=office.people["ada"].id)
    at = opened(by="bola")
    press(at, "Take next")
    assert "Nothing is left to take" in at.info[0].value
    assert not at.success


def test_a_row_opens_its_claim(opened: Opened, office: Office, lives: dict[str, UUID]) -> None:
    at = opened(view="near")
    follow(at, row_links(at)[0])
    assert address(at)["id"] == [str(lives["over"])]


def test_a_page_that_does_not_exist_is_said(
    opened: Opened, lives: dict[str, UUID], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PAGE_SIZE", 2)
    at = opened(view="all", page="4")
    assert "There is no page" in texts(at)
    assert len(shown(press(at, "Go to the first page"))) == 2


@every_case("page", [QUEUE, PERFORMANCE])
def test_who_works_no_claims_has_neither_screen(screen: Screen, page: str) -> None:
    with pytest.raises(ValueError, match="claims"):
        screen("operations", path=page)


def test_performance_of_nothing_says_what_to_do(opened: Opened) -> None:
    at = opened(PERFORMANCE, by="sade")
    assert "No claim was lodged or decided" in at.info[0].value
    assert {tile["value"] for payload in sent(at) for tile in payload.get("tiles", ())} == {"0", "₦0.00", "–"}


def test_performance_leads_from_its_charts_to_the_claims(
    opened: Opened, office: Office, lives: dict[str, UUID]
) -> None:
    at = opened(PERFORMANCE, by="sade")
    (figures,) = (payload for payload in sent(at) if "tiles" in payload)
    assert (figures["first"], len(figures["tiles"])) == (8, len(CLAIM_METRICS))
    values = {tile["label"]: tile["value"] for tile in figures["tiles"]}
    assert (values["Claims lodged"], values["Decided"], values["Decline rate"]) == ("5", "1", "100.0 %")
    assert "**4** open now" in texts(at)
    losses = next(each for each in lists(at) if "Losses" in each)
    officers = next(each for each in lists(at) if "Officer" in each)
    assert list(losses["Losses"]) == ["5", "5"]
    assert losses["Product"][0] == "Total"
    assert list(officers["Officer"]) == ["Nobody", "ada", "bola"]
    assert list(officers["Overdue now"]) == ["1", "0", "0"]
    for query, names in (
        ({"view": "open", "from": "2026-10-21", "to": "2026-11-05"}, ("mine", "asked")),
        ({"view": "all", "status": "Declined", "reason": "exclusion", "decided_from": "2026-11-17"}, ("declined",)),
    ):
        at = opened(PERFORMANCE, by="sade")
        at.session_state["performance_go"] = query
        follow(at.run())
        assert shown(at) == references(office, *(lives[name] for name in names))
    at = opened(PERFORMANCE, by="sade")
    follow(at, row_links(at)[1])
    assert shown(at) == references(office, lives["mine"], lives["asked"])


def test_a_page_leads_on_whatever_the_random_texts_are(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: "a__b")
    at = opened(PERFORMANCE, by="sade")
    at.session_state["performance_go"] = {"view": "open"}
    at.run()
    assert not at.exception
    follow(at)


def test_a_wrong_period_is_said(opened: Opened) -> None:
    at = opened(PERFORMANCE, by="sade", period="never")
    assert "must be one of" in at.error[0].value
