"""Staff: accounts, sessions that end, and guesses that are slowed down."""

from datetime import timedelta

import pytest
import sqlalchemy as sa

from core import clock
from core.errors import InvalidInput, NotFound, TooManyRequests, Unauthorized
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from core.store.schema.tables import AuditEntry, SignInAttempt, StaffSession
from tests.every_case import every_case

EMAIL, PASSWORD = "ada@coverdesk.example", "correct horse battery"
SYSTEM = Scope.system()


@pytest.fixture
def ada(store: Store) -> str:
    """A token of Ada, who has two roles."""
    with store.writing(SYSTEM) as session:
        ada = staff.add_or_update(
            session, email=EMAIL, name="Ada", roles=["operations", "claims"], password=PASSWORD, actor="tests"
        )
    with store.writing(SYSTEM) as session:
        return credentials.open_session(session, ada)


def who(store: Store, token: str | None) -> staff.Person | None:
    with store.reading(SYSTEM) as session:
        return staff.get_by_token(session, token)


def later(span: timedelta) -> "clock.datetime":
    return clock.now() + span


def test_a_person_is_known_by_the_token_alone(store: Store, ada: str) -> None:
    person = who(store, ada)
    assert person
    assert (person.email, person.roles) == (EMAIL, ("claims", "operations"))
    assert who(store, None) is who(store, "") is who(store, "made up") is None


def test_only_the_hash_of_a_token_is_kept(store: Store, ada: str) -> None:
    with store.reading(SYSTEM) as session:
        kept = session.execute(sa.select(StaffSession.token_hash)).scalars().all()
    assert len(kept) == 1
    assert ada not in kept[0]


def test_an_admin_may_do_everything_and_others_what_their_roles_say(store: Store, ada: str) -> None:
    person = who(store, ada)
    assert person
    assert person.has_role("finance", "claims")
    assert not person.has_role("finance", "supervisor")
    assert staff.Person(id=person.id, email="", name="", roles=("admin",), claim_limit_minor=None).has_role("finance")


def test_a_session_ends_when_it_is_not_used(store: Store, ada: str) -> None:
    with clock.freeze(later(timedelta(minutes=29))):
        assert who(store, ada)
    with clock.freeze(later(timedelta(minutes=31))):
        assert who(store, ada) is None


def test_use_keeps_a_session_alive_but_not_for_ever(store: Store, ada: str) -> None:
    start = clock.now()
    for minutes in range(20, 12 * 60, 20):
        with clock.freeze(start + timedelta(minutes=minutes)):
            assert who(store, ada), f"after {minutes} minutes"
            with store.writing(SYSTEM) as session:
                assert credentials.needs_keep_alive(session, ada)
                credentials.keep_alive(session, ada)
                assert not credentials.needs_keep_alive(session, ada)
    with clock.freeze(start + timedelta(hours=12, minutes=1)):
        assert who(store, ada) is None


def test_signing_out_ends_the_session_and_no_other(store: Store, ada: str) -> None:
    person = who(store, ada)
    assert person
    with store.writing(SYSTEM) as session:
        other = credentials.open_session(session, person.id)
        credentials.end_session(session, ada)
    assert who(store, ada) is None
    assert who(store, other)


def test_a_disabled_account_ends_its_sessions_and_cannot_sign_in(store: Store, ada: str) -> None:
    with store.writing(SYSTEM) as session:
        staff.disable(session, EMAIL.upper(), actor="tests")
    assert who(store, ada) is None
    with store.reading(SYSTEM) as session, pytest.raises(Unauthorized, match="wrong"):
        credentials.verify_password(session, EMAIL, PASSWORD)


def test_an_unknown_person_cannot_be_disabled(store: Store) -> None:
    with store.writing(SYSTEM) as session, pytest.raises(NotFound):
        staff.disable(session, "nobody@coverdesk.example", actor="tests")


@every_case(
    ("roles", "password", "field"),
    [
        (["king"], PASSWORD, "roles"),
        ([], PASSWORD, "roles"),
        (["claims"], "short", "password"),
        (["claims"], EMAIL.title(), "password"),
    ],
)
def test_an_account_needs_roles_and_a_long_password(store: Store, roles: list[str], password: str, field: str) -> None:
    with store.writing(SYSTEM) as session, pytest.raises(InvalidInput) as refusal:
        staff.add_or_update(session, email=EMAIL, name="Ada", roles=roles, password=password, actor="tests")
    assert [fault.field for fault in refusal.value.faults] == [field]


def test_a_password_is_found_whatever_the_case_of_the_address(store: Store, ada: str) -> None:
    with store.reading(SYSTEM) as session:
        assert credentials.verify_password(session, f"  {EMAIL.upper()} ", PASSWORD)


@every_case(("email", "password"), [(EMAIL, "wrong"), ("nobody@coverdesk.example", PASSWORD), ("", "")])
def test_a_wrong_password_and_an_unknown_person_sound_the_same(
    store: Store, ada: str, email: str, password: str
) -> None:
    with store.reading(SYSTEM) as session, pytest.raises(Unauthorized, match=f"^{credentials.WRONG_CREDENTIALS}$"):
        credentials.verify_password(session, email, password)


def test_an_unknown_person_costs_a_password_check_too(store: Store, ada: str, monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []

    class Hasher:
        def verify(self, password: str, _: str) -> bool:
            checked.append(password)
            return False

        hash = credentials._hasher.hash

    monkeypatch.setattr(credentials, "_hasher", Hasher())
    for email in (EMAIL, "nobody@coverdesk.example"):
        with store.reading(SYSTEM) as session, pytest.raises(Unauthorized):
            credentials.verify_password(session, email, "guess")
    assert checked == ["guess", "guess"]


def test_guesses_wait_longer_each_time(store: Store) -> None:
    waits = []
    for _ in range(9):
        with store.writing(SYSTEM) as session:
            credentials.record_failure(session, EMAIL)
        try:
            with store.reading(SYSTEM) as session:
                credentials.check_throttle(session, EMAIL.upper())
            waits.append(0)
        except TooManyRequests as error:
            waits.append(error.retry_after)
    assert waits[:4] == [0, 0, 0, 0]
    assert waits[4:] == sorted(waits[4:])
    assert 1 <= waits[4] <= 2
    assert waits[8] >= 30


def test_the_wait_has_an_end_and_never_passes_a_quarter_of_an_hour(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        session.insert(
            SignInAttempt(
                email_hash=credentials.hash_email(EMAIL),
                failures=500,
                last_failed_at=clock.now() - timedelta(minutes=16),
            )
        )
    with store.reading(SYSTEM) as session:
        credentials.check_throttle(session, EMAIL)


def test_a_sign_in_forgets_its_failures_and_those_of_long_ago(store: Store, ada: str) -> None:
    person = who(store, ada)
    assert person
    with store.writing(SYSTEM) as session:
        credentials.record_failure(session, EMAIL)
        credentials.record_failure(session, "recent@example.com")
        with clock.freeze(later(timedelta(days=-2))):
            credentials.record_failure(session, "old@example.com")
        credentials.open_session(session, person.id)
        left = session.execute(sa.select(SignInAttempt.email_hash)).scalars().all()
    assert left == [credentials.hash_email("recent@example.com")]


def test_signing_in_is_written_down(store: Store, ada: str) -> None:
    with store.reading(SYSTEM) as session:
        seen = session.execute(sa.select(AuditEntry.actor, AuditEntry.action)).all()
    assert (f"staff {EMAIL}", "signed in") in [tuple(row) for row in seen]


def test_a_ticket_opens_once_for_its_purpose_and_time(store: Store) -> None:
    ticket = sign_in.issue_ticket("file", "b7f2", lifetime=timedelta(seconds=30))
    with store.writing(SYSTEM) as session:
        with pytest.raises(Unauthorized):
            sign_in.redeem(session, "sign-in", ticket)
        assert sign_in.redeem(session, "file", ticket) == "b7f2"
        with pytest.raises(Unauthorized):
            sign_in.redeem(session, "file", ticket)


def test_a_late_or_touched_ticket_is_refused(store: Store) -> None:
    ticket = sign_in.issue_ticket("file", "b7f2", lifetime=timedelta(seconds=30))
    with store.writing(SYSTEM) as session:
        for wrong in ("", "x", ticket[:-1], f"{ticket}x", ticket.upper()):
            with pytest.raises(Unauthorized):
                sign_in.redeem(session, "file", wrong)
        with clock.freeze(later(timedelta(seconds=31))), pytest.raises(Unauthorized):
            sign_in.redeem(session, "file", ticket)


@every_case("path", ["/", "/purchases", "/purchase?id=42&mode=test", "/x?next=https://a.example"])
def test_our_own_paths_are_kept(path: str) -> None:
    assert sign_in.to_local_path(path) == path


@every_case(
    "path",
    ["", "purchases", "//evil.example", "///evil.example", "https://evil.example", "/\\evil.example",
     "\\\\evil.example", "/a\nb", "/\t/evil.example", "javascript:alert(1)", "http:evil.example", "/a\\b"],
)  # fmt: skip
def test_whatever_could_lead_elsewhere_leads_home(path: str) -> None:
    assert sign_in.to_local_path(path) == "/"
