"""Whoever was erased stays erased after an older backup is restored, by the list beside it."""

import json
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.compliance import erasures, requests
from core.services.people import staff
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, Policy, Staff
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.services.selling import sell

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("unused_store")]

SYSTEM = Scope.system()
EMAIL = "seyi.quist@people.example"


def erase(store: Store) -> UUID:
    """Erase the person by a request and in two hands."""
    with store.writing(SYSTEM) as session:
        session.add_all(Staff(email=f"{name}@d.example", name=name, roles=["compliance"]) for name in ("cora", "dayo"))
        session.flush()
        cora, dayo = (staff.get_by_email(session, f"{name}@d.example") for name in ("cora", "dayo"))
        typed = {"kind": "erasure", "name": "Seyi Quist", "email": EMAIL, "details": "Please"}
        asked = requests.register(session, typed, by=cora)
        requests.note_identity(session, asked, method="Identity document seen", version=1, by=cora)
        session.execute(sa.update(Policy).values(cancelled_at=clock.now()))
        erasure = erasures.prepare_for_request(session, asked, reason="Asked for it in writing", early=True, by=cora)
        erasures.remove_files(erasures.carry_out(session, erasure, by=dayo))
    return erasure


def emails(store: Store) -> list[str]:
    with store.reading(SYSTEM) as session:
        return list(session.execute(sa.select(col(Customer.email))).scalars())


def test_a_restored_backup_is_erased_again_by_the_list_beside_it_and_by_the_store_that_stood_there(
    store: Store, partner: Partner, tmp_path: Path
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    old, new = tmp_path / "old.tar", tmp_path / "new.tar"
    assert coverdesk("backup", str(old)).returncode == 0
    assert not list(tmp_path.glob("*erasures*")), "nobody was erased yet"
    erasure = erase(store)
    store.close()
    restored = coverdesk("restore", str(old))
    assert "1 people who were erased after this backup are erased again" in restored.stdout, restored.stderr
    (email,) = emails(store)
    assert email.endswith("@erased.invalid")
    store.close()
    made = coverdesk("backup", str(new))
    beside = tmp_path / "coverdesk-erasures.json"
    assert "lists who was erased" in made.stdout, made.stderr
    (entry,) = json.loads(beside.read_text())
    assert (entry["id"], beside.stat().st_mode & 0o777) == (str(erasure), 0o600)
    assert EMAIL not in beside.read_text()
    assert b"quist" not in new.read_bytes().lower()


def test_on_another_machine_the_list_is_read_that_lies_beside_the_backup_or_is_named(
    store: Store, partner: Partner, tmp_path: Path
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    old, listed = tmp_path / "old.tar", tmp_path / "coverdesk-erasures.json"
    assert coverdesk("backup", str(old)).returncode == 0
    with store.reading(SYSTEM) as session:
        (customer,) = session.execute(sa.select(col(Customer.id))).scalars()
    store.close()
    entry = {"id": str(UUID(int=7)), "number": "ER-2026-0001", "record_class": "person", "customers": [str(customer)]}
    listed.write_text(json.dumps([{**entry, "decided_at": "2026-11-01T10:00:00.000Z", "sha256": "a" * 64}]))
    again = coverdesk("restore", str(old))
    assert "1 people" in again.stdout, again.stderr
    assert [email.partition("@")[2] for email in emails(store)] == ["erased.invalid"]
    store.close()
    assert coverdesk("check").returncode == 0
    refused = coverdesk("restore", str(old), "--erasures", str(old))
    assert (refused.returncode, "list of erasures" in refused.stderr) == (1, True)
