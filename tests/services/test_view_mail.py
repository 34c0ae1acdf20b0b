"""Saved views by e-mail: figures every day, week or month, warnings once a crossing, only while the role is there."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import exported_lists, saved_view_mail
from core.dispatch import mail
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.people import saved_views, staff
from core.services.people.saved_views import View
from core.services.people.staff import Person
from core.services.sales import purchases
from core.services.sales.purchases import PurchaseFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Mail, Staff
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio

LIST = "sales/purchases.py"
LIVE = Scope.staff(is_live=True)
# A Friday, at noon in Lagos.
NOON = datetime(2026, 11, 20, 11, 0, tzinfo=UTC)
pytestmark = pytest.mark.frozen_at(NOON)
DESK = {"source": ["desk"], "order": ["largest"], "show": ["sold", "total"]}


@pytest.fixture
def sold(store: Store, partner: Partner) -> Store:
    with clock.freeze(NOW):
        Portfolio(seed=21, size=20, sellers=(partner.id,)).write(store)
    return store


def colleague(store: Store, *roles: str) -> Person:
    email = f"{roles[0]}@coverdesk.example"
    with store.writing(Scope.system()) as session:
        staff.add_or_update(session, email=email, name="Bola", roles=roles, password="a long one, x", actor="t")
        return staff.get_by_email(session, email)


def save(store: Store, by: Person, screen: str = LIST, parameters: Any = None, **inputs: str) -> View:
    with store.writing(Scope.system()) as session:
        saved_views.save_view(session, screen, parameters or DESK, {"name": "Desk sales", **inputs}, by=by)
        return saved_views.list_views(session, screen, by=by)[0]


def watch(store: Store, view: View, by: Person, **inputs: str) -> None:
    with store.writing(Scope.system()) as session:
        saved_view_mail.set_watch(session, view.id, inputs, is_live=True, by=by)


def letters(store: Store) -> list[Mail]:
    with store.reading(Scope.system()) as session:
        found = list(session.execute(sa.select(Mail).order_by(col(Mail.created_at))).scalars())
        session.expunge_all()
        return found


def tell(store: Store, **after: float) -> int:
    with clock.freeze(NOON + timedelta(**after)):
        return mail.tell_views(store)


def test_a_view_is_mailed_each_week_with_the_figures_of_its_list(sold: Store) -> None:
    bola = colleague(sold, "operations")
    watch(sold, save(sold, bola), bola, every="week")
    assert [tell(sold, days=days) for days in (0, 2)] == [0, 0]
    # On Monday, not before seven.
    assert [tell(sold, days=3, hours=hours) for hours in (-6, 0, 1)] == [0, 1, 0]
    with sold.reading(LIVE) as session:
        total = purchases.sum_purchases(session, PurchaseFilter(request_sources=("desk",)))
    (letter,) = letters(sold)
    figures = saved_view_mail.Figures(total.sold, total.sold_minor).text
    assert total.sold
    assert letter.subject == f"Desk sales: {figures}"
    assert (letter.recipient, letter.sent_by) == (bola.email, "saved views")
    links = [urlsplit(word) for word in letter.body.split() if word.startswith("http")]
    assert [link.path for link in links] == ["/purchases", "/exports/purchases.xlsx"]
    assert parse_qs(links[0].query) == DESK
    shown = {"columns": ["created_at", "total"], "order": ["largest"], "form": ["people"]}
    assert parse_qs(links[1].query) == {"source": ["desk"], **shown}
    assert tell(sold, days=10) == 1


def test_a_warning_comes_once_for_each_crossing(sold: Store) -> None:
    bola = colleague(sold, "operations")
    with sold.reading(LIVE) as session:
        number = purchases.sum_purchases(session, PurchaseFilter(request_sources=("desk",))).sold
    view = save(sold, bola)
    watch(sold, view, bola, warn="rows above", bound=str(number))
    assert tell(sold) == 0
    watch(sold, view, bola, warn="rows above", bound=str(number - 1))
    assert [tell(sold, minutes=minutes) for minutes in (0, 5, 30)] == [1, 0, 0]
    assert f"more than {number - 1:,} rows" in letters(sold)[0].body
    with sold.writing(Scope.system()) as session:
        session.execute(sa.text("UPDATE purchase SET deleted_at = created_at"))
    assert tell(sold, hours=1) == 0
    with sold.writing(Scope.system()) as session:
        session.execute(sa.text("UPDATE purchase SET deleted_at = NULL"))
    assert tell(sold, hours=2) == 1
    watch(sold, view, bola, warn="sum below", bound="10000000")
    assert tell(sold, hours=3) == 1
    assert "less than ₦10,000,000.00" in letters(sold)[-1].body
    watch(sold, view, bola)
    assert tell(sold, days=5) == 0


def test_who_has_left_or_lost_the_role_is_told_nothing_any_more(sold: Store) -> None:
    bola = colleague(sold, "operations")
    view = save(sold, bola)
    watch(sold, view, bola, every="day")
    with sold.writing(Scope.system()) as session:
        session.execute(sa.update(Staff).values(roles=["claims"]))
    assert tell(sold, days=1) == 0
    with sold.reading(Scope.system()) as session:
        found = saved_view_mail.get_watch(session, view.id, by=bola)
    assert found is not None
    assert found.last_error
    with sold.writing(Scope.system()) as session:
        session.execute(sa.update(Staff).values(roles=["operations"], disabled_at=clock.now()))
    assert tell(sold, days=2) == 0
    with sold.writing(Scope.system()) as session:
        session.execute(sa.update(Staff).values(disabled_at=None))
    assert tell(sold, days=3) == 1
    with sold.writing(Scope.system()) as session:
        saved_views.delete_view(session, view.id, by=bola)
    assert tell(sold, days=4) == 0


def test_a_view_that_breaks_keeps_no_other_from_being_told(sold: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    bola, finance = colleague(sold, "operations"), colleague(sold, "finance")
    for person in (bola, finance):
        watch(sold, save(sold, person), person, every="day")
    compute, broken = saved_view_mail.compute, [True]

    def once(*given: Any) -> Any:
        if broken and broken.pop():
            raise ZeroDivisionError
        return compute(*given)

    monkeypatch.setattr(saved_view_mail, "compute", once)
    assert tell(sold, days=1) == 1
    assert tell(sold, days=1, minutes=1) == 1


def test_what_cannot_be_mailed_is_refused_by_its_field(sold: Store) -> None:
    bola, finance = colleague(sold, "operations"), colleague(sold, "finance")
    view = save(sold, bola, shared_role="operations")
    for inputs, message in (
        ({"every": "hour"}, "every"),
        ({"warn": "rows above"}, "bound"),
        ({"warn": "rows above", "bound": "1.5"}, "whole number"),
        ({"warn": "rows above", "bound": "-1"}, "bound"),
        ({"warn": "mood below", "bound": "1"}, "warn"),
    ):
        with pytest.raises(InvalidInput, match=message):
            watch(sold, view, bola, **inputs)
    with pytest.raises(NotFound):
        watch(sold, view, finance, every="day")
    due = save(sold, bola, "sales/due.py", {"bucket": ["week"]})
    with pytest.raises(NotFound, match="not mailed"):
        watch(sold, due, bola, every="day")
    claims = save(sold, bola, "claims/queue.py", {"view": ["open"]})
    with pytest.raises(NotAllowed):
        watch(sold, claims, bola, every="day")


def test_every_list_that_is_mailed_has_the_figures_of_its_export(sold: Store) -> None:
    bola = colleague(sold, "admin")
    for name in saved_view_mail.KINDS.values():
        kind = exported_lists.get_kind(name)
        selection = saved_view_mail.read_selection(kind, {"view": ["all"], "period": ["1y"], "sort": ["x"]}, bola)
        with sold.reading(LIVE) as session:
            found = saved_view_mail.compute(session, kind, selection)
            assert found.rows == kind.count(session, selection), name
            assert (found.sum_minor is None) == (kind.summed is None)
