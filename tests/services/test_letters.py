"""E-mail to policyholders: certificates, reminders each once, texts that an admin changes, and what is refused."""

import re
from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers.insurers import insurer_a
from core.desk import mail_texts
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.mail import mail
from core.services.mail.mail import TEMPLATES
from core.services.people.staff import Person
from core.services.policies import certificates
from core.services.policies.policies import BulkResult
from core.services.renewals import due
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Mail, Policy
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.selling import sell

NOW = datetime(2027, 11, 20, 7, 8, tzinfo=UTC)
pytestmark = pytest.mark.frozen_at(NOW)
LIVE = Scope.staff(is_live=True)


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)


OPERATIONS = somebody("operations")


@pytest.fixture
def policy(store: Store, partner: Partner) -> Policy:
    """A live policy that ends in three days, with its certificate."""
    with clock.freeze(shipped.STILL + timedelta(days=3)):
        return kept(store, partner, sell(store, partner, insurer_a.THIRD_PARTY, is_live=True), is_live=True)


def kept(store: Store, partner: Partner, sale: Sale, *, is_live: bool) -> Policy:
    with store.reading(partner.scope(is_live=is_live)) as session:
        found = session.get_one(Policy, sale.policy_id)
        session.expunge(found)
        return found


def written(store: Store) -> list[Mail]:
    with store.reading(Scope.system()) as session:
        found = list(session.execute(sa.select(Mail).order_by(col(Mail.created_at))).scalars())
        session.expunge_all()
    return found


def test_a_certificate_is_sent_once_and_stands_on_the_record(store: Store, policy: Policy) -> None:
    about = audit.subject_of("policy", policy.id)
    for _ in range(2):
        with store.writing(LIVE) as session:
            certificates.send_certificate(session, policy.id, by=OPERATIONS)
    (letter,) = written(store)
    assert (letter.recipient, letter.about, letter.sent_by) == (policy.email, about, OPERATIONS.actor)
    assert f"/certificates/{policy.certificate_code}.pdf" in letter.body
    assert policy.policy_number is not None
    assert policy.policy_number in letter.subject
    with clock.freeze(NOW + timedelta(minutes=2)), store.writing(LIVE) as session:
        certificates.send_certificate(session, policy.id, by=OPERATIONS)
        assert len(mail.list_about(session, about)) == 2
        actions = [(entry.action, entry.after) for entry in audit.list_history(session, about)]
    assert actions[-1] == ("e-mail queued", {"text": "policy certificate"})


def test_a_certificate_needs_a_role_a_live_policy_and_a_certificate(
    store: Store, policy: Policy, partner: Partner
) -> None:
    with clock.freeze(shipped.STILL):
        test = sell(store, partner, insurer_a.THIRD_PARTY).policy_id
    for scope, key, by, expected in (
        (LIVE, policy.id, somebody("finance"), NotAllowed),
        (LIVE, ids.new(), OPERATIONS, NotFound),
        (Scope.staff(is_live=False), test, OPERATIONS, StateForbids),
    ):
        with pytest.raises(expected), store.writing(scope) as session:
            certificates.send_certificate(session, key, by=by)
    with store.writing(LIVE) as session:
        session.execute(sa.update(Policy).where(col(Policy.id) == policy.id).values(certificate_code=None))
    with pytest.raises(StateForbids, match="no certificate yet"), store.writing(LIVE) as session:
        certificates.send_certificate(session, policy.id, by=OPERATIONS)
    assert written(store) == []


def test_a_reminder_is_due_at_60_30_7_and_1_days() -> None:
    stages = {0: 1, 1: 1, 2: 7, 7: 7, 8: 30, 30: 30, 31: 60, 60: 60, 61: None, -1: None}
    assert {days: due.get_stage(days) for days in stages} == stages


def test_each_reminder_is_sent_once_and_none_after_an_opt_out(store: Store, policy: Policy) -> None:

    def remind() -> BulkResult:
        with store.writing(LIVE) as session:
            return due.remind(session, [policy.id, policy.id], by=OPERATIONS)

    assert (remind().done, remind().left_out) == (1, {"reminded already": 1})
    assert re.search(r"One more term costs ₦[\d,.]+ today\.", written(store)[0].body)
    with store.reading(LIVE) as session:
        assert due.load_latest(session, [policy.id]) == {policy.id: NOW}
    assert policy.expiration_at is not None
    with clock.freeze(policy.expiration_at - timedelta(hours=20)):
        with store.writing(LIVE) as session:
            due.set_opt_out(session, policy.customer_id, is_out=True, by=OPERATIONS)
        assert remind().left_out == {"wants no reminders": 1}
        with store.writing(LIVE) as session:
            due.set_opt_out(session, policy.customer_id, is_out=False, by=OPERATIONS)
        assert remind().done == 1
    assert [letter.template for letter in written(store)] == [due.TEMPLATE] * 2


def test_reminders_need_a_role_and_a_bounded_choice(store: Store, policy: Policy) -> None:
    with store.writing(LIVE) as session:
        for wrong in ([], [ids.new() for _ in range(51)]):
            with pytest.raises(InvalidInput, match="policies"):
                due.remind(session, wrong, by=OPERATIONS)
        with pytest.raises(NotAllowed):
            due.remind(session, [policy.id], by=somebody("finance"))
        with pytest.raises(NotAllowed):
            due.set_opt_out(session, policy.customer_id, is_out=True, by=somebody("claims"))


def test_an_admin_changes_a_text_and_the_next_e_mail_has_it(store: Store, policy: Policy) -> None:
    admin = somebody("admin")
    typed = {"subject": "Welcome, $name", "body": "Here: $certificate\r\nfor $$0"}
    with store.writing(Scope.system()) as session:
        mail_texts.change_text(session, certificates.CERTIFICATE, typed, version=0, by=admin)
        with pytest.raises(StaleVersion):
            mail_texts.change_text(session, certificates.CERTIFICATE, typed, version=0, by=admin)
        with pytest.raises(NotAllowed):
            mail_texts.change_text(session, certificates.CERTIFICATE, typed, version=1, by=OPERATIONS)
        with pytest.raises(NotFound):
            mail_texts.reset_text(session, "no such text", version=0, by=admin)
    with store.writing(LIVE) as session:
        certificates.send_certificate(session, policy.id, by=OPERATIONS)
    (letter,) = written(store)
    assert letter.subject == f"Welcome, {policy.first_name} {policy.last_name}"
    assert letter.body.endswith("\nfor $0\n")
    with store.writing(Scope.system()) as session:
        mail_texts.reset_text(session, certificates.CERTIFICATE, version=1, by=admin)
        texts = mail_texts.list_texts(session)
        assert {text.version for text in texts} == {0}
        assert {text.name for text in texts} == set(TEMPLATES)


@every_case(
    ("field", "written_", "message"),
    [
        ("subject", "", "subject"),
        ("subject", "One\nTwo", "one line"),
        ("body", "One\x00Two", "plain text"),
        ("subject", "$password", r"\$password, which this e-mail does not have"),
        ("body", "It costs $ 5", "begins no value"),
        ("body", "x" * 4_001, "body"),
    ],
)
def test_a_wrong_text_is_refused_by_its_field(store: Store, field: str, written_: str, message: str) -> None:
    typed = {"subject": "Hello", "body": "Text", field: written_}
    with store.writing(Scope.system()) as session, pytest.raises(InvalidInput, match=message) as refused:
        mail_texts.change_text(session, "policy certificate", typed, version=0, by=somebody("admin"))
    assert [fault.field for fault in refused.value.faults] == [field]
