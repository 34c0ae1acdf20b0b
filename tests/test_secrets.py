"""Secrets are planted through both doors and looked for wherever a server leaves anything (contract A3)."""

import csv
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import seal, settings
from core.covers.cover import Cover
from core.covers.registry import COVERS
from core.desk import pii_reveal, resealing
from core.errors import InvalidSetting, Unauthorized
from core.services.audit import idempotency
from core.services.people import credentials, sign_in, staff
from core.services.selling import buying
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from tests.conftest import SECRET, Partner, make_partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.load.serving import environment, run, started
from tests.ports import free_port

BVN, NIN, ACCOUNT, PASSPORT = "22987650317", "70918273645", "3081920475", "A09876153"
PASSWORD, WRONG_PASSWORD = "planted horse battery 918", "planted wrong horse 736"
FORGED = "cd_live_plantedplantedplantedplantedplanted12345678"


@dataclass
class Scene:
    """A desk that was in use, and everything that it said or left behind."""

    folder: Path
    token: str
    keys: tuple[str, ...]
    outputs: dict[str, bytes] = field(default_factory=dict)

    def left(self) -> Iterator[tuple[str, bytes]]:
        """Each thing by its name."""
        yield from self.outputs.items()
        yield from ((str(path.name), path.read_bytes()) for path in self.folder.rglob("*") if path.is_file())


def cover_at(route: str) -> Cover[object]:
    return next(cover for cover in COVERS if cover.route == route)


def sale(route: str, **changed: object) -> tuple[str, dict[str, object]]:
    cover = cover_at(route)
    return f"/v1{cover.path}", shipped.body(cover, **changed)


@pytest.fixture(scope="module")
def scene(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Sells, refuses, signs in, shows one number, exports and backs up, with a real server at debug level."""
    folder, port = tmp_path_factory.mktemp("planted"), free_port()
    shutil.copy(sqlite_template, folder / "store.db")
    store = Store(f"sqlite:///{folder / 'store.db'}")
    partner = make_partner(store, "Swift Lenders")
    variables = environment(folder, port, COVERDESK_SECRET_KEY=SECRET, COVERDESK_LOG_LEVEL="DEBUG")
    with started("api", folder, port, variables) as process:
        token = _signed_in(store, f"http://127.0.0.1:{port}")
        scene = Scene(folder, token, (partner.test_key, partner.live_key))
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            _sell_and_be_refused(client, partner, scene)
            _show_one(store, scene)
            _export(client, scene)
        scene.outputs["the backup's words"] = run("backup", str(folder / "night.tar"), variables=variables).encode()
        for part in Path("/proc").glob("[0-9]*/cmdline"):
            if part.parent.name == str(process.pid) or f"PPid:\t{process.pid}\n" in _status(part.parent):
                scene.outputs[f"argv of {part.parent.name}"] = part.read_bytes()
        for journal in folder.glob("store.db-*"):  # while they are there
            scene.outputs[f"live {journal.name}"] = journal.read_bytes()
    store.close()
    return scene


def _status(process: Path) -> str:
    try:
        return (process / "status").read_text()
    except OSError:
        return ""


def _signed_in(store: Store, url: str) -> str:
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session, email="ada@desk.example", name="Ada", roles=["admin"], password=PASSWORD, actor="tests"
        )
    for password in (WRONG_PASSWORD, PASSWORD):
        with store.writing(Scope.system()) as session:
            sign_in.admit_attempt(session, "ada@desk.example", address="10.1.2.3")
        with store.reading(Scope.system()) as session:
            try:
                staff_id = credentials.verify_password(session, "ada@desk.example", password)
            except Unauthorized:
                assert password == WRONG_PASSWORD
    opened = httpx.get(url + sign_in.build_completion_url(staff_id, "/", address="10.1.2.3"))
    return str(opened.cookies[sign_in.COOKIE])


def _sell_and_be_refused(client: httpx.Client, partner: Partner, scene: Scene) -> None:
    travel = sale("buy-travel", passport_number=PASSPORT, nin=NIN, account_number=ACCOUNT)
    auto = sale("buy-third-party-auto", bvn=BVN, nin=NIN, bank={"account_number": ACCOUNT})
    for number, (path, body) in enumerate((travel, travel, auto)):
        headers = {"Authorization": f"Bearer {partner.test_key}", "Idempotency-Key": f"planted-{number // 2}"}
        answer = client.post(path, json=body, headers=headers)
        assert answer.status_code == 201, answer.text
        scene.outputs[f"sale {number}"] = answer.content
    key = {"Authorization": f"Bearer {partner.test_key}"}
    for name, answer in {
        "a BVN that is too long": client.post(auto[0], json={**auto[1], "bvn": BVN + "0"}, headers=key),
        "no JSON": client.post(auto[0], content=f'{{"bvn": "{BVN}', headers=key | {"Content-Type": "application/json"}),
        "the same risk": client.post(travel[0], json={**travel[1], "email": "b@example.com"}, headers=key),
        "a reused key": client.post(
            auto[0], json={**auto[1], "bvn": NIN}, headers={**key, "Idempotency-Key": "planted-0"}
        ),
        "a number in a path": client.get(f"/v1/customers/{BVN}", headers=key),
        "a number in a query": client.get(f"/v1/customers?search={BVN}&customer_email={NIN}", headers=key),
        "a key in a path": client.get(f"/v1/{partner.live_key}", headers=key),
        "a forged key": client.get("/v1/purchase", headers={"Authorization": f"Bearer {FORGED}"}),
        "policies": client.get("/v1/policies", headers=key),
        "customers": client.get("/v1/customers", headers=key),
        "purchases": client.get("/v1/purchase", headers=key),
        "a number at the plain routes": client.get(f"/verify/{BVN}"),
        "a broken ticket": client.get(f"/auth/complete?t={scene.token}", follow_redirects=False),
    }.items():
        scene.outputs[name] = answer.content


def _show_one(store: Store, scene: Scene) -> None:
    with store.writing(Scope.staff(is_live=False)) as session:
        row = session.execute(sa.select(col(Policy.id), col(Policy.sealed)).where(col(Policy.sealed).like("%"))).first()
        assert row is not None
        where = next(iter(seal.unseal(row.sealed)))
        person = staff.get_by_email(session, "ada@desk.example")
        hidden = pii_reveal.HiddenField(kind="policy", record_id=row.id, path=where)
        shown = pii_reveal.reveal(
            session, hidden, reason="Working a claim", details="the caller asked for it", person=person
        )
    assert shown in {BVN, PASSPORT}


def _export(client: httpx.Client, scene: Scene) -> None:
    for kind in ("purchases", "policies", "customers", "renewals", "claims", "audit"):
        for format_ in ("csv", "xlsx"):
            cookie = {"Cookie": f"{sign_in.COOKIE}={scene.token}"}
            answer = client.get(f"/exports/{kind}.{format_}?mode=test", headers=cookie)
            if kind in {"purchases", "policies"}:
                assert answer.status_code == 200
            scene.outputs[f"{kind}.{format_}"] = answer.content
    assert len(list(csv.reader(io.StringIO(scene.outputs["policies.csv"].decode())))) >= 3


def planted(scene: Scene) -> dict[str, str]:
    return {
        "a BVN": BVN,
        "a NIN": NIN,
        "a bank account": ACCOUNT,
        "a passport": PASSPORT,
        "a password": PASSWORD,
        "a wrong password": WRONG_PASSWORD,
        "a session": scene.token,
        "the server secret": SECRET,
        "a test key": scene.keys[0],
        "a live key": scene.keys[1],
        "a forged key": FORGED,
    }


def test_no_planted_secret_or_number_is_found_in_clear_anywhere(scene: Scene) -> None:
    found = [
        f"{name} in {where}"
        for where, content in scene.left()
        for name, value in planted(scene).items()
        if value.encode() in content
    ]
    assert not found


def test_the_places_that_were_searched_hold_what_they_should(scene: Scene) -> None:
    left = dict(scene.left())
    assert b"Swift Lenders" in left["store.db"] + left.get("live store.db-wal", b"")
    assert BVN[-4:].encode() in left["policies"]
    lines = [json.loads(line) for line in left["server.log"].decode().splitlines() if line.startswith("{")]
    assert {line["status"] for line in lines if line["event"] == "request"} >= {200, 201, 400, 401, 404, 409}
    assert {"/v1/customers/*", "/v1/*"} <= {line.get("path") for line in lines}
    assert len(left["night.tar"]) > 100_000
    assert any(name.startswith("argv") for name in left)


@every_case("cover", COVERS, ids=lambda cover: cover.path)
def test_every_personal_number_of_a_cover_is_sealed_and_comes_back_whole(cover: Cover[object]) -> None:
    from core.services.people import personal

    request = shipped.request(cover)
    numbers = personal.find_personal_numbers(request)
    kept = request.model_dump(mode="json", exclude_none=True)
    masked, sealed = (
        personal.mask_personal_numbers(kept, numbers),
        personal.seal_personal_numbers({"submitted": kept}, numbers),
    )
    assert not [number for number in numbers if number in json.dumps(masked)]
    assert personal.restore_personal_numbers(masked, sealed, "submitted") == kept


@pytest.fixture
def _settings(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    _forget()
    yield
    monkeypatch.undo()
    _forget()


def _forget() -> None:
    for cached in (settings.settings, seal._get_cipher, seal._hash_key):
        cached.cache_clear()


def _with(monkeypatch: pytest.MonkeyPatch, **settings: str) -> None:
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    _forget()


@pytest.mark.usefixtures("_settings")
def test_what_a_copy_of_the_store_tells_of_a_request_cannot_be_guessed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    here = idempotency.fingerprint(b"/v1/x", b'{"bvn":"1"}')
    assert here == idempotency.fingerprint(b"/v1/x", b'{"bvn":"1"}')
    _with(monkeypatch, COVERDESK_SECRET_KEY="another-0123456789-abcdefghijklmnopqrstuvwxyz")
    assert here != idempotency.fingerprint(b"/v1/x", b'{"bvn":"1"}')


@pytest.mark.usefixtures("_settings")
def test_sealing_keys_are_changed_while_old_rows_stay_readable(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = "first-0123456789-abcdefghijklmnopqrstuvwxyz", "second-0123456789-abcdefghijklmnopqrstuvwxyz"

    def sell(number: str) -> None:
        cover = cover_at("buy-third-party-auto")
        with store.writing(partner.scope()) as session:
            buying.sell(
                session,
                cover,
                shipped.request(cover, bvn=number, registration_number=f"ABC{number[-3:]}XY"),
                partner.seller(),
            )

    def numbers() -> set[str]:
        with store.reading(Scope.system()) as session:
            return {n for (s,) in session.execute(sa.select(col(Policy.sealed))) for n in seal.unseal(s).values()}

    sell("22111111111")
    _with(monkeypatch, COVERDESK_SEALING_KEYS=first)
    sell("22222222222")
    _with(monkeypatch, COVERDESK_SEALING_KEYS=f"{second},{first}")
    assert numbers() == {"22111111111", "22222222222"}
    with store.writing(Scope.system()) as session:
        done = [resealing.reseal(session, entity, after=None) for entity in resealing.SEALED_TABLES]
        assert done[0] == (2, None)
    _with(monkeypatch, COVERDESK_SEALING_KEYS=second)
    assert numbers() == {"22111111111", "22222222222"}
    _with(monkeypatch, COVERDESK_SEALING_KEYS=first)
    with pytest.raises(InvalidSetting, match="COVERDESK_SEALING_KEYS: must have every key"):
        numbers()
