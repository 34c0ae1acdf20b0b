"""Kept files over the API: served to their owner, opened by the desk, linked to by nobody else (contract L4, S15)."""

from uuid import UUID

import httpx

from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.desk import pii_reveal
from core.desk.pii_reveal import HiddenField
from core.services.audit import log as audit
from core.services.people import credentials, staff
from core.services.people.sign_in import COOKIE
from core.store.access import Scope, Store
from tests import papers
from tests.api.claiming import Lodge, claim_of
from tests.api.conftest import Client
from tests.api.uploading import path_in, uploaded
from tests.conftest import Partner
from tests.every_case import every_case

BUY = "/v1/products/buy-credit-life"


def test_file_is_served_so_that_it_can_do_nothing(client: Client, partner: Partner) -> None:
    link = uploaded(client, partner.test_key, papers.picture(), "my photo.jpg")["file_url"]
    served = client.get(path_in(link), key=partner.test_key, headers={"Range": "bytes=x-"})
    assert served.status_code == 200
    assert served.headers["x-content-type-options"] == "nosniff"
    assert served.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert served.headers["content-disposition"].startswith("inline; filename")
    assert "no-store" in served.headers["cache-control"]


def test_file_of_another_distributor_or_mode_is_not_found(client: Client, partner: Partner, stranger: Partner) -> None:
    path = path_in(uploaded(client, partner.test_key, papers.pdf())["file_url"])
    assert client.get(path, key=partner.test_key).status_code == 200
    for key in (partner.live_key, stranger.test_key, stranger.live_key):
        answer = client.get(path, key=key)
        assert answer.status_code == 404
        assert answer.json()["responseText"] == "File not found"
    assert client.get(path).status_code == 401


@every_case("code", ["nope", "a" * 26, "..%2f..%2fetc%2fpasswd", "x%00y"])
def test_unknown_code_is_not_found(client: Client, partner: Partner, code: str) -> None:
    assert client.get(f"/v1/files/{code}", key=partner.test_key).status_code == 404


def test_file_that_left_the_disk_is_not_found(client: Client, partner: Partner) -> None:
    path = path_in(uploaded(client, partner.test_key, papers.pdf())["file_url"])
    for kept in papers.on_disk():
        kept.unlink()
    assert client.get(path, key=partner.test_key).status_code == 404


def signed_in(store: Store, role: str) -> dict[str, str]:
    """The cookie of somebody who signed in."""
    with store.writing(Scope.system()) as session:
        staff_id = staff.add_or_update(
            session, email=f"{role}@x.example", name="A", roles=[role], password="long enough for tests", actor="tests"
        )
        return {"Cookie": f"{COOKIE}={credentials.open_session(session, staff_id)}"}


@every_case("role", ["claims", "operations", "supervisor", "admin"])
def test_desk_opens_files_of_both_modes_and_it_is_written_down(
    client: Client, partner: Partner, store: Store, role: str
) -> None:
    cookie = signed_in(store, role)
    for key in (partner.test_key, partner.live_key):
        code = uploaded(client, key, papers.pdf())["file_url"].rsplit("/", 1)[-1]
        answer = client.get(f"/files/{code}", headers=cookie)
        assert answer.status_code == 200
        assert answer.content == papers.pdf()
        assert answer.headers["x-frame-options"] == "SAMEORIGIN"
        with store.reading(Scope.system()) as session:
            opening = audit.list_history(session, f"file {code}")[-1]
            assert (opening.action, opening.actor) == ("file opened", f"staff {role}@x.example")


def test_a_medical_report_is_not_opened_by_its_address_without_a_reason(
    client: Client, partner: Partner, store: Store
) -> None:
    """The page of the claim asks for it; whoever had the address from a colleague was not asked."""
    medical = ("report.pdf", papers.pdf(text="Of the doctor"))
    claim = claim_of(Lodge(client, partner)(incident_type="Permanent disability", medical_report=medical))
    link = claim["credit_life_claim_meta"]["medical_report"]
    code, letter = (path.rsplit("/", 1)[-1] for path in (link, claim["credit_life_claim_meta"]["loan_offer_letter"]))
    roles = {role: signed_in(store, role) for role in ("claims", "supervisor", "operations")}
    assert [client.get(f"/files/{letter}", headers=cookie).status_code for cookie in roles.values()] == [200, 200, 403]
    for cookie in roles.values():
        assert client.get(f"/files/{code}", headers=cookie).status_code == 403
    hidden = HiddenField(kind="claim", record_id=UUID(claim["id"]), path="credit_life_claim_meta.medical_report")
    with store.writing(Scope.staff(is_live=False)) as session:
        officer = staff.get_by_email(session, "claims@x.example")
        why = {"reason": "Working a claim", "details": "Is the disability permanent"}
        pii_reveal.reveal(session, hidden, **why, person=officer)
    assert client.get(f"/files/{code}", headers=roles["claims"]).status_code == 200
    refused = client.get(f"/files/{code}", headers=roles["supervisor"])
    assert (refused.status_code, "opened for a reason" in refused.text) == (403, True)


def test_desk_door_is_shut_for_others(client: Client, partner: Partner, store: Store) -> None:
    code = uploaded(client, partner.test_key, papers.pdf())["file_url"].rsplit("/", 1)[-1]
    assert client.get(f"/files/{code}").status_code == 401
    assert client.get(f"/files/{code}", key=partner.test_key).status_code == 401
    assert client.get(f"/files/{code}", headers=signed_in(store, "finance")).status_code == 403
    assert client.get(f"/files/{'a' * 26}", headers=signed_in(store, "claims")).status_code == 404


def buy(client: Client, key: str, link: str) -> httpx.Response:
    return client.post(BUY, key=key, json={**build_example(CREDIT_LIFE.request), "id_image_url": link})


def test_purchase_takes_a_link_to_an_upload_of_its_own(client: Client, partner: Partner) -> None:
    link = uploaded(client, partner.test_key, papers.picture())["file_url"]
    assert buy(client, partner.test_key, link).status_code == 201
    assert buy(client, partner.test_key, "https://elsewhere.example/v1/files/x.jpg").status_code == 201


def test_purchase_refuses_a_link_to_somebody_elses_upload(client: Client, partner: Partner, stranger: Partner) -> None:
    code = uploaded(client, partner.test_key, papers.picture())["file_url"].rsplit("/", 1)[-1]
    links = [
        f"http://127.0.0.1:8501/v1/files/{code}",
        f"https://127.0.0.1:8501/files/{code}?download",
        f"HTTP://127.0.0.1:8501/v1/../v1//files/{code}/",
        f"http://127.0.0.1:8501/v1/%66iles/{code}",
        "http://127.0.0.1:8501/v1/files/nothing",
    ]
    for key in (stranger.test_key, partner.live_key):
        for link in links:
            answer = buy(client, key, link)
            assert answer.status_code == 400, link
            assert answer.json()["errorData"][0]["field"] == "id_image_url"
        assert client.get("/v1/purchase", key=key).json()["data"]["total_count"] == 0
