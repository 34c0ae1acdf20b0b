"""A person is erased from every table and file, in two hands, and every sum stays as it was."""

import json
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, ids, seal
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_c
from core.covers.registry import COVERS
from core.desk import export_runs, store_check
from core.dispatch import webhooks
from core.errors import NotAllowed, StateForbids
from core.services.audit import idempotency
from core.services.audit import log as audit
from core.services.audit.idempotency import WireResponse
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import questions as claim_questions
from core.services.compliance import complaints, erasures, remembering, requests, retention
from core.services.events import feed
from core.services.events.feed import FeedFilter
from core.services.finance import adjustments, movements
from core.services.finance.bordereaux import bordereaux
from core.services.finance.credit_notes import deciding
from core.services.finance.movements import MovementFilter
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.services.lists.exports import Tally
from core.services.mail import mail
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import changes, policies
from core.services.renewals import calls
from core.services.selling import drafts, endorsing
from core.services.selling.drafts import Draft
from core.settings import settings
from core.store.access import Scope, ScopedSession, Store
from core.store.operations import backups
from core.store.schema.finance import VIEW
from core.store.schema.tables import (
    AuditEntry,
    Bordereau,
    Claim,
    CreditNote,
    Customer,
    CustomerNote,
    Erasure,
    KeptAnswer,
    Movement,
    Policy,
    Product,
    StaffSession,
    Statement,
    UploadedFile,
)
from tests.conftest import Partner
from tests.services.claim_desk import Desk
from tests.services.selling import sell

SYSTEM, LIVE = Scope.system(), Scope.staff(is_live=True)
BOUGHT = datetime(2026, 8, 20, 12, tzinfo=UTC)
LATER = datetime(2033, 3, 1, 9, tzinfo=UTC)
THIRD_PARTY = next(cover for cover in COVERS if "bvn" in cover.request.model_fields)
PERSON: dict[str, Any] = {
    "first_name": "Oluwaseyifunmi",
    "last_name": "Adebanjo-Quist",
    "email": "Seyi.Quist@people.example",
    "phone_number": "08099887766",
}
# Nobody else in the store has any of these; the number without its first figure finds every spelling of the phone.
TRACES = ("oluwaseyifunmi", "adebanjo", "seyi.quist", "8099887766", "22298765432", "quistmail", "sey-100qt", "sey100qt")
TYPED = {"premium": "-10", "platform_commission": "0", "distributor_commission": "0"}
ROLES = {
    "cora": ["compliance"],
    "dayo": ["compliance"],
    "root": ["admin"],
    "oye": ["operations"],
    "chi": ["claims"],
    "funmi": ["finance"],
    "femi": ["finance"],
    "wale": ["finance"],
    "sade": ["supervisor"],
}


class PrivacyDesk:
    """A person with everything that a store can hold of one, at two distributors and in both modes."""

    def __init__(self, store: Store, partner: Partner, stranger: Partner) -> None:
        self.store = store
        with store.writing(SYSTEM) as session:
            staff_rows = staff.Staff
            for name, roles in ROLES.items():
                session.add(staff_rows(email=f"{name}@d.example", name=name, roles=roles))
        with store.reading(SYSTEM) as session:
            self.people = {name: staff.get_by_email(session, f"{name}@d.example") for name in ROLES}
        self.desk = Desk(store, partner, is_live=True, **PERSON)
        self.claim_id = UUID(self.desk.lodge(incident_type="Loss of job", text="Oluwaseyifunmi")[0]["id"])
        with clock.freeze(BOUGHT):
            sell(store, partner, CREDIT_LIFE, is_live=False, **PERSON)
            self.car = sell(store, stranger, THIRD_PARTY, is_live=True, bvn="22298765432", **PERSON)
            sell(store, partner, CREDIT_LIFE, is_live=True, email="other@people.example", first_name="Chidi")
            self._traces(partner)
            self._endorse()

    def _endorse(self) -> None:
        """Another e-mail and name, told to the insurer in words that name the person."""
        changes = {"last_name": "Adebanjo", "email": "quistmail@people.example", "registration_number": "SEY-100QT"}
        reason, by = "Oluwaseyifunmi wrote", self.people["oye"]
        with self.store.writing(LIVE) as session:
            endorsing.endorse(
                session,
                self.car.policy_id,
                changes,
                effective_on=clock.today(),
                reason=reason,
                requested_by=reason,
                expected_version=1,
                by=by,
            )
            (made,) = policies.list_endorsements(session, self.car.policy_id)
            endorsing.note_told(session, made.id, note=reason, by=by)

    def _traces(self, partner: Partner) -> None:
        policy_id, text = self.desk.sale.policy_id, "Oluwaseyifunmi called from seyi.quist@people.example"
        with self.store.writing(LIVE) as session:
            claim_questions.add_comment(
                session, self.claim_id, text=text, for_claimant=False, person=self.people["chi"]
            )
            calls.record_calls(session, [policy_id], {"outcome": "thinking", "note": text}, by=self.people["oye"])
            movement = session.execute(sa.select(col(Movement.id)).where(col(Movement.policy_id) == policy_id))
            proposal = adjustments.propose(
                session, movement.scalar_one(), {**TYPED, "reason": text}, by=self.people["funmi"]
            )
            adjustments.confirm(session, proposal, by=self.people["femi"])
            note = CustomerNote(
                distributor_id=partner.id,
                is_live=True,
                customer_id=session.get_one(Policy, policy_id).customer_id,
                text=text,
                author_id=self.people["oye"].id,
            )
            session.insert(note)
            claim_corrections.set_payee(
                session,
                self.claim_id,
                name="Oluwaseyifunmi Adebanjo-Quist",
                bank_name="Zenith",
                account_number="8099887766",
                reason=text,
                person=self.people["chi"],
                version=session.get_one(Claim, self.claim_id).version,
            )
            policy = session.get_one(Policy, policy_id)
            draft = Draft(
                id=ids.new(),
                cover="credit-life",
                distributor_id=partner.id,
                product_id=policy.product_id,
                values={"email": PERSON["email"]},
                updated_at=clock.now(),
            )
            drafts.keep_draft(session, draft, is_live=True, by=self.people["oye"])
        with self.store.writing(SYSTEM) as session:
            for about, to in ((None, "seyi.quist"), (f"policy {policy_id}", "adebanjo-of-before")):
                mail.send(
                    session,
                    f"{to}@people.example",
                    "endpoint failing",
                    {"mode": "live", "endpoint": "Dear Oluwaseyifunmi", "reason": "none"},
                    about=about,
                )
            number = session.get_one(Policy, policy_id).policy_number
            typed = {"category": "delay", "name": "O. Adebanjo", "contact": "funmi@adebanjo.example", "text": text}
            complaint = complaints.register(session, {**typed, "policy_number": number}, by=self.people["cora"])
            complaints.send_by_mail(session, complaint, "acknowledgement", by=self.people["cora"])
        with self.store.writing(partner.scope(is_live=True)) as session:
            answer = WireResponse(201, json.dumps({"email": PERSON["email"]}).encode())
            idempotency.run_once(session, partner.scope(is_live=True), "loan-1", "f" * 64, lambda: answer)
        order = export_runs.create_order(
            "purchases", "csv", {"email": [PERSON["email"].lower()]}, by=self.people["funmi"]
        )
        b"".join(export_runs.stream(order, Tally()))

    def do(self, verb: Any, *given: Any, **more: Any) -> Any:
        if isinstance(more.get("by"), str):
            more["by"] = self.people[more["by"]]
        with self.store.writing(SYSTEM) as session:
            return verb(session, *given, **more)

    def read(self, verb: Any, *given: Any) -> Any:
        with self.store.reading(SYSTEM) as session:
            return verb(session, *given)

    def ask(self, kind: str = "erasure") -> UUID:
        """A request of the person, with the identity proven."""
        typed = {"kind": kind, "name": "Oluwaseyifunmi Adebanjo-Quist", "email": PERSON["email"], "details": "Please"}
        request_id: UUID = self.do(requests.register, {**typed, "phone": "08099887766"}, by="cora")
        self.do(requests.note_identity, request_id, method="Identity document seen", version=1, by="cora")
        return request_id

    def prepare(self, request_id: UUID, **more: Any) -> UUID:
        given = {"reason": "The person asked for it in writing", "early": False, **more}
        prepared: UUID = self.do(erasures.prepare_for_request, request_id, by="cora", **given)
        return prepared

    def settle(self) -> None:
        """End what stands against an erasure."""
        with clock.freeze(datetime(2026, 12, 2, 9, tzinfo=UTC)), self.store.writing(LIVE) as session:
            claim = session.get_one(Claim, self.claim_id)
            if claim.claim_status == "Declined":
                return
            claim_moves.move_claim(
                session,
                self.claim_id,
                to="Declined",
                person=self.people["chi"],
                version=claim.version,
                reason="exclusion",
                note="Oluwaseyifunmi was told",
            )
            self._give_back(session)

    def _give_back(self, session: ScopedSession) -> None:
        """The cover ends, and what goes back of it is paid to the person by name."""
        policy = session.get_one(Policy, self.desk.sale.policy_id)
        given = {"reason": "Oluwaseyifunmi asked", "by_insurer": True, "expected_version": policy.version}
        changes.cancel(session, policy.id, actor=self.people["oye"].actor, **given)
        (note,) = session.execute(sa.select(col(CreditNote.id)).where(col(CreditNote.is_live))).scalars()
        given = {"payee_bank": "First Bank", "payee_account": "0123456789"}
        deciding.approve(session, note, given, by=self.people["femi"])
        paid = {"bank_reference": "TRF/1", "value_on": "2026-12-02"}
        deciding.pay(session, note, paid, by=self.people["funmi"])

    def erase(self) -> UUID:
        self.settle()
        erasure = self.prepare(self.ask())
        erasures.remove_files(self.do(erasures.carry_out, erasure, by="dayo"))
        return erasure


@pytest.fixture
def privacy(store: Store, partner: Partner, stranger: Partner) -> PrivacyDesk:
    return PrivacyDesk(store, partner, stranger)


@pytest.fixture
def later() -> Iterator[None]:
    with clock.freeze(LATER):
        yield


def read_tables(store: Store) -> dict[str, str]:
    """Every row of every table as text in lower case, what is sealed opened."""
    found: dict[str, str] = {}
    with store.engine.connect() as connection:
        for table in SQLModel.metadata.sorted_tables:
            if table.info.get(VIEW):
                continue
            rows = connection.execute(sa.select(table)).mappings().all()
            opened = [seal.unseal(row["sealed"]) for row in rows if row.get("sealed") and table.name != "webhook"]
            text = json.dumps([list(row.values()) for row in rows], default=_plain, ensure_ascii=False)
            found[table.name] = (text + json.dumps(opened)).lower()
    return found


def _plain(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def traces(store: Store) -> set[str]:
    return {name for name, text in read_tables(store).items() if any(trace in text for trace in TRACES)}


def sums(session: ScopedSession) -> Any:
    amounts = {
        f"{table.name}.{column.name}": sa.func.coalesce(sa.func.sum(column), 0)
        for table in SQLModel.metadata.sorted_tables
        for column in table.c
        if column.name.endswith("_minor")
    }
    found = {name: session.connection().execute(sa.select(total)).scalar_one() for name, total in amounts.items()}
    return found, movements.compute_totals(session, MovementFilter.read({}))


def faults(session: ScopedSession) -> list[str]:
    return store_check.list_faults(session)


def erased_customers(store: Store, scope: Scope) -> list[str]:
    """The customers that a distributor is told were erased, as its feed has them."""
    webhooks.catch_up(store)
    with store.reading(scope) as session:
        page = feed.read_page(session, FeedFilter(types=("customer.erased",)), after=None, limit=100)
    found = [json.loads(body) for body in page.bodies]
    assert all(event["data"] == {"customer_id": event["object"]["id"]} for event in found)
    return [event["object"]["id"] for event in found]


def _check_events(store: Store, partner: Partner, stranger: Partner) -> None:
    """Each distributor is told of its own records of the person, in the mode that they have."""
    owners = (partner.scope(is_live=True), partner.scope(), stranger.scope(is_live=True))
    told_of = [erased_customers(store, owner) for owner in owners]
    with store.reading(SYSTEM) as session:
        mine = sa.select(col(Customer.id)).where(col(Customer.email).not_like("other@%"))
        assert sorted(each for (each,) in told_of) == sorted(map(str, session.execute(mine).scalars()))
    assert erased_customers(store, stranger.scope()) == []
    assert traces(store) == set(), "and no event names anybody"


def _note_papers(session: ScopedSession) -> None:
    for paper in (Statement, Bordereau):
        session.change(paper, note="Asked for seyi.quist@people.example")


@pytest.mark.both_databases
def test_an_erased_person_is_in_no_table_and_no_file_and_every_sum_stays(
    privacy: PrivacyDesk, store: Store, partner: Partner, stranger: Partner, later: None
) -> None:
    with store.writing(LIVE) as session:
        statements.prepare(session, Party("distributor", partner.id), date(2026, 8, 1), by=privacy.people["funmi"])
        provider_id = session.get_one(Policy, privacy.desk.sale.policy_id).provider_id
        for kind, month in (("premium", date(2026, 8, 1)), ("claims", date(2026, 11, 1))):
            bordereaux.issue(session, provider_id, kind, month, by=privacy.people["funmi"])
        _note_papers(session)
    privacy.settle()
    assert traces(store) >= {
        *("customer", "policy", "claim", "claim_comment", "renewal_call", "adjustment", "adjustment_proposal"),
        *("mail", "kept_answer", "export_receipt", "audit_entry", "sale_draft", "statement_line", "bordereau_line"),
        *("payment_payee", "customer_note", "policy_endorsement", "endorsement_notice", "statement", "bordereau"),
    }, "the person is everywhere to begin with"
    before, folder = privacy.read(sums), Path(settings().files_url)
    assert any(b"Oluwaseyifunmi" in path.read_bytes() for path in folder.rglob("*") if path.is_file())
    erasure = privacy.erase()
    assert traces(store) == set()
    assert not any(path.is_file() for path in folder.rglob("*")), "the papers of the claim were the only files"
    after = privacy.read(sums)
    assert after == before, "every sum, of each table and of the movements, is the same to the kobo"
    assert privacy.read(faults) == []
    certificate = privacy.read(erasures.get_erasure, erasure)
    assert (certificate.state, certificate.preparer, certificate.decider) == ("erased", "cora", "dayo")
    assert certificate.outcome["customer"] == 3
    assert len(certificate.sha256) == 64
    with store.reading(SYSTEM) as session:
        gone = session.execute(sa.select(col(KeptAnswer.body)).where(col(KeptAnswer.status) == 410)).scalars().all()
    assert [json.loads(body).keys() for body in gone] == [{"responseCode", "responseText", "data", "errorData"}]
    with store.reading(SYSTEM) as session:
        others = session.execute(sa.select(col(Customer.first_name)).where(col(Customer.email).like("other@%")))
        assert others.scalars().all() == ["Chidi"], "nobody else lost anything"
        assert session.execute(sa.select(sa.func.count()).select_from(UploadedFile)).scalar_one() == 0
    _check_events(store, partner, stranger)
    order = export_runs.create_order("customers", "csv", {}, by=privacy.people["oye"])
    exported = b"".join(export_runs.stream(order, Tally())).lower()
    assert not any(trace.encode() in exported for trace in TRACES)


def _mention(store: Store, text: str, author: UUID) -> UUID:
    """A note about another customer that mentions something."""
    with store.writing(LIVE) as session:
        other = session.execute(sa.select(Customer).where(col(Customer.email).like("other@%"))).scalar_one()
        note = CustomerNote(
            distributor_id=other.distributor_id, is_live=True, customer_id=other.id, text=text, author_id=author
        )
        session.insert(note)
        return note.id


@pytest.mark.both_databases
def test_the_numbers_of_what_was_insured_go_from_the_texts_about_others(
    privacy: PrivacyDesk, store: Store, partner: Partner, later: None
) -> None:
    """A plate as it was written, a passport, a device; a passport that somebody else is insured with stays."""
    with clock.freeze(BOUGHT):
        sell(store, partner, insurer_c.TRAVEL, is_live=True, **{**PERSON, "passport_number": "Q7712-0045"})
        shared = {**PERSON, "passport_number": "S5551-0001"}
        sell(store, partner, insurer_c.TRAVEL, is_live=True, **shared)
        device = sell(store, partner, THIRD_PARTY, is_live=True, **{**PERSON, "registration_number": "DEV-100AA"})
    with clock.freeze(BOUGHT.replace(month=10)):
        theirs = {**shared, "email": "other@people.example", "first_name": "Chidi"}
        sell(store, partner, insurer_c.TRAVEL, is_live=True, **theirs)
    with store.writing(LIVE) as session:
        retired = sa.select(col(Product.id)).where(col(Product.route_name) == "buy-gadget").scalar_subquery()
        session.execute(
            sa.update(Policy)
            .where(col(Policy.id) == device.policy_id)
            .values(product_id=retired, submitted={"device_serial_number": "SN-771-200"})
        )
    text = "PHC-614EF, PHC614EF, Q7712-0045, q77120045, SN-771-200, S5551-0001"
    note_id = _mention(store, text, privacy.people["oye"].id)
    privacy.erase()
    with store.reading(LIVE) as session:
        assert session.get_one(CustomerNote, note_id).text == f"{'[erased], ' * 5}S5551-0001"


@pytest.mark.both_databases
def test_a_town_and_a_home_that_others_have_as_well_stay_with_them(
    privacy: PrivacyDesk, store: Store, later: None
) -> None:
    """An address alone that nobody else has goes from the texts about others."""
    homes = iter(("Surulere", "12 Allen Avenue, Ikeja", "9 Quiet Close, Yaba"))
    with store.writing(SYSTEM) as session:
        for customer in session.execute(sa.select(Customer).order_by(col(Customer.email), col(Customer.id))).scalars():
            is_other = customer.email.startswith("other@")
            customer.address = "12 ALLEN AVENUE, Ikeja" if is_other else next(homes)
            customer.city = "Surulere"
        other = sa.select(Policy).where(col(Policy.email).like("other@%"))
        policy = session.execute(other).scalar_one()
        policy.submitted = {**policy.submitted, "address": "12 Allen Avenue, Ikeja", "town": "Surulere"}
    note_id = _mention(store, "Moved from 9 Quiet Close, Yaba to Surulere", privacy.people["oye"].id)
    privacy.erase()
    with store.reading(SYSTEM) as session:
        kept = session.execute(sa.select(Customer).where(col(Customer.email).like("other@%"))).scalar_one()
        assert (kept.address, kept.city) == ("12 ALLEN AVENUE, Ikeja", "Surulere")
        held = session.execute(other).scalar_one().submitted
        assert (held["address"], held["town"]) == ("12 Allen Avenue, Ikeja", "Surulere")
        assert session.get_one(CustomerNote, note_id).text == "Moved from [erased] to Surulere"


def test_a_longer_address_that_ends_like_the_person_s_stays(privacy: PrivacyDesk, store: Store, later: None) -> None:
    longer = "jo.seyi.quist@people.example"
    note_id = _mention(store, f"{longer} for Seyi.Quist@people.example.", privacy.people["oye"].id)
    privacy.erase()
    with store.reading(LIVE) as session:
        assert session.get_one(CustomerNote, note_id).text == f"{longer} for [erased]."


def test_a_claimant_without_an_e_mail_goes_by_name_and_phone_from_the_claims_of_others(
    privacy: PrivacyDesk, store: Store, partner: Partner, later: None
) -> None:
    others = [Desk(store, partner, is_live=True, email=f"kin{number}@people.example") for number in range(2)]
    claims = [UUID(other.lodge(incident_type="Death")[0]["id"]) for other in others]
    with store.writing(LIVE) as session:
        me = session.get_one(Customer, session.get_one(Policy, privacy.desk.sale.policy_id).customer_id)
        named = {"claim_owner_first_name": me.first_name, "claim_owner_name_key": me.name_key}
        named |= {"claim_owner_email": "", "claim_owner_last_name": me.last_name}
        for claim_id, phone in zip(claims, (me.phone_number, "+2348000000001"), strict=True):
            session.change(Claim, col(Claim.id) == claim_id, **named, claim_owner_phone_number=phone)
    privacy.erase()
    with store.reading(LIVE) as session:
        mine, namesake = (session.get_one(Claim, claim_id) for claim_id in claims)
        assert (mine.claim_owner_first_name, mine.claim_owner_phone_number) == ("Erased", None)
        assert (namesake.claim_owner_first_name, namesake.claim_owner_phone_number) == (
            PERSON["first_name"],
            "+2348000000001",
        )


def test_the_file_of_a_rewritten_store_holds_no_byte_of_the_person(
    privacy: PrivacyDesk, store: Store, later: None
) -> None:
    privacy.erase()
    backups.rewrite(store)
    if store.is_sqlite:
        files = Path(str(store.url.database)).parent.glob("store.db*")
        assert not [path.name for path in files for trace in TRACES if trace.encode() in path.read_bytes().lower()]
    assert privacy.read(faults) == []


def test_only_compliance_erases_and_never_what_it_prepared_itself(privacy: PrivacyDesk, later: None) -> None:
    privacy.settle()
    request_id = privacy.ask()
    for outsider in ("oye", "chi", "funmi", "sade"):
        with pytest.raises(NotAllowed):
            privacy.do(erasures.prepare_for_request, request_id, reason="Because I can", early=True, by=outsider)
    erasure = privacy.prepare(request_id)
    for outsider in ("cora", "oye", "chi", "funmi", "sade"):
        with pytest.raises(NotAllowed):
            privacy.do(erasures.carry_out, erasure, by=outsider)
        with pytest.raises(NotAllowed):
            privacy.do(erasures.refuse, erasure, reason="No, for a reason", by=outsider)
    resting = Person(
        **{name: getattr(privacy.people["dayo"], name) for name in ("id", "email", "name", "roles")},
        claim_limit_minor=None,
        approves_from=LATER.replace(year=2034),
    )
    with pytest.raises(NotAllowed, match="gave you your password"):
        privacy.do(erasures.carry_out, erasure, by=resting)
    with pytest.raises(NotAllowed, match="takes it back"):
        privacy.do(erasures.take_back, erasure, by="dayo")
    privacy.do(erasures.take_back, erasure, by="cora")
    with pytest.raises(StateForbids, match="wait for a decision"):
        privacy.do(erasures.carry_out, erasure, by="dayo")


@pytest.mark.both_databases
def test_nothing_is_erased_that_runs_is_held_or_must_be_kept(privacy: PrivacyDesk, store: Store) -> None:
    with clock.freeze(datetime(2026, 12, 1, 9, tzinfo=UTC)):
        request_id = privacy.ask()
        with pytest.raises(StateForbids, match=r"policies in force.*; 1 open claim$"):
            privacy.prepare(request_id, early=True)
    with clock.freeze(datetime(2028, 12, 1, 9, tzinfo=UTC)):
        privacy.settle()
        with pytest.raises(StateForbids, match="kept until"):
            privacy.prepare(request_id)
        held = privacy.read(requests.get_request, request_id).customers[0]
        hold = privacy.do(retention.set_hold, UUID(held), reason="A dispute at court about it", by="cora")
        with pytest.raises(StateForbids, match=r"1 legal hold$"):
            privacy.prepare(request_id, early=True)
        with pytest.raises(NotAllowed, match="somebody else lifts it"):
            privacy.do(retention.lift_hold, hold, by="cora")
        privacy.do(retention.lift_hold, hold, by="root")
        erasure = privacy.prepare(request_id, early=True)
        again = privacy.do(retention.set_hold, UUID(held), reason="It came back to court", by="cora")
        with pytest.raises(StateForbids, match=r"1 legal hold$"):
            privacy.do(erasures.carry_out, erasure, by="dayo")
        privacy.do(retention.lift_hold, again, by="dayo")
        privacy.do(erasures.carry_out, erasure, by="dayo")
        assert privacy.read(requests.get_request, request_id).state == "answered"


def _while_erasing(store: Store, statement: str) -> None:
    with store.writing(SYSTEM) as session:
        for each in ("INSERT INTO erasure_window (id) VALUES (1)", statement, "DELETE FROM erasure_window"):
            session.connection().exec_driver_sql(each)


@pytest.mark.both_databases
@pytest.mark.both_databases
def test_a_refund_that_is_still_to_be_paid_stands_against_an_erasure(
    privacy: PrivacyDesk, store: Store, later: None
) -> None:
    """Without the name and the account it was promised to, it would be paid to whoever is named next."""
    privacy.settle()
    due = privacy.read(retention.preview, "person").count
    erasure = privacy.prepare(privacy.ask())
    with store.writing(LIVE) as session:
        (note,) = session.execute(sa.select(col(CreditNote.id))).scalars()
        back = {"returned_on": "2026-12-03", "reason": "The account is closed"}
        deciding.return_payment(session, note, back, by=privacy.people["wale"])
    with pytest.raises(StateForbids, match="This cannot be erased: 1 refund that is not paid yet"):
        privacy.do(erasures.carry_out, erasure, by="dayo")
    assert privacy.read(retention.preview, "person").count == due - 1
    with store.writing(LIVE) as session:
        deciding.approve(session, note, by=privacy.people["root"])
        again = {"bank_reference": "TRF/2", "value_on": str(clock.today())}
        deciding.pay(session, note, again, by=privacy.people["funmi"])
    privacy.do(erasures.carry_out, erasure, by="dayo")


@pytest.mark.both_databases
def test_append_only_tables_open_for_texts_while_erasing_and_never_for_figures(
    privacy: PrivacyDesk, store: Store
) -> None:
    for statement in (
        "UPDATE audit_entry SET after = NULL",
        "UPDATE claim_event SET note = 'x'",
        "UPDATE adjustment SET reason = 'x'",
        "UPDATE adjustment SET total_minor = 1",
        "UPDATE compliance_figure SET amount = 1",
    ):
        with pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"), store.writing(SYSTEM) as session:
            session.connection().exec_driver_sql(statement)
    for statement in ("UPDATE adjustment SET total_minor = 1", "UPDATE audit_entry SET actor = 'x'"):
        with pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
            _while_erasing(store, statement)
    with store.reading(SYSTEM) as session:
        assert not session.connection().exec_driver_sql("SELECT 1 FROM erasure_window").all()


@pytest.mark.both_databases
def test_a_redacted_entry_that_is_changed_once_more_breaks_the_chain(
    privacy: PrivacyDesk, store: Store, later: None
) -> None:
    privacy.erase()
    assert privacy.read(audit.find_broken_links) == []
    _while_erasing(store, "UPDATE audit_entry SET after = '{}' WHERE action = 'claim commented'")
    assert len(privacy.read(audit.find_broken_links)) == 1


@pytest.mark.both_databases
def test_what_is_due_is_previewed_and_erased_by_class(privacy: PrivacyDesk, store: Store, later: None) -> None:
    privacy.settle()
    with store.writing(SYSTEM) as session:
        session.add(
            StaffSession(token_hash="a" * 64, staff_id=privacy.people["oye"].id, created_at=BOUGHT, seen_at=BOUGHT)
        )
    previews = {preview.record_class: preview for preview in privacy.read(retention.list_previews)}
    assert {name: found.count for name, found in previews.items()} == {
        "person": 4,
        "lead": 0,
        "staff_session": 1,
        "delivery_log": 0,
    }
    with pytest.raises(StateForbids, match="Nothing"):
        privacy.do(erasures.prepare_due, "lead", by="cora")
    for record_class in ("person", "staff_session"):
        erasure = privacy.do(erasures.prepare_due, record_class, by="cora")
        privacy.do(erasures.carry_out, erasure, by="dayo")
    assert {name.count for name in privacy.read(retention.list_previews)} == {0}
    assert traces(store) == set()
    assert privacy.read(faults) == []


def test_an_erasure_is_applied_again_to_a_store_that_still_has_the_person(
    privacy: PrivacyDesk, store: Store, later: None
) -> None:
    privacy.settle()
    with store.reading(SYSTEM) as session:
        ids = [str(each) for each in session.execute(sa.select(col(Customer.id))).scalars()]
    assert privacy.read(remembering.remember) == []
    entry: dict[str, Any] = {"id": str(UUID(int=7)), "number": "ER-2030-0001", "record_class": "person"}
    entry |= {"customers": ids, "decided_at": "2030-01-01T10:00:00.000Z", "sha256": "a" * 64}
    count, files = privacy.do(remembering.apply_again, [entry])
    erasures.remove_files(files)
    assert count == 4
    assert traces(store) == set()
    assert privacy.read(faults) == []
    assert privacy.do(remembering.apply_again, [entry]) == (0, [])
    with store.reading(SYSTEM) as session:
        told_of = session.execute(sa.select(col(AuditEntry.subject)).where(col(AuditEntry.action) == "customer erased"))
        assert sorted(told_of.scalars()) == sorted(f"customer {each}" for each in ids), "each once, though asked twice"
    with store.reading(SYSTEM) as session:
        assert [row.number for row in session.execute(sa.select(Erasure)).scalars()] == ["ER-2030-0001"]
