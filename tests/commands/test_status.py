"""`coverdesk status` tells what runs and what waits, and its exit code whether somebody has to come."""

import json
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from core import clock, demo
from core.desk import gauges
from core.desk import status as service
from core.services.audit import log as audit
from core.services.policies import issuing
from core.settings import VERSION, settings
from core.store.access import Scope, ScopedSession, Store
from core.store.schema import versions
from core.store.schema.tables import InsurerConnection, Policy, Provider, Submission
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, sales_at


def backed_up(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        audit.write(session, actor="tests", action=audit.BACKED_UP, subject="backup x")


def test_a_store_without_a_backup_needs_somebody(store: Store) -> None:
    status = coverdesk("status")
    assert status.returncode == 1
    assert "✗ There is no backup yet: run `coverdesk backup FILE`." in status.stdout


def test_a_healthy_store_needs_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "free_bytes", lambda: 1 << 40)
    backed_up(store)
    with store.writing(Scope.system()) as session:
        service.record(session, "here:1")
    status = coverdesk("status")
    assert status.returncode == 0, status.stdout
    assert f"Workers           here:1 ({VERSION})" in status.stdout
    assert "Nothing needs a person." in status.stdout


def test_a_fresh_demonstration_needs_nobody(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "free_bytes", lambda: 1 << 40)
    demo.write(store, purchases=300, seed=1, until=clock.now() - timedelta(hours=13))
    status = coverdesk("status", COVERDESK_DEMO="true")
    assert "Nothing needs a person." in status.stdout, status.stdout
    assert status.returncode == 0


def queue_sale(session: ScopedSession, partner: Partner) -> Provider:
    """Sell a policy and let it wait for its insurer, which is returned, for two hours."""
    service.record(session, "here:1")
    sales_at(session, partner.id, NOW)
    policy = session.execute(sa.select(Policy)).scalar_one()
    policy.submitted_to_provider = policy.activated = False
    provider: Provider = session.get_one(Provider, policy.provider_id)
    with clock.freeze(clock.now() - timedelta(hours=2)):
        session.insert(issuing.build_submission(policy, provider.segment))
    return provider


def address_of(provider: Provider) -> dict[str, str]:
    """The setting that gives an insurer a connection."""
    return {f"COVERDESK_{provider.segment.replace('-', '_').upper()}_URL": "https://insurer.example"}


def test_a_policy_of_an_insurer_without_a_connection_is_the_desks_to_tell_it_of(store: Store, partner: Partner) -> None:
    backed_up(store)
    with store.writing(Scope.system()) as session:
        connected = address_of(queue_sale(session, partner))
    status = coverdesk("status")
    assert "1 for insurers without a connection, whom operations tells by hand" in status.stdout, status.stdout
    assert "work has been due" not in status.stdout
    status = coverdesk("status", **connected)
    assert "Insurers: work has been due for 120 minutes" in status.stdout, status.stdout
    assert status.returncode == 1


@pytest.mark.both_databases
def test_an_insurer_that_does_not_answer_is_a_fault_though_no_policy_is_due(store: Store, partner: Partner) -> None:
    """Each try in vain puts off the next one, so that nothing is ever due for long."""
    backed_up(store)
    with store.writing(Scope.system()) as session:
        provider = queue_sale(session, partner)
        connected = address_of(provider)
        waits = session.execute(sa.select(Submission)).scalar_one()
        waits.failures, waits.next_try_at = 7, clock.now() + timedelta(minutes=30)
        rests = clock.now() + timedelta(seconds=15)
        session.insert(
            InsurerConnection(provider_id=provider.id, failures=7, rests_until=rests, last_error="unreachable")
        )
        name = provider.company_name
    status = coverdesk("status", **connected)
    assert f"{name} does not take its policies (unreachable): 1 tried in vain" in status.stdout, status.stdout
    assert status.returncode == 1
    with store.reading(Scope.system()) as session:
        late = clock.now() + timedelta(minutes=1)
        with clock.freeze(late):
            assert [gauge.value for gauge in gauges._breakers(session)] == [1]
    assert "does not take its policies" not in coverdesk("status").stdout


def test_the_health_check_of_a_worker_sees_those_of_its_own_machine(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        service.record(session, "elsewhere:1")
    assert coverdesk("status", "--worker").returncode == 1
    with store.writing(Scope.system()) as session:
        service.record(session, service.worker_name())
    assert coverdesk("status", "--worker").returncode == 0
    late = clock.now() + service.FRESH + timedelta(seconds=1)
    with clock.freeze(late):
        assert coverdesk("status", "--worker").returncode == 1


def test_json_says_the_same_to_programs(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "free_bytes", lambda: 1 << 40)
    backed_up(store)
    status = coverdesk("status", "--json")
    found = json.loads(status.stdout)
    assert (status.returncode, found["faults"], found["version"]) == (0, [], VERSION)
    assert found["migration"] == found["newest_migration"]
    assert {queue["name"] for queue in found["queues"]} >= {"Insurers", "Webhooks", "E-mail"}


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        ({"free_bytes": lambda: 1 << 20}, "less than 2 GiB are free"),
        ({"measure_clock_skew": lambda _: -3.5}, "the clocks of this machine and of the database differ"),
    ],
)
def test_what_is_wrong_is_named(
    store: Store, monkeypatch: pytest.MonkeyPatch, broken: dict[str, object], says: str
) -> None:
    for name, value in broken.items():
        monkeypatch.setattr(service, name, value)
    with store.reading(Scope.system()) as session:
        assert any(says in fault for fault in service.get_status(session).faults)


def test_an_old_backup_is_a_fault(store: Store) -> None:
    backed_up(store)
    with clock.freeze(clock.now() + timedelta(hours=27)), store.reading(Scope.system()) as session:
        assert "the newest backup is older than 26 hours" in service.get_status(session).faults


def test_work_that_waits_without_a_worker_is_a_fault() -> None:
    late = service.QueueStatus(name="Insurers", depth=3, due=3, dead=0, oldest_seconds=7_200)
    gone = service.QueueStatus(name="Webhooks", depth=0, due=0, dead=2, oldest_seconds=0)
    assert service.list_queue_faults([late, gone], []) == [
        "Insurers: work has been due for 120 minutes",
        "work waits and no worker was heard of for two minutes",
        "Webhooks: 2 were given up and need a person",
    ]


@every_case(
    ("found", "says"),
    [
        ("0001", "the store has another version: run `coverdesk init`"),
        ("9999", "the store was made by a newer release (version 9999): use that one"),
    ],
)
def test_a_store_of_another_version_is_said_and_not_read(store: Store, found: str, says: str) -> None:
    with store.writers.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :found"), {"found": found})
    status = coverdesk("status", "--json")
    assert (status.returncode, json.loads(status.stdout)) == (1, {"faults": [says]})
    assert service.find_fault() == says
    with store.writers.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = :newest"), {"newest": versions.newest()})


def test_files_at_a_file_address_are_in_its_folder(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk that has the files is the one whose free space says if the store is ready."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COVERDESK_FILES_URL", f"file://{tmp_path / 'kept'}")
    settings.cache_clear()
    assert service.find_fault() is None
    assert (tmp_path / "kept").is_dir()
    assert not (tmp_path / "file:").exists()


def test_a_folder_of_files_that_cannot_be_written_is_why_a_server_is_not_ready(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("COVERDESK_FILES_URL", str(tmp_path / "file" / "kept"))
    settings.cache_clear()
    assert service.find_fault() == "the folder of uploaded files cannot be written"
    assert "✗ The folder of uploaded files cannot be written." in coverdesk("status").stdout
