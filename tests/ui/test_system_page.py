"""System on the screen: healthy at a glance, and the check of the whole store with what it found."""

from datetime import timedelta

import sqlalchemy as sa

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_a
from core.services.audit import log as audit
from core.services.finance.parties import Party
from core.services.mail import mail
from core.services.renewals import automations
from core.store.access import Scope, Store
from core.store.schema.tables import WebhookEndpoint
from tests.conftest import Partner
from tests.services.finance_office import Finance
from tests.services.selling import sell
from tests.ui.conftest import Screen, press, texts

PAGE = "admin/system.py"


def read_tables(at: object) -> str:
    return str([element.value for element in at.get("table")])  # type: ignore[attr-defined]


def test_a_healthy_desk_says_so_and_its_store_holds(screen: Screen, store: Store) -> None:
    at = screen("admin", path=PAGE)
    badges = [badge.value for badge in at.markdown if "badge[" in badge.value]
    assert badges
    assert not [badge for badge in badges if ":red-badge" in badge]
    assert "Not checked in this session yet" in texts(at)
    press(at, "Check now")
    at.session_state["system.check"].wait()
    at.run()
    assert "Everything holds" in at.success[0].value


def test_what_does_not_hold_is_shown_by_its_rule(screen: Screen, store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        session.execute(sa.text("UPDATE audit_head SET hash = 'x'"))
    at = screen("admin", path=PAGE)
    press(at, "Check now")
    at.session_state["system.check"].wait()
    at.run()
    assert "rules do not hold" in at.error[0].value


def test_endpoints_that_are_disabled_are_named_and_e_mail_without_a_server_is_not_configured(
    screen: Screen, store: Store, partner: Partner
) -> None:
    with store.writing(Scope.system()) as session:
        owner = {"distributor_id": partner.id, "is_live": True, "url": "https://x.example/", "secret": ""}
        session.insert(*(WebhookEndpoint(state=state, **owner) for state in ("disabled", "failing", "active")))
        mail.send(session, "a@b.example", "endpoint failing", {"mode": "live", "endpoint": "x", "reason": "y"})
    text = texts(screen("admin", path=PAGE))
    assert "Webhook endpoints: 1 failing and 1 disabled" in text
    assert "Not configured: set COVERDESK" in text.replace("\\", "")


def test_a_store_that_was_restored_says_so_for_a_month(screen: Screen, store: Store) -> None:
    facts = {"made_at": "2026-11-20T02:00:00Z"}
    for days in (3, 40):
        with clock.freeze(clock.now() - timedelta(days=days)), store.writing(Scope.system()) as session:
            audit.write(
                session, actor="command line, ada at desk-1", action=audit.RESTORED, subject="backup", after=facts
            )
    text = texts(screen("admin", path=PAGE)).replace("\\", "")
    day = clock.format_day(clock.add_days(clock.today(), -3))
    assert text.count("The store was restored on") == 1
    assert f"restored on {day} by the command line, ada at desk-1, as it was at 2026-11-20T02:00:00Z." in text


def test_what_waits_has_its_way_to_where_it_is_done(screen: Screen, store: Store, partner: Partner) -> None:
    with clock.freeze(clock.now() - timedelta(days=70)):
        sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True)
        sell(store, partner, CREDIT_LIFE, is_live=True)
    at = screen("admin", path=PAGE)
    assert "Submissions to insurers wait" in texts(at)
    links = [link.proto.label for link in at.get("page_link")]
    assert {"What waits for insurers", "Open the bordereaux"} <= set(links)


def test_a_licence_that_ends_soon_is_named(screen: Screen, store: Store, partner: Partner) -> None:
    finance = Finance(store)
    terms = {"number": "AG/1", "starts_on": "2026-01-01", "licence_expires_on": str(clock.add_days(clock.today(), 5))}
    finance.agree(Party("distributor", partner.id), terms)
    text = texts(screen("admin", path="admin/system.py"))
    assert "The licence of Swift Lenders ends on" in text


def test_an_admin_switches_the_reminders_on_and_off(screen: Screen, store: Store) -> None:
    at = screen("admin", path=PAGE)
    assert "**Renewal reminders** :gray-badge[Off]" in texts(at)
    at.button(key="automation renewal reminders").click().run()
    assert "**0** policies have a reminder due now" in texts(at)
    at.button(key="decision.confirm").click().run()
    assert "switched on" in at.success[0].value
    assert "**Renewal reminders** :green-badge[On]" in texts(at)
    with store.reading(Scope.system()) as session:
        assert automations.get_state(session, automations.RENEWAL_REMINDERS).is_on
    due = screen("operations", path="sales/due.py")
    assert due.title[0].value == "Due for renewal"
