"""Saved views: own ones and those shared with a role, the one to start with, and what is refused."""

import pytest

from core import ids
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.people import saved_views
from core.services.people.saved_views import View
from core.services.people.staff import Person
from core.store.access import Scope, Store

pytestmark = pytest.mark.both_databases

LIST = "sales/purchases.py"
MOTOR = {"category": ["motor"], "order": ["largest"], "show": ["sold", "total"]}


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)


def save(store: Store, by: Person, name: str = "Motor", **inputs: str) -> None:
    with store.writing(Scope.system()) as session:
        saved_views.save_view(
            session,
            LIST,
            {**MOTOR, "find": ["Ada"], "email": ["a@x.example"], "page": ["2"]},
            {"name": name, **inputs},
            by=by,
        )


def views(store: Store, by: Person, screen: str = LIST) -> list[View]:
    with store.reading(Scope.system()) as session:
        return saved_views.list_views(session, screen, by=by)


def test_a_view_is_seen_by_its_owner_and_by_the_role_that_shares_it(store: Store) -> None:
    owner, colleague, stranger = somebody("operations"), somebody("operations"), somebody("finance")
    save(store, owner)
    assert [(view.name, view.parameters, view.is_own) for view in views(store, owner)] == [("Motor", MOTOR, True)]
    assert (views(store, colleague), views(store, owner, "sales/due.py")) == ([], [])
    save(store, owner, shared_role="operations")
    assert [(view.shared_role, view.is_own) for view in views(store, colleague)] == [("operations", False)]
    assert views(store, stranger) == []
    assert len(views(store, somebody("admin"))) == 1
    with store.reading(Scope.system()) as session:
        entry = audit.list_history(session, audit.subject_of("staff", owner.id))[-1]
    assert entry.action == "view saved"
    assert "motor" not in str(entry.after)


def test_a_start_view_is_a_persons_own_choice_and_ends_with_the_view(store: Store) -> None:
    owner, colleague = somebody("operations"), somebody("operations")
    save(store, owner, shared_role="operations")
    (view,) = views(store, owner)
    with store.writing(Scope.system()) as session:
        saved_views.set_start(session, LIST, view.id, by=colleague)
        assert saved_views.list_starts(session, by=colleague) == {LIST: MOTOR}
        assert saved_views.list_starts(session, by=owner) == {}
    assert views(store, colleague)[0].is_start
    save(store, owner)  # no longer shared
    with store.writing(Scope.system()) as session:
        assert saved_views.list_starts(session, by=colleague) == {}
        with pytest.raises(NotFound):
            saved_views.set_start(session, LIST, view.id, by=colleague)
        saved_views.set_start(session, LIST, view.id, by=owner)
        saved_views.delete_view(session, view.id, by=owner)
        assert saved_views.list_starts(session, by=owner) == {}


def test_a_view_is_shared_with_an_own_role_and_deleted_by_its_owner_or_an_admin(store: Store) -> None:
    owner, colleague = somebody("operations"), somebody("operations")
    with pytest.raises(InvalidInput, match="shared_role must be a role of your own"):
        save(store, owner, shared_role="finance")
    for name in ("", "   ", "x" * 61):
        with pytest.raises(InvalidInput, match="name"):
            save(store, owner, name)
    save(store, owner, shared_role="operations")
    (view,) = views(store, owner)
    with store.writing(Scope.system()) as session, pytest.raises(NotAllowed):
        saved_views.delete_view(session, view.id, by=colleague)
    with store.writing(Scope.system()) as session, pytest.raises(NotFound):
        saved_views.delete_view(session, view.id, by=somebody("finance"))
    with store.writing(Scope.system()) as session:
        saved_views.delete_view(session, view.id, by=somebody("admin"))
    assert views(store, owner) == []


def test_one_person_keeps_a_bounded_number_of_views_of_a_list(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_views, "MOST", 2)
    owner = somebody("operations")
    for name in ("One", "Two", "Two"):
        save(store, owner, name)
    with pytest.raises(InvalidInput, match="one too many"):
        save(store, owner, "Three")
    with store.writing(Scope.system()) as session, pytest.raises(InvalidInput, match="too many: take some"):
        saved_views.save_view(session, LIST, {"product": ["x" * 5_000]}, {"name": "One"}, by=owner)
