"""Each honest check goes red when the rule that it guards is broken on purpose: one that cannot fail proves nothing.

The only place where our own code is replaced by something else: that is what sabotage is.
"""

import itertools
import json
from collections.abc import Callable, Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from fastapi import Response
from sqlmodel import col

from core import clock, ids, money
from core.api.http import auth, envelope, middleware, posts, reads
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers import insurer_b
from core.errors import StaleVersion, Unauthorized
from core.services.audit import idempotency
from core.services.catalogue import keys
from core.services.catalogue.keys import Caller
from core.services.claims.workflow import changes as claim_changes
from core.services.lists import exports
from core.services.people import credentials, personal, sign_in, staff
from core.services.people.staff import Person
from core.store.access import Query, Scope, Store, engine, scope
from core.store.schema.tables import ApiKey, Customer, KeptAnswer, ProductVersion
from core.ui.kit import words
from tests.api.conftest import Client
from tests.api.selling import buy
from tests.conftest import Partner, fresh_store
from tests.covers import shipped
from tests.hostile import payloads
from tests.hostile.corpus import BODIES, Case, ask, enveloped, rows
from tests.hostile.routes import posts as post_routes
from tests.services.claim_office import Office
from tests.ui.conftest import Screen

Patch = pytest.MonkeyPatch
BUY = f"/v1{CREDIT_LIFE.path}"


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Patch) -> Iterator[Store]:
    """On one database: what is proved here is the checks, which themselves run on both."""
    with fresh_store(request, "sqlite", tmp_path, monkeypatch) as made:
        yield made


def caught(
    check: Callable[[], None],
    patch: Patch,
    *sabotage: tuple[Any, str, Any],
    anew: Callable[[], None] = lambda: None,
) -> None:
    """The check is green as things are, red once the sabotage is in place, and green after it.

    `anew` makes the product forget what it had worked out before.
    """
    check()
    with patch.context() as broken:
        for owner, name, value in sabotage:
            broken.setattr(owner, name, value)
        anew()
        with pytest.raises(AssertionError):
            check()
    anew()
    check()


# Once and only once.


def sold_once_over_a_crash(client: Client, partner: Partner, patch: Patch, serial: Any) -> None:
    """A process that dies between the commit and the answer leaves one sale, which the retry finds."""
    before = client.get("/v1/purchase", key=partner.test_key).json()["data"]["total_count"]
    request = {"json": shipped.body(CREDIT_LIFE), "headers": {"Idempotency-Key": f"crash-{next(serial)}"}}

    def dies(_: Any) -> Response:
        raise RuntimeError("the process is gone")

    with patch.context() as crash:
        crash.setattr(envelope, "response", dies)
        assert client.post(BUY, key=partner.test_key, **request).status_code == 500
    again = client.post(BUY, key=partner.test_key, **request)
    assert again.status_code == 201, again.text
    after = client.get("/v1/purchase", key=partner.test_key).json()["data"]["total_count"]
    assert after == before + 1, "the retry sold a second time"


class SecondTransaction:
    """Idempotency as it is often written: the answer is kept in a transaction of its own, once it is on its way."""

    def __init__(self) -> None:
        self.waiting: list[KeptAnswer] = []

    def once(self, session: Any, whose: Scope, key: str | None, print_: str, make: Any) -> idempotency.WireResponse:
        assert key is not None
        kept = session.execute(sa.select(KeptAnswer).where(col(KeptAnswer.key) == key)).scalar_one_or_none()
        if kept is not None:
            return idempotency.WireResponse(kept.status, kept.body, kept.headers)
        answer: idempotency.WireResponse = make()
        row = {"distributor_id": whose.distributor_id, "is_live": whose.is_live, "key": key, "fingerprint": print_}
        values = {"status": answer.status, "body": answer.body, "headers": answer.headers, "created_at": clock.now()}
        self.waiting = [KeptAnswer(**row, **values)]
        return answer

    def response(self, kept: idempotency.WireResponse) -> Response:
        with engine.writing(Scope.system()) as session:
            session.insert(*self.waiting)
        self.waiting = []
        return Response(kept.body, kept.status, kept.headers, media_type=envelope.JSON)


def test_a_key_that_is_kept_in_a_second_transaction_is_noticed(
    client: Client, partner: Partner, monkeypatch: Patch
) -> None:
    serial, second = itertools.count(), SecondTransaction()
    caught(
        lambda: sold_once_over_a_crash(client, partner, monkeypatch, serial),
        monkeypatch,
        (idempotency, "run_once", second.once),
        (envelope, "response", second.response),
    )


def replayed_alike(client: Client, partner: Partner, serial: Any) -> None:
    """Another body under a used key is refused."""
    with_key = {"headers": {"Idempotency-Key": f"body-{next(serial)}"}}
    body = shipped.body(CREDIT_LIFE)
    assert client.post(BUY, key=partner.test_key, json=body, **with_key).status_code == 201
    other = client.post(BUY, key=partner.test_key, json={**body, "loan_amount": 7}, **with_key)
    assert other.status_code == 409, "a used key took another body"


def test_a_fingerprint_that_says_nothing_is_noticed(client: Client, partner: Partner, monkeypatch: Patch) -> None:
    serial = itertools.count()
    caught(
        lambda: replayed_alike(client, partner, serial),
        monkeypatch,
        (idempotency, "fingerprint", lambda *_: "the same"),
    )


# Whose it is.


def nothing_of_others(client: Client, mine: Partner, other: Partner) -> None:
    """A stranger and the other mode find no purchase, no policy and no customer, and count none."""
    for key in (other.test_key, mine.live_key):
        for path in ("purchase", "policies", "customers"):
            assert client.get(f"/v1/{path}", key=key).json()["data"]["total_count"] == 0, f"{path} of somebody else"


def test_a_query_without_scope_is_noticed(
    client: Client, partner: Partner, stranger: Partner, monkeypatch: Patch
) -> None:
    buy(client, partner.test_key, CREDIT_LIFE)
    # No statement that was made before the sabotage may hide it.
    monkeypatch.setattr(Query, "_text", Query._compile)
    honest = lambda: nothing_of_others(client, partner, stranger)  # noqa: E731
    # No condition at all, one that forgets the mode, and one that forgets the distributor.
    for broken in (
        lambda *_: sa.true(),
        lambda entity, mine: entity.distributor_id == mine.distributor_id,
        lambda entity, mine: entity.is_live == mine.is_live,
    ):
        caught(honest, monkeypatch, (scope, "_condition", broken), anew=scope.scope_filters.cache_clear)


def test_a_row_that_may_be_written_to_anybody_is_noticed(
    store: Store, partner: Partner, stranger: Partner, monkeypatch: Patch
) -> None:
    names = itertools.count()

    def written_nowhere_else() -> None:
        row = Customer(
            distributor_id=stranger.id, is_live=False, email="a@b.example", email_key=f"{next(names)}@b.example",
            name_key="ada obi", first_name="Ada", last_name="Obi", user_id=stranger.id,
        )  # fmt: skip
        try:
            with store.writing(partner.scope()) as session:
                session.insert(row)
        except scope.ScopeViolation:
            return
        raise AssertionError("a row was written to another distributor")

    caught(written_nowhere_else, monkeypatch, (Scope, "admits", lambda *_: True))


# Who saves second.


def second_officer_is_told(office: Office) -> None:
    """A move that names a version which is no longer that of the claim is refused."""
    claim_id = office.lodge()
    seen = office.claim(claim_id).version
    office.move(claim_id, "Reviewing", version=seen)
    try:
        office.move(claim_id, "Inspection submitted", by="sade", version=seen)
    except StaleVersion:
        return
    raise AssertionError("the second officer overwrote the first")


def test_a_change_without_version_check_is_noticed(store: Store, partner: Partner, monkeypatch: Patch) -> None:
    office = Office(store, partner)

    def unchecked(session: Any, claim_id: Any, *, person: Person, version: int) -> Any:
        return claim_changes.get_for_update(session, claim_id)

    caught(lambda: second_officer_is_told(office), monkeypatch, (claim_changes, "get_version_for_update", unchecked))


# What is let in.


def refused_as_a_whole(client: Client, partner: Partner, store: Store, *what: str) -> None:
    """Bodies of the corpus are refused with an envelope and leave no row."""
    (price,) = (each for each in post_routes() if each.path.endswith("credit-life-price"))
    before = rows(store)
    for name, content, content_type, more in BODIES:
        if name in what:
            answer = ask(client, partner, Case(price, name, content, content_type, tuple(more.items())))
            enveloped(Case(price, name), answer)
            assert answer.status_code in {400, 413, 415}
            assert answer.status_code == 413 or name != "too much"
            assert "required" not in answer.text, f"{name} was read"
    assert rows(store) == before


def test_a_body_without_a_cap_is_noticed(client: Client, partner: Partner, store: Store, monkeypatch: Patch) -> None:
    caught(lambda: refused_as_a_whole(client, partner, store, "too much"), monkeypatch, (posts, "LARGEST_JSON", 10**9))


@pytest.mark.parametrize("what", ["NaN", "the same name twice", "Infinity"])
def test_a_lenient_parser_is_noticed(
    client: Client, partner: Partner, store: Store, monkeypatch: Patch, what: str
) -> None:
    caught(lambda: refused_as_a_whole(client, partner, store, what), monkeypatch, (posts, "parse", json.loads))


def test_a_failure_that_is_no_envelope_is_noticed(
    client: Client, partner: Partner, store: Store, monkeypatch: Patch
) -> None:
    plain = lambda error: Response(str(error), error.status, media_type="text/plain")  # noqa: E731
    caught(lambda: refused_as_a_whole(client, partner, store, "null"), monkeypatch, (reads, "failure", plain))


# What it costs.


def priced_to_the_kobo(client: Client, partner: Partner, commission_bp: int) -> None:
    """Sums that a real number cannot hold come out exact, and the parts make the whole."""
    for loan in ("200", "203.48", "1999.99", "57391.30", "9999999999.99"):
        policy = buy(client, partner.test_key, CREDIT_LIFE, loan_amount=loan)
        exact = (Decimal(loan) * Decimal("0.00575")).quantize(Decimal("0.01"), ROUND_HALF_UP)
        assert policy["genius_price"] == str(exact), f"a loan of {loan} costs {policy['genius_price']}"
        found = client.get(f"/v1/purchase/{policy['purchase_id']}", key=partner.test_key).json()["data"]["purchase"]
        assert found["total"] == str(exact)
        share = (exact * commission_bp / 100).quantize(Decimal(1), ROUND_HALF_UP) / 100
        assert Decimal(found["mca_profit"]) == share, f"of {exact} the platform gets {found['mca_profit']}"


def test_money_in_real_numbers_is_noticed(client: Client, partner: Partner, monkeypatch: Patch, store: Store) -> None:
    mine = col(ProductVersion.product_id) == ids.parse(shipped.body(CREDIT_LIFE)["product_id"])
    with store.reading(Scope.system()) as session:
        commission_bp = session.execute(sa.select(col(ProductVersion.mca_commission_bp)).where(mine)).scalar_one()
    honest = lambda: priced_to_the_kobo(client, partner, commission_bp)  # noqa: E731
    caught(honest, monkeypatch, (money, "to_minor", lambda naira: int(float(naira) * 100)))
    caught(honest, monkeypatch, (money, "share", lambda minor, bp: int(minor * (bp / 10_000))))


# Who may come in.


def forged_key_is_refused(client: Client, partner: Partner) -> None:
    """A key of the right form, checksum and visible letters that was never issued opens nothing."""
    real = partner.test_key
    forged = real[:12] + ("a" * 30 if real[12] != "a" else "b" * 30) + real[42:]
    head = forged[:48]
    forged = head + keys._checksum(head)
    assert client.get("/v1/purchase", key=forged).status_code == 401, "a forged key was let in"


def by_its_visible_letters(session: Any, key: str) -> Caller:
    """Find a key without its hash: the row whose hint begins alike."""
    row = session.execute(sa.select(ApiKey).where(col(ApiKey.hint).startswith(key[:12]))).scalars().first()
    if row is None:
        raise Unauthorized
    return Caller(key_id=row.id, distributor_id=row.distributor_id, is_live=row.is_live, last_used_at=clock.now())


def test_a_key_compared_without_its_hash_is_noticed(client: Client, partner: Partner, monkeypatch: Patch) -> None:
    def honest() -> None:
        forged_key_is_refused(client, partner)

    with monkeypatch.context() as patience:
        patience.setattr(auth, "_TRUSTED_SECONDS", -1.0)
        caught(honest, patience, (keys, "authenticate", by_its_visible_letters))


def test_a_ticket_whose_signature_nobody_compares_is_noticed(store: Store, client: Client, monkeypatch: Patch) -> None:
    with store.writing(Scope.system()) as session:
        ada = staff.add_or_update(
            session, email="a@x.example", name="A", roles=["admin"], password="x" * 12, actor="tests"
        )

    def forged_ticket_opens_nothing() -> None:
        address = sign_in.build_completion_url(ada, "/")
        spoilt = address.replace("&next", "x&next")
        assert "set-cookie" not in client.get(spoilt).headers, "a forged ticket opened a session"

    def believed(session: Any, purpose: str, ticket: str) -> Any:
        return json.dumps([str(ada), "password", None])

    caught(forged_ticket_opens_nothing, monkeypatch, (sign_in, "redeem", believed))


def roles_hold(client: Client, cookies: dict[str, dict[str, str]]) -> None:
    """Assert that nobody without the role gets the export or the file."""
    assert client.get("/exports/purchases.csv", headers=cookies["claims"]).status_code == 403, "claims exported sales"
    assert client.get(f"/files/{'a' * 26}", headers=cookies["finance"]).status_code == 403, "finance opened a file"


def test_a_role_that_nobody_checks_is_noticed(client: Client, store: Store, monkeypatch: Patch) -> None:
    cookies = {}
    with store.writing(Scope.system()) as session:
        for role in ("claims", "finance"):
            who = staff.add_or_update(
                session, email=f"{role}@x.example", name=role, roles=[role], password="x" * 12, actor="t"
            )
            cookies[role] = {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, who)}"}
    caught(lambda: roles_hold(client, cookies), monkeypatch, (Person, "has_role", lambda *_: True))


def test_an_open_gate_is_noticed(client: Client, monkeypatch: Patch) -> None:
    def shut() -> None:
        assert client.get("/v1/genders").status_code == 401, "no key was asked for"

    caught(shut, monkeypatch, (auth, "_is_open", lambda _: True))


# What others read.


def test_markdown_that_nobody_escapes_is_noticed(
    store: Store, client: Client, partner: Partner, screen: Screen, monkeypatch: Patch
) -> None:
    body = shipped.body(CREDIT_LIFE, first_name=payloads.MARKDOWN)
    policy = client.post(BUY, key=partner.live_key, json=body).json()["data"]

    def shown_as_text() -> None:
        at = screen("operations", path="policies/policy.py", id=policy["id"])
        raw = list(payloads.unescaped(at))
        assert not raw, raw

    caught(shown_as_text, monkeypatch, (words, "plain", lambda text: text or ""))


def test_a_formula_that_nobody_defuses_is_noticed(
    store: Store, client: Client, partner: Partner, monkeypatch: Patch
) -> None:
    body = shipped.body(CREDIT_LIFE, first_name=payloads.FORMULA)
    assert client.post(BUY, key=partner.live_key, json=body).status_code == 201
    with store.writing(Scope.system()) as session:
        who = staff.add_or_update(
            session, email="f@x.example", name="F", roles=["finance"], password="x" * 12, actor="tests"
        )
        cookie = {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, who)}"}

    def defused() -> None:
        text = client.get("/exports/purchases.csv", headers=cookie).text
        assert "HYPERLINK" in text
        assert "'=HYPERLINK" in text, "a formula went into a spreadsheet"

    caught(
        defused,
        monkeypatch,
        (exports, "csv_field", lambda text: f'"{(text or "").replace(chr(34), chr(34) * 2)}"'),
    )


def test_an_answer_without_security_headers_is_noticed(client: Client, monkeypatch: Patch) -> None:
    def guarded() -> None:
        assert "x-content-type-options" in client.get("/healthz").headers

    caught(guarded, monkeypatch, (middleware, "_EVERYWHERE", {}))


def test_a_number_kept_in_clear_is_noticed(store: Store, client: Client, partner: Partner, monkeypatch: Patch) -> None:
    numbers = itertools.count(22_200_000_001)

    def masked_everywhere() -> None:
        number = next(numbers)
        changed = {"bvn": str(number), "registration_number": f"SAB{number % 1000}AA"}
        buy(client, partner.test_key, insurer_b.THIRD_PARTY, **changed)
        for path in ("purchase", "policies", "customers"):
            text = client.get(f"/v1/{path}?limit=100", key=partner.test_key).text
            assert str(number) not in text, f"/v1/{path} says a BVN"

    caught(masked_everywhere, monkeypatch, (personal, "mask_personal_numbers", lambda data, _: dict(data)))
