"""The privacy desk on the screens: who sees it, a request from letter to certificate, and each register once."""

import re
from datetime import date, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.compliance import breaches, complaints, erasures, filings, requests
from core.services.compliance.erasures import ErasureRow
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, Policy, Staff
from core.ui.frame import menu
from core.ui.kit import actions, words
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.selling import sell
from tests.ui.conftest import Screen, follow, labels, lists, person_of, press, row_links, sent, texts

SYSTEM = Scope.system()
PAGES = [screen.path for screen in menu.SCREENS if screen.section == "Compliance"]


@pytest.fixture
def people(store: Store) -> dict[str, Person]:
    with store.writing(SYSTEM) as session:
        for name in ("cora", "dayo"):
            session.add(Staff(email=f"{name}@d.example", name=name.title(), roles=["compliance"]))
    with store.reading(SYSTEM) as session:
        return {name: staff.get_by_email(session, f"{name}@d.example") for name in ("cora", "dayo")}


def open_page(screen: Screen, page: str, by: Person, **query: str) -> AppTest:
    return screen(path=page, signed_in=by, **query)


def fill(at: AppTest, **given: str | date) -> AppTest:
    """Fill in the open dialog and confirm it."""
    for name, value in given.items():
        for box in (*at.text_input, *at.text_area, *at.selectbox, *at.date_input):
            if box.key == actions.FIELD + name:
                box.set_value(value)
    at.button(key="decision.confirm").click().run()
    assert not at.exception
    return at


def standings(at: AppTest) -> list[str]:
    """Return how many records of a register are open, late and closed, as their buttons say it."""
    return [str(each) for each in at.button_group(key="standing").options]


@every_case("role", ["operations", "claims", "finance", "supervisor"])
def test_the_privacy_desk_is_closed_to_other_roles(role: str) -> None:
    assert {each.path for each in menu.refused_screens(person_of(role))} >= set(PAGES)


def check_waits(at: AppTest, why: str) -> None:
    assert next(each for each in at.button if each.label == "Prepare the erasure").disabled
    assert why in texts(at)


def cancel(store: Store, policy_id: UUID) -> None:
    with store.writing(SYSTEM) as session:
        session.get_one(Policy, policy_id).cancelled_at = clock.now() - timedelta(days=1)


def get_erasure(store: Store) -> ErasureRow:
    with store.reading(SYSTEM) as session:
        (erasure,) = erasures.list_erasures(session)
    return erasure


def _main(at: AppTest) -> list[str]:
    return [button.label for button in at.button if button.proto.type == "primary"]


def test_a_request_goes_from_the_letter_to_the_certificate(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sale = sell(store, partner, CREDIT_LIFE, is_live=True, email="seyi@people.example", first_name="Seyi")
    at = open_page(screen, "compliance/requests.py", people["cora"])
    press(at, "Register a request")
    at.button(key="decision.confirm").click().run()
    assert "Fill this in" in texts(at), "an empty form says what is missing"
    fill(at, kind="erasure", name="Seyi *Bold*", email="seyi@people.example", details="Please forget me")
    with store.reading(SYSTEM) as session:
        (subject_request,) = requests.list_requests(session)
    assert subject_request.number in texts(follow(at)), "what was made is opened"
    assert "Seyi" in " ".join(box.label for box in at.checkbox)
    assert _main(at) == ["Acknowledge"]
    fill(press(at, "Acknowledge"))
    assert _main(at) == ["Identity checked"]
    check_waits(at, "once it is noted how the identity")
    fill(press(at, "Identity checked"), method="Identity document seen")
    assert _main(at) == ["Prepare the erasure"]
    fill(press(at, "Prepare the erasure"), reason="The person asked for it")
    assert "1 policy in force" in texts(at), "a cover that runs is not erased"
    cancel(store, sale.policy_id)
    at = open_page(screen, "compliance/requests.py#request", people["cora"], id=str(subject_request.id))
    press(at, "Prepare the erasure")
    at.checkbox(key=f"{actions.FIELD}early").check()
    fill(at, reason="The person asked for it")
    check_waits(at, "The erasure is prepared: somebody else")
    _carry_out(store, screen, people, subject_request.number)
    at = open_page(screen, "compliance/requests.py#request", people["dayo"], id=str(subject_request.id))
    assert "Answered" in texts(at)
    assert "seyi" not in (texts(at) + " ".join(box.label for box in at.checkbox)).lower()


def _carry_out(store: Store, screen: Screen, people: dict[str, Person], request: str) -> None:
    """Let somebody else carry the erasure out, who sees whose records go."""
    page, erasure = "compliance/retention.py#erasure", get_erasure(store)
    mine = open_page(screen, page, people["cora"], id=str(erasure.id))
    assert "Carry it out" not in labels(mine)
    assert "You prepared it: somebody else of compliance carries it out." in texts(mine)
    at = open_page(screen, page, people["dayo"], id=str(erasure.id))
    assert "seyi@people.example at Swift Lenders" in texts(at)
    assert request in " ".join(link.proto.label.replace("\\", "") for link in at.get("page_link"))
    fill(press(at, "Carry it out"))
    assert "Certificate of erasure" in texts(at)
    assert "seyi" not in texts(at)


def ask(store: Store, by: Person, kind: str) -> requests.RequestRow:
    """Register a request of a person who proved who they are, and return it."""
    fields = {"kind": kind, "name": "Seyi Quist", "email": "seyi@people.example", "details": "What I ask for"}
    with store.writing(SYSTEM) as session:
        request_id = requests.register(session, fields, by=by)
    with store.writing(SYSTEM) as session:
        requests.note_identity(session, request_id, method="Identity document seen", version=1, by=by)
    with store.reading(SYSTEM) as session:
        return requests.get_request(session, request_id)


def test_before_an_erasure_the_other_open_requests_of_the_person_are_named(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sale = sell(store, partner, CREDIT_LIFE, is_live=True, email="seyi@people.example", first_name="Seyi")
    cancel(store, sale.policy_id)
    copy, erasure = (ask(store, people["cora"], kind) for kind in ("copy", "erasure"))
    notice = f"{copy.number} (copy) of the same records is open: answer it first"
    with clock.freeze(clock.now() + timedelta(days=5)):
        at = open_page(screen, "compliance/requests.py#request", people["cora"], id=str(erasure.id))
        assert "red-badge[Acknowledge" in at.title[0].value, "late as everything else that is"
    at = open_page(screen, "compliance/requests.py#request", people["cora"], id=str(erasure.id))
    assert notice in texts(at)
    press(at, "Prepare the erasure")
    at.checkbox(key=f"{actions.FIELD}early").check()
    fill(at, reason="The person asked for it")
    page = open_page(screen, "compliance/retention.py#erasure", people["dayo"], id=str(get_erasure(store).id))
    assert notice in texts(page)
    with store.writing(SYSTEM) as session:
        requests.answer(session, copy.id, outcome="The pack was handed out", version=2, by=people["cora"])
    page = open_page(screen, "compliance/retention.py#erasure", people["dayo"], id=str(get_erasure(store).id))
    assert "of the same records is open" not in texts(page)
    fill(press(page, "Carry it out"))
    at = open_page(screen, "compliance/requests.py#request", people["cora"], id=str(erasure.id))
    assert "Acknowledge by" not in texts(at), "what is closed waits for no acknowledgement"
    assert "Hold" not in labels(at), "nobody is in an erased record"


def test_a_record_on_hold_says_so_where_its_erasure_is_asked_for(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sell(store, partner, CREDIT_LIFE, is_live=True, email="seyi@people.example", first_name="Seyi")
    subject_request = ask(store, people["cora"], "erasure")
    at = open_page(screen, "compliance/requests.py#request", people["cora"], id=str(subject_request.id))
    fill(press(at, "Hold"), reason="A dispute is at court")
    at = open_page(screen, "compliance/requests.py#request", people["cora"], id=str(subject_request.id))
    assert ["On hold" in box.label for box in at.checkbox] == [True]
    assert "A dispute is at court. Somebody else lifts the hold under Retention." in texts(at)
    assert "Hold" not in labels(at)
    mine, other = (open_page(screen, "compliance/retention.py", people[name]) for name in ("cora", "dayo"))
    assert ("Lift" in labels(mine), "You set it: somebody else lifts it." in texts(mine)) == (False, True)
    assert ("Lift" in labels(other), "You set it" in texts(other)) == (True, False)


def test_a_breach_is_judged_by_one_and_closed_by_another(
    store: Store, people: dict[str, Person], screen: Screen
) -> None:
    today = clock.today()
    at = open_page(screen, "compliance/breaches.py", people["cora"])
    press(at, "Register a breach")
    days = {"known_on": today, "since_on": today, "until_on": today}
    fill(at, title="A laptop was lost", description="With a list of renewals on it", **days)
    with store.reading(SYSTEM) as session:
        (breach,) = breaches.list_breaches(session)
    follow(at)
    assert "With a list of renewals on it" in [each.value for each in at.text], "what was made is opened"
    assert standings(open_page(screen, "compliance/breaches.py", people["cora"])) == ["Open: 1", "Late: 0", "Closed: 0"]
    with clock.freeze(breach.notify_by + timedelta(hours=4, minutes=1)):
        at = open_page(screen, "compliance/breaches.py", people["cora"])
        assert standings(at) == ["Open: 1", "Late: 1", "Closed: 0"]
        (table,) = (payload for payload in sent(at) if "rows" in payload)
        assert ("5 h late", "red") in [tuple(cell) for cell in table["rows"][0]["cells"] if not isinstance(cell, str)]
    at = open_page(screen, "compliance/breaches.py#breach", people["cora"], id=str(breach.id))
    fill(press(at, "Judge the risk"), risk="likely", risk_reason="The disk was not encrypted", people="12")
    assert "To be notified" in texts(at)
    fill(press(at, "Commission notified"), reference="NDPC/1")
    assert "To be notified" not in texts(at), "the people are told of a high risk alone"
    at = open_page(screen, "compliance/breaches.py#breach", people["dayo"], id=str(breach.id))
    assert "The disk was not encrypted" in [str(each.value) for each in at.text], "whoever closes it reads why"
    assert _main(at) == ["Close"]
    fill(press(at, "Close"))
    assert "Closed" in texts(at)


def test_a_new_store_has_no_return_that_is_late_and_says_so(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    text = texts(open_page(screen, "compliance/returns.py", people["cora"]))
    assert "No return is due yet. There is no live sale and no agreement yet" in text
    assert "late" not in text
    sell(store, partner, CREDIT_LIFE, is_live=True)
    text = texts(open_page(screen, "compliance/returns.py", people["cora"]))
    assert "No return is due yet. Business began on " in text


def test_a_register_is_narrowed_to_what_is_open_late_or_named_so(people: dict[str, Person], screen: Screen) -> None:
    at = open_page(screen, "compliance/complaints.py", people["cora"])
    fill(press(at, "Register a complaint"), category="delay", name="Ada Obi", text="Nobody answers my letters")
    follow(at)
    assert "Nobody answers my letters" in [each.value for each in at.text], "what was made is opened"
    fill(press(at, "Answer"), outcome="We have called")
    at = open_page(screen, "compliance/complaints.py", people["cora"])
    fill(press(at, "Register a complaint"), category="service", name="Bola Ade", text="The agent was rude")
    at = open_page(screen, "compliance/complaints.py", people["cora"])
    assert standings(at) == ["Open: 1", "Late: 0", "Answered: 1"]
    for query, names in (
        ({"standing": "open"}, ["Bola Ade"]),
        ({"standing": "closed"}, ["Ada Obi"]),
        ({"find": "obi ada"}, ["Ada Obi"]),
        ({"find": "co-2026-0002"}, ["Bola Ade"]),
    ):
        at = open_page(screen, "compliance/complaints.py", people["cora"], **query)
        assert list(lists(at)[0]["Name"]) == names, query
        assert "**1** complaint" in texts(at)
    at = open_page(screen, "compliance/complaints.py", people["cora"], standing="late")
    assert "No complaint matches this selection." in texts(at)
    assert "Name" not in lists(at)[0]
    press(at, "Show all complaints")
    assert len(lists(at)[0]) == 2
    with clock.freeze(clock.now() + timedelta(days=90)):
        assert standings(open_page(screen, "compliance/complaints.py", people["cora"]))[1] == "Late: 1"


def test_a_complaint_is_kept_on_its_screen(store: Store, people: dict[str, Person], screen: Screen) -> None:
    at = open_page(screen, "compliance/complaints.py", people["cora"])
    press(at, "Register a complaint")
    fill(at, category="delay", name="Ada", text="Nobody answers my letters")
    with store.reading(SYSTEM) as session:
        (complaint,) = complaints.list_complaints(session)
    at = open_page(screen, "compliance/complaints.py#complaint", people["cora"], id=str(complaint.id))
    fill(press(at, "Answer"), outcome="We have called and apologised")
    assert "Answered" in texts(at)
    for kind in ("acknowledgement", "answer"):
        assert f"Complaint {complaint.number}" in texts(at)
        at.button(key=f"complaint.letters.{kind}.Post").click().run()
        assert not at.exception
    assert texts(at).count("Post, ") >= 2
    assert "Mark as sent" not in labels(at), "each is sent once"


def sell_before(store: Store, partner: Partner, **changed: str) -> None:
    """Sell a live policy in a quarter that is over."""
    with clock.freeze(clock.now() - timedelta(days=200)):
        sell(store, partner, CREDIT_LIFE, is_live=True, **changed)


def test_a_return_that_is_late_says_so(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sell_before(store, partner)
    with store.reading(SYSTEM) as session:
        first = filings.list_calendar(session)[0]
    table, *_ = (
        payload for payload in sent(open_page(screen, "compliance/returns.py", people["cora"])) if "rows" in payload
    )
    late = f"{-(first.days_left or 0)} days late"
    assert (late, "red") in [tuple(cell) for cell in table["rows"][0]["cells"] if not isinstance(cell, str)]
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=first.key)
    assert f":red-badge[{late}]" in at.title[0].value


def test_a_return_is_prepared_checked_and_sent_with_its_figures(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sell_before(store, partner)
    with store.reading(SYSTEM) as session:
        first = next(row for row in filings.list_calendar(session) if row.kind == "brokerage")
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=first.key)
    assert lists(at)[0].iloc[0]["Group"] != "", "whoever prepares it has the figures on the page"
    fill(press(at, "Mark as prepared"))
    assert f"Kind: {words.title(first.kind)} · Period ends on: {words.day(first.period_ends_on)}" in texts(at)
    assert "Mark as checked" not in labels(at), "who prepared it does not check it"
    with store.reading(SYSTEM) as session:
        query = sa.select(col(AuditEntry.id)).where(col(AuditEntry.action) == "return prepared")
        entry_id = session.execute(query).scalar_one()
    entry = screen("admin", path="admin/audit_log.py#audit_entry", id=str(entry_id)).table[0].value
    assert "All insurers, Premium" in list(entry["Fact"]), "each figure has a line in the log"
    at = open_page(screen, "compliance/returns.py#filing", people["dayo"], id=first.key)
    assert "have moved" not in texts(at)
    sell_before(store, partner, email="b@people.example", phone_number="08011112222")
    at = open_page(screen, "compliance/returns.py#filing", people["dayo"], id=first.key)
    (figures,) = lists(at)
    assert list(figures.columns) == ["Group", "Figure", "Value", "When prepared"]
    press(at, "Mark as checked")
    assert texts(at).count("have moved since the return was prepared") == 2, "on the page and in the dialog"
    assert re.search(r":orange\[.*All insurers.*: 1 then, 2 now", texts(at)), "the checker sees what was and is"
    fill(at)
    fill(press(at, "Mark as sent"), reference="NAICOM/7")
    assert "as they were when the return was checked" in texts(at)
    assert list(lists(at)[0]["Value"]) == list(figures["Value"])
    assert "NAICOM/7" in [str(text.value) for text in at.text]


def test_a_figure_that_moves_while_a_return_is_looked_at_is_confirmed_only_once_it_was_seen(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sell_before(store, partner)
    with store.reading(SYSTEM) as session:
        key = next(row for row in filings.list_calendar(session) if row.kind == "brokerage").key
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=key)
    press(at, "Mark as prepared")
    sell_before(store, partner, email="b@people.example", phone_number="08011112222")
    fill(at)
    assert "Figures have moved since you opened this return" in at.error[-1].value
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=key)
    fill(press(at, "Mark as prepared"))
    assert "Mark as prepared" not in labels(at)


def test_a_return_leads_to_where_its_figures_are_looked_up_and_says_that_there_are_none(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sell_before(store, partner)
    with store.reading(SYSTEM) as session:
        calendar = [row for row in filings.list_calendar(session) if row.kind == "brokerage"]
    sold, empty = calendar[0], calendar[-1]
    at = open_page(screen, "compliance/returns.py#filing", person_of("compliance", "finance"), id=sold.key)
    days = f"from={sold.window.start}&to={sold.window.last}"
    assert all(days in str(link) for link in row_links(at)), row_links(at)
    assert "provider=" in str(row_links(at)[0])
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=sold.key)
    assert set(row_links(at)) == {None}
    assert "Finance looks them up under Dashboard and Movements." in texts(at)
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=empty.key)
    assert "The books have no figure for this period" in texts(at)


def test_who_prepares_or_checks_a_return_is_told_what_is_to_be_done_first(
    store: Store, partner: Partner, people: dict[str, Person], screen: Screen
) -> None:
    sell_before(store, partner)
    with store.reading(SYSTEM) as session:
        first = {row.kind: row.key for row in reversed(filings.list_calendar(session))}
    for by, button in (("cora", "Mark as prepared"), ("dayo", "Mark as checked")):
        at = open_page(screen, "compliance/returns.py#filing", people[by], id=first["client_account"])
        press(at, button)
        assert "1 figure in amber says what is to be done first: parties without a statement." in texts(at)
        fill(at)
    at = open_page(screen, "compliance/returns.py#filing", people["cora"], id=first["brokerage"])
    press(at, "Mark as prepared")
    assert "in amber" not in texts(at)


def test_a_day_that_was_typed_is_shown_as_a_day(people: dict[str, Person], screen: Screen) -> None:
    day = clock.today() - timedelta(days=3)
    at = open_page(screen, "compliance/requests.py", people["cora"])
    press(at, "Register a request")
    fill(at, kind="access", name="Seyi", email="seyi@people.example", details="What do you hold?", received_on=day)
    fill(press(follow(at), "Acknowledge"))
    assert ":blue-badge[Acknowledged]" in at.title[0].value, "it is begun, not done"
    shown = [str(text.value) for text in at.text]
    at = open_page(screen, "compliance/breaches.py", people["cora"])
    press(at, "Register a breach")
    fill(at, title="A laptop", description="With a list", known_on=day, since_on=day, until_on=day)
    shown += [str(text.value) for text in follow(at).text]
    ends = [text for text in shown if ", 00:00" in text]
    assert ends == [words.moment(clock.lagos_midnight(clock.today()))], "the last hour of the notice alone has a time"
    requests_, breaches_ = (
        next(
            payload for payload in sent(open_page(screen, f"compliance/{page}.py", people["cora"])) if "rows" in payload
        )
        for page in ("requests", "breaches")
    )
    assert words.day(day) in breaches_["rows"][0]["cells"]
    assert ["Acknowledged", "blue"] in requests_["rows"][0]["cells"]
    stays = [head["label"] for head in requests_["columns"] if head["classes"].split()[0] != "less"]
    assert stays == ["Number", "Name", "State", "Left"], "on a telephone too"


def test_a_figure_on_a_telephone_is_its_name_and_amount_alone(people: dict[str, Person], screen: Screen) -> None:
    table, year = (
        payload for payload in sent(open_page(screen, "compliance/figures.py", people["cora"])) if "rows" in payload
    )
    assert [head["label"] for head in year["columns"] if "right" in head["classes"]] == ["Number"]
    assert "text" in table["columns"][-1]["classes"].split(), "the source of a figure is read to its end"
    assert {head["label"]: head["classes"].split()[0] for head in table["columns"]} == {
        "Figure": "first",
        "Amount": "corner",
        "From": "less",
        "Source": "less",
    }


def test_addresses_that_name_nothing_say_so(people: dict[str, Person], screen: Screen) -> None:
    for page in ("requests.py#request", "retention.py#erasure", "breaches.py#breach", "complaints.py#complaint"):
        for given in ("x", str(UUID(int=1))):
            at = open_page(screen, f"compliance/{page}", people["cora"], id=given)
            assert at.error, page
    assert open_page(screen, "compliance/returns.py#filing", people["cora"], id="brokerage 1999-01-01").error
