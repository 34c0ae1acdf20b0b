"""The screen of what waits for insurers: empty, full, narrowed, wrong, retried, refused."""

import csv
import io
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import clock, ids, money, settings
from core.covers.insurers import insurer_a, insurer_b, insurer_d
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.services.audit import log as audit
from core.services.insurers import awaiting
from core.services.lists.exports import CSV, Arrangement
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import InsurerConnection, Submission
from core.ui.kit import words
from tests.conftest import Partner, add_colleague
from tests.every_case import every_case
from tests.pages import turn_to
from tests.services.selling import sell
from tests.ui.conftest import Screen, address, follow, lists, press, row_links, sent, texts

PAGE = "policies/awaiting.py"
REFUSAL = "The insurer refused the request (422): The engine number is missing"


@pytest.fixture(autouse=True)
def connected(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("COVERDESK_INSURER_B_URL", "https://insurer.example")
    settings.settings.cache_clear()
    yield
    settings.settings.cache_clear()


@pytest.fixture
def aside(store: Store, partner: Partner) -> Sale:
    """A pending policy of insurer-b that was set aside."""
    sale = sell(store, partner, insurer_b.COMPREHENSIVE, is_live=True)
    with store.writing(Scope.system()) as session:
        submission = session.get_one(Submission, sale.policy_id)
        submission.state, submission.attempts, submission.last_error, submission.next_try_at = "dead", 12, REFUSAL, None
    return sale


def open_page(screen: Screen, **query: str) -> AppTest:
    return screen("operations", path=PAGE, **query)


def rows(at: AppTest) -> Any:
    return lists(at)[0]


def state(store: Store, sale: Sale) -> str:
    with store.reading(Scope.system()) as session:
        return session.get_one(Submission, sale.policy_id).state


def export(arrangement: Arrangement) -> list[dict[str, str]]:
    """The rows of a file of all that waits."""
    order = ExportOrder(
        id=ids.new(),
        actor="tests",
        kind=awaiting.WAITING,
        format=CSV,
        selection=awaiting.SubmissionFilter(),
        is_live=True,
        arrangement=arrangement,
    )
    out = io.BytesIO()
    export_runs.write_file(order, out)
    return list(csv.DictReader(io.StringIO(out.getvalue().decode())))


def test_nothing_waiting_says_so(screen: Screen, store: Store) -> None:
    at = open_page(screen)
    assert "Nothing waits for an insurer" in at.info[0].value
    assert "Not used yet" in texts(at)
    assert "Without a connection, and nothing waiting" in texts(at)


def test_queue_shows_why_and_each_insurers_health(screen: Screen, store: Store, partner: Partner, aside: Sale) -> None:
    other = sell(store, partner, insurer_d.COVERS[0], is_live=True)
    at = open_page(screen)
    shown = rows(at)
    premium = money.to_minor(other.price.total + aside.price.total)
    assert f"waiting · {words.naira(premium)} of premium" in texts(at)
    narrowed = texts(open_page(screen, state="dead"))
    assert f"waiting · {words.naira_of(aside.price.total)} of premium" in narrowed
    assert sorted(shown["State"]) == [f"Set aside: needs you. {REFUSAL}", "Tell the insurer by hand"]
    assert "Connection" not in shown, "it is said with the state, which it could contradict"
    assert len(rows(open_page(screen, connection="none"))) == list(shown["State"]).count("Tell the insurer by hand")
    assert "Last answer" not in shown, "it is said with the state too"
    assert all(each.endswith(" left") for each in shown["Target"])
    assert list(shown.sort_values("State")["Act"]) == ["Send now", "Told by hand"]
    assert "**2** policies waiting" in texts(at)
    assert "**0** waiting" in texts(at)
    assert "**0** waiting  \n:red[**1** set aside: needs you], the oldest for " in texts(at)
    assert "**1** waiting, the oldest for " in texts(at)
    assert {link.proto.label for link in at.get("link_button")} >= {"CSV as shown", "XLSX as shown", "Export CSV"}
    written = export(Arrangement())
    assert [(row["state"], row["last_answer"], row["target"]) for row in written] == [
        ("Set aside", REFUSAL, "within"),
        ("Not connected", "", "within"),
    ], "the longest waiting first"
    assert sum(money.to_minor(Decimal(row["premium"])) for row in written) == premium
    assert {row["customer_name"] for row in written} == set(shown["Customer"])


def test_a_file_as_shown_says_of_each_policy_what_the_screen_says(
    screen: Screen, store: Store, partner: Partner, aside: Sale
) -> None:
    now = clock.now()
    for cover in (insurer_d.COVERS[0], insurer_a.COMPREHENSIVE):
        sell(store, partner, cover, is_live=True)
    connected: list[dict[str, Any]] = [
        {},
        {"leased_until": now + timedelta(minutes=1), "attempts": 2},
        {"answer": "pending", "attempts": 1, "next_try_at": now},
        {"failures": 3, "attempts": 3, "last_error": "It answered 503", "next_try_at": now},
    ]
    for number, changes in enumerate(connected):
        sale = sell(
            *(store, partner, insurer_b.COMPREHENSIVE),
            is_live=True,
            registration_number=f"LSD-{number}00AB",
            email=f"{number}@x.example",
        )
        with store.writing(Scope.system()) as session:
            submission = session.get_one(Submission, sale.policy_id)
            for name, value in changes.items():
                setattr(submission, name, value)

    def read() -> list[str]:
        with clock.freeze(now + timedelta(seconds=1)):
            shown = rows(open_page(screen))
            written = export(Arrangement(columns=("standing", "time_to_target"), form="people"))
        for name in ("State", "Target"):
            assert [row[name] for row in written] == list(shown[name])
        return list(shown["State"])

    at = clock.format_lagos(now, "%H:%M")
    known = {
        f"Set aside: needs you. {REFUSAL}",
        "Tell the insurer by hand",
        "Ask the insurer, then activate",
        "Being sent, try 2",
        f"The insurer decides, next {at}",
        f"Not taken yet, 3 tries, next {at}: It answered 503",
    }
    assert known < set(read())
    with store.writing(Scope.system()) as session:
        provider_id = session.get_one(Submission, aside.policy_id).provider_id
        failure = {"failures": 2, "last_failure_at": now, "last_error": "It answered 503"}
        session.insert(InsurerConnection(provider_id=provider_id, **failure))
    assert f"Connection failing, 3 tries, next {at}: It answered 503" in read()
    with clock.freeze(now + timedelta(days=9)):
        assert {row["Target"][-5:] for row in export(Arrangement(columns=("time_to_target",), form="people"))} == {
            " over"
        }


def test_what_waits_is_found_by_whoever_calls_about_it(screen: Screen, store: Store, partner: Partner) -> None:
    plates = ("LSD-123AB", "ABJ-987ZZ")
    first, _ = (
        sell(
            store, partner, insurer_b.COMPREHENSIVE, is_live=True, registration_number=plate, email=f"{plate}@x.example"
        )
        for plate in plates
    )
    at = open_page(screen)
    assert all("comprehensive" in each.lower() for each in rows(at)["Product"]), "what waits, without choosing columns"
    at.text_input(key="find").set_value("lsd 123").run()
    assert [link for link in row_links(at) if str(first.policy_id) in str(link)] == row_links(at)
    assert len(rows(at)) == 1
    assert address(at)["find"] == ["lsd 123"]
    at = open_page(screen, find="nobody of this name")
    assert "Nothing that waits matches" in texts(at)
    assert len(rows(press(at, "Show all that waits"))) == 2


def test_a_row_is_retried_and_opened_by_its_buttons(screen: Screen, store: Store, aside: Sale) -> None:
    at = open_page(screen, state="dead")
    at.session_state["awaiting_act"] = aside.policy_id, ""
    at.run()
    assert "stands first in the queue" in texts(at)
    assert state(store, aside) == "queued"
    at = open_page(screen)
    follow(at, row_links(at)[0])
    assert "Policy awaiting its number" in at.title[0].value
    assert "Back to awaiting insurer" in [link.proto.label for link in at.get("page_link")]


def test_what_a_row_offers_without_a_connection_is_what_is_to_be_done(
    screen: Screen, store: Store, partner: Partner
) -> None:
    active, pending = (
        sell(store, partner, cover, is_live=True) for cover in (insurer_d.COVERS[0], insurer_a.COMPREHENSIVE)
    )
    with store.writing(Scope.system()) as session:
        session.get_one(Submission, pending.policy_id).state = "dead"
    at = open_page(screen)
    assert "set aside" not in texts(at), "it is told by hand as the other one is"
    shown = rows(at)
    assert dict(zip(shown["State"], shown["Act"], strict=True)) == {
        "Tell the insurer by hand": "Told by hand",
        "Ask the insurer, then activate": "Activate",
    }
    at = open_page(screen)
    at.session_state["awaiting_act"] = pending.policy_id, ""
    at = follow(at.run())
    assert at.query_params["id"] == str(pending.policy_id)
    assert "What will happen" in texts(at), "its activation is open"
    at = open_page(screen)
    at.session_state["awaiting_act"] = active.policy_id, ""
    assert "noted as reported to its insurer" in texts(at.run())
    assert list(rows(at)["Act"]) == ["Activate"]


def test_ticked_policies_are_sent_again_together(screen: Screen, store: Store, partner: Partner, aside: Sale) -> None:
    other = sell(store, partner, insurer_d.COVERS[0], is_live=True)
    at = open_page(screen)
    assert "awaiting.resend" not in {button.key for button in at.button}
    mark = next(payload["mark"] for payload in sent(at) if "rows" in payload)
    at.session_state["awaiting_picked"] = (mark, [str(aside.policy_id), str(other.policy_id)])
    at.run()
    at.button(key="awaiting.resend").click().run()
    assert "1 policy first in the queue. Left out 1: This insurer has no connection" in texts(at)
    assert state(store, aside) == "queued"


def test_what_changes_nothing_for_any_ticked_policy_is_no_success(
    screen: Screen, store: Store, partner: Partner
) -> None:
    pending = sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True)
    at = open_page(screen)
    mark = next(payload["mark"] for payload in sent(at) if "rows" in payload)
    at.session_state["awaiting_picked"] = (mark, [str(pending.policy_id)])
    at.run()
    at.button(key="awaiting.reported").click().run()
    assert "Nothing was changed. Left out 1: This policy is pending" in at.error[0].value.replace("\\", "")
    assert not at.success


def test_retrying_all_asks_first_and_then_queues_them(screen: Screen, store: Store, aside: Sale) -> None:
    at = press(open_page(screen), "Retry 1 set aside")
    assert "**1** policy that was set aside for **Baobab Ridge Assurance**" in texts(at)
    assert state(store, aside) == "dead"
    at.button(key="decision.confirm").click().run()
    assert "1 policy is queued again for Baobab Ridge Assurance" in texts(at)
    assert state(store, aside) == "queued"
    assert not [button for button in at.button if button.key == "decision.confirm"]


def test_filters_of_the_address_narrow_and_the_way_back_is_visible(screen: Screen, store: Store, aside: Sale) -> None:
    assert len(rows(open_page(screen, state="dead"))) == 1
    at = open_page(screen, state="deciding")
    assert "Nothing that waits matches" in at.info[0].value
    press(at, "Show all that waits")
    assert len(rows(at)) == 1


@every_case(
    ("query", "message"),
    [
        ({"provider": "nobody"}, "**Insurer** names nothing that is known here"),
        ({"state": "lost"}, "must be one of queued"),
    ],
)
def test_an_address_that_cannot_be_meant_says_why(
    screen: Screen, store: Store, query: dict[str, str], message: str
) -> None:
    at = open_page(screen, **query)
    assert message in at.error[0].value
    assert not lists(at)


def test_a_page_past_the_end_leads_back(screen: Screen, aside: Sale) -> None:
    assert "There is no page" in open_page(screen, page="9").warning[0].value


def test_claims_officers_have_no_such_screen(screen: Screen, store: Store) -> None:
    with pytest.raises(ValueError, match="awaiting"):
        turn_to(screen("claims"), PAGE)


def test_policy_is_resent_from_its_own_screen(screen: Screen, store: Store, aside: Sale) -> None:
    at = screen("operations")
    turn_to(at, "policies/policy.py")
    at.query_params["id"] = str(aside.policy_id)
    at.run()
    assert REFUSAL in texts(at)
    press(at, "Resend to the insurer")
    assert "stands first in the queue" in texts(at)
    assert state(store, aside) == "queued"
    assert ":gray-badge[Queued]" in texts(at)


def test_claims_officers_see_the_story_and_cannot_resend(screen: Screen, aside: Sale) -> None:
    at = screen("claims")
    turn_to(at, "policies/policy.py")
    at.query_params["id"] = str(aside.policy_id)
    at.run()
    assert REFUSAL in texts(at)
    assert not [button for button in at.button if button.label == "Resend to the insurer"]


def test_ticked_policies_get_an_owner_whose_they_are_listed_as(screen: Screen, store: Store, aside: Sale) -> None:
    with store.writing(Scope.system()) as session:
        bola, _ = (add_colleague(session, name) for name in ("Bola", "Chidi"))
    at = open_page(screen)
    assert list(rows(at)["Owner"]) == ["–"]
    mark = next(payload["mark"] for payload in sent(at) if "rows" in payload)
    at.session_state["awaiting_picked"] = (mark, [str(aside.policy_id)])
    at.run()
    at.selectbox(key="awaiting_owner_choice").set_value(bola.id).run()
    at.button(key="awaiting.owner").click().run()
    assert "1 policy now with Bola." in texts(at)
    assert list(rows(at)["Owner"]) == ["Bola"]
    assert list(rows(open_page(screen, owned_by=str(bola.id)))["Owner"]) == ["Bola"]
    assert "Nothing that waits matches" in texts(open_page(screen, owned_by="nobody"))
    assert "Owner: Bola" in [button.label for button in open_page(screen, owned_by=str(bola.id)).button]
    with store.reading(Scope.system()) as session:
        actions = [entry.action for entry in audit.list_history(session, f"policy {aside.policy_id}")]
    assert actions[-1] == "owner of a waiting policy set"


def test_what_is_past_its_target_is_a_filter(screen: Screen, store: Store, aside: Sale) -> None:
    assert "Nothing that waits matches" in texts(open_page(screen, late="yes"))
    assert len(rows(open_page(screen, late="no"))) == 1
    with clock.freeze(clock.now() + timedelta(days=2)):
        at = open_page(screen, late="yes")
        assert next(iter(rows(at)["Target"])).endswith(" over")
        assert "Nothing that waits matches" in texts(open_page(screen, late="no"))
