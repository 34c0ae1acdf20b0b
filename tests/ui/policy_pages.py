"""The screen of one policy."""

from typing import Any

import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core.store.access import Scope, Store
from tests.ui.conftest import Screen

PAGE = "policies/policy.py"


def open_page(screen: Screen, policy_id: Any, *roles: str, page: str = PAGE, **query: str) -> AppTest:
    """The screen of a policy."""
    return screen(*(roles or ("operations",)), path=page, id=str(policy_id), **query)


def confirm(at: AppTest) -> AppTest:
    done: AppTest = at.button(key="decision.confirm").click().run()
    assert not done.exception
    return done


def count(store: Store, table: Any) -> int:
    with store.reading(Scope.system()) as session:
        return int(session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())
