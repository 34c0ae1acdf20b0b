"""One hidden value at a time, for a reason, to whoever may see it; and never in the log (contract A3)."""

from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import ids, seal
from core.covers.insurers import insurer_a, insurer_b
from core.desk import pii_reveal
from core.desk.pii_reveal import HiddenField, Kind
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import AuditEntry, Claim, Policy
from tests import papers
from tests.conftest import Partner
from tests.every_case import every_case
from tests.services.selling import sell

PLATES = ({"registration_number": "ABC-123-DE"}, {"registration_number": "ABC-124-DE"})
LIVE = Scope.staff(is_live=True)
BVN, ACCOUNT = "22345678901", "0123456789"
REASON, DETAILS = "Identifying who asks", "she calls about her refund"
ROLES: dict[Kind, set[str]] = {"policy": {"operations", "admin"}, "claim": {"claims", "supervisor", "admin"}}


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="ada@coverdesk.example", name="Ada", roles=roles, claim_limit_minor=None)


def reveal(store: Store, hidden: HiddenField, *roles: str, reason: str = REASON, details: str = DETAILS) -> str:
    with store.writing(LIVE) as session:
        return pii_reveal.reveal(
            session, hidden, reason=reason, details=details, person=somebody(*(roles or ("operations",)))
        )


def entries(store: Store) -> list[AuditEntry]:
    with store.reading(Scope.system()) as session:
        found = (
            session.execute(sa.select(AuditEntry).where(AuditEntry.action == pii_reveal.REVEALED_ACTION))
            .scalars()
            .all()
        )
        session.expunge_all()
        return list(found)


@pytest.fixture
def policy_id(store: Store, partner: Partner) -> UUID:
    return sell(store, partner, insurer_b.THIRD_PARTY, is_live=True, bvn=BVN).policy_id


@pytest.fixture
def claim_id(store: Store, partner: Partner) -> UUID:
    """A gadget claim whose account is sealed, as the store keeps one."""
    sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    amounts = [name for name in Claim.model_fields if name.endswith("_minor")]
    with store.writing(LIVE) as session:
        policy = session.get_one(Policy, sale.policy_id)
        owned = {name: getattr(policy, name) for name in ("distributor_id", "is_live", "customer_id", "product_id")}
        claim = Claim(
            **owned,
            **dict.fromkeys(amounts, 0),
            provider_id=policy.provider_id,
            policy_id=policy.id,
            claim_type="Gadget",
            claim_status="Pending",
            claim_description="Stolen",
            claim_owner="Owner",
            claim_owner_first_name="Ngozi",
            claim_owner_last_name="Okafor",
            claim_owner_email="ngozi@example.com",
            gadget_claim_meta={"account_number": seal.mask(ACCOUNT), "receipt_url": "https://files.example/r.pdf"},
            sealed=seal.seal({"gadget_claim_meta.account_number": ACCOUNT}),
        )
        session.insert(claim)
        return claim.id


def test_the_value_is_shown_and_the_log_says_who_what_and_why_but_not_the_value(store: Store, policy_id: UUID) -> None:
    assert reveal(store, HiddenField(kind="policy", record_id=policy_id, path="submitted.bvn")) == BVN
    (entry,) = entries(store)
    assert (entry.actor, entry.subject) == ("staff ada@coverdesk.example", f"policy {policy_id}")
    assert entry.after == {"field": "submitted.bvn", "reason": REASON, "details": DETAILS}
    assert BVN not in str(entry.model_dump())
    with store.reading(Scope.system()) as session:
        assert audit.find_broken_links(session) == []


def test_every_hidden_value_of_a_policy_is_listed_masked_and_can_be_shown(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, insurer_b.THIRD_PARTY, is_live=True, bvn=BVN)
    with store.reading(LIVE) as session:
        hidden = dict(pii_reveal.list_hidden_values(session.get_one(Policy, sale.policy_id)))
    assert hidden["submitted.bvn"] == seal.mask(BVN)
    assert hidden["submitted.identification_url"] == pii_reveal.HIDDEN_PLACEHOLDER
    shown = {path: reveal(store, HiddenField(kind="policy", record_id=sale.policy_id, path=path)) for path in hidden}
    assert shown["submitted.bvn"] == BVN
    assert shown["submitted.identification_url"].startswith("https://")
    assert all(value not in str(hidden) for value in shown.values())


@pytest.mark.parametrize("role", ["operations", "claims", "finance", "supervisor", "admin"])
def test_only_the_roles_of_a_record_see_its_values(store: Store, policy_id: UUID, claim_id: UUID, role: str) -> None:
    hidden = {
        "policy": HiddenField(kind="policy", record_id=policy_id, path="submitted.bvn"),
        "claim": HiddenField(kind="claim", record_id=claim_id, path="gadget_claim_meta.account_number"),
    }
    clear = {"policy": BVN, "claim": ACCOUNT}
    for kind, value in hidden.items():
        if role in ROLES[value.kind]:
            assert reveal(store, value, role) == clear[kind]
        else:
            with pytest.raises(NotAllowed):
                reveal(store, value, role)
    assert len(entries(store)) == sum(role in roles for roles in ROLES.values())


@every_case(
    ("given", "broken"),
    [
        ({"reason": ""}, {"reason"}),
        ({"reason": "curious"}, {"reason"}),
        ({"details": ""}, {"details"}),
        ({"details": "because"}, {"details"}),
        ({"reason": "", "details": "because of"}, {"reason", "details"}),
        ({"details": f"she says {BVN[:6]} {BVN[6:]} is hers"}, {"details"}),
    ],
)
def test_without_a_reason_nothing_is_shown_or_written(
    store: Store, policy_id: UUID, given: dict[str, Any], broken: set[str]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        reveal(store, HiddenField(kind="policy", record_id=policy_id, path="submitted.bvn"), **given)
    assert {fault.field for fault in refused.value.faults} == broken
    assert BVN not in str(refused.value)
    assert entries(store) == []


def test_links_of_a_claim_are_shown_and_what_is_not_hidden_is_not_found(
    store: Store, policy_id: UUID, claim_id: UUID
) -> None:
    link = HiddenField(kind="claim", record_id=claim_id, path="gadget_claim_meta.receipt_url")
    assert reveal(store, link, "claims") == "https://files.example/r.pdf"
    for hidden in (
        HiddenField(kind="policy", record_id=policy_id, path="submitted.first_name"),
        HiddenField(kind="policy", record_id=policy_id, path="submitted.bvn.0"),
        HiddenField(kind="policy", record_id=policy_id, path="sealed"),
        HiddenField(kind="policy", record_id=ids.new(), path="submitted.bvn"),
        HiddenField(kind="customer", record_id=ids.new(), path="face_image"),
    ):
        with pytest.raises(NotFound):
            reveal(store, hidden)
    mine = HiddenField(kind="policy", record_id=policy_id, path="submitted.bvn")
    with store.writing(Scope.staff(is_live=False)) as session, pytest.raises(NotFound):
        pii_reveal.reveal(session, mine, reason=REASON, details=DETAILS, person=somebody("operations"))
    assert len(entries(store)) == 1


def test_a_picture_opens_under_the_present_address_of_the_desk_if_it_is_the_owners_own(
    store: Store, partner: Partner, stranger: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = []
    for each in (partner, stranger):
        owner = Owner(distributor_id=each.id, is_live=True)
        sent = ReceivedFile(field="file", file_name="card.pdf", content=papers.pdf())
        with files.store_files([sent]) as (stored,), store.writing(each.scope(is_live=True)) as session:
            urls.append(files.record(session, stored, owner, actor="tests")["file_url"])
    elsewhere = urls[1].replace("http://127.0.0.1:8501", "https://files.example")
    shown = []
    monkeypatch.setenv("COVERDESK_BASE_URL", "https://desk.elsewhere.example")
    for number, picture in enumerate((urls[0], elsewhere)):
        with monkeypatch.context() as before:
            before.setenv("COVERDESK_BASE_URL", "http://127.0.0.1:8501")
            settings.cache_clear()
            sale = sell(
                store, partner, insurer_b.THIRD_PARTY, is_live=True, identification_url=picture, **PLATES[number]
            )
        settings.cache_clear()
        shown.append(
            reveal(store, HiddenField(kind="policy", record_id=sale.policy_id, path="submitted.identification_url"))
        )
    settings.cache_clear()
    assert shown == [urls[0].replace("http://127.0.0.1:8501", "https://desk.elsewhere.example"), elsewhere]
