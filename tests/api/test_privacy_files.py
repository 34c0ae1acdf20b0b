"""The files of the privacy desk: who gets them, and what stays in the log."""

from datetime import timedelta

import pytest

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.compliance import filings, requests
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.services.selling import sell

ROLES = ("compliance", "operations", "finance", "claims", "supervisor", "admin")


@pytest.fixture
def cookie(store: Store) -> dict[str, dict[str, str]]:
    """For each role, the headers of a browser that it is signed in with."""
    found = {}
    with store.writing(Scope.system()) as session:
        for role in ROLES:
            person = staff.add_or_update(
                session, email=f"{role}@coverdesk.example", name=role, roles=[role], password="x" * 12, actor="tests"
            )
            found[role] = {"cookie": f"{sign_in.COOKIE}={credentials.open_session(session, person)}"}
    return found


@pytest.mark.parametrize("database", ["sqlite"])
def test_the_pack_and_the_figures_go_to_compliance_alone(
    client: Client, cookie: dict[str, dict[str, str]], store: Store, partner: Partner
) -> None:
    with clock.freeze(clock.now() - timedelta(days=40)):
        sell(store, partner, CREDIT_LIFE, is_live=True, email="seyi@people.example")
    typed = {"kind": "copy", "name": "Seyi", "email": "seyi@people.example", "details": "A copy, please"}
    with store.writing(Scope.system()) as session:
        by = staff.get_by_email(session, "compliance@coverdesk.example")
        request_id = requests.register(session, typed, by=by)
    pack, year = f"/data-requests/{request_id}.zip", "/privacy-figures/2026.csv"
    assert client.get(pack, headers=cookie["compliance"]).status_code == 409, "the identity is not checked yet"
    with store.writing(Scope.system()) as session:
        requests.note_identity(session, request_id, method="Identity document seen", version=1, by=by)
    with store.reading(Scope.system()) as session:
        due = filings.list_calendar(session)[0]
    returned = f"/returns/{due.kind}/{due.period_ends_on}.csv"
    for path in (pack, year, returned):
        answers = {role: client.get(path, headers=cookie[role]).status_code for role in ROLES}
        assert {role for role, status in answers.items() if status == 200} == {"compliance", "admin"}
        assert set(answers.values()) == {200, 403}
        assert client.get(path).status_code == 401
        assert client.get(path, key=partner.live_key).status_code == 401
        elsewhere = {**cookie["compliance"], "sec-fetch-site": "cross-site"}
        assert client.get(path, headers=elsewhere).status_code == 403
    got = client.get(pack, headers=cookie["compliance"])
    assert got.headers["content-disposition"].startswith('attachment; filename="DR-')
    assert got.headers["cache-control"] == "no-store"
    assert client.get("/data-requests/x.zip", headers=cookie["compliance"]).status_code == 400
    assert client.get("/returns/brokerage/x.csv", headers=cookie["compliance"]).status_code == 404
    assert client.get("/privacy-figures/1999.csv", headers=cookie["compliance"]).status_code == 400
