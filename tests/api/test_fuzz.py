"""Whatever is sent, the answer is a documented envelope and never a 5xx.

Every run tries each operation with cases that are drawn, some 400 in all, on one database, and on the other the edges
of every field of one operation in eight: the edges of all are 10,000 cases, and took longer than all other tests of
this folder. `make fuzz` tries the edges of all and draws 20,000 cases, others in each run; `--hypothesis-seed=N` draws
those of one run again.
"""

import copy
import functools
import os
import random
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from hypothesis import HealthCheck, Phase, settings

from core.api.app import api
from core.store.access import Store
from tests.conftest import BOTH, SEED, Partner

pytestmark = pytest.mark.long

# Each part is one test with a store of its own, so that the parts run side by side.
PARTS = 4
STORES = 2
FULL = "COVERDESK_FUZZ_CASES" in os.environ
ALL_CASES = int(os.environ.get("COVERDESK_FUZZ_CASES", "400"))
ENVELOPE = {"responseCode", "responseText", "data"}


@functools.cache
def read_schema() -> Any:
    """Our document with the JSON bodies that it says in words only: they are tried like any other.

    It is made by the first test that wants it, and the library imported by then: every process collects all tests.
    """
    import schemathesis

    made = copy.deepcopy(api.openapi())
    for methods in made["paths"].values():
        for operation in methods.values():
            body = operation.get("requestBody", {})
            if "JSON" in body.get("description", ""):
                body["content"]["application/json"] = body["content"]["multipart/form-data"]
    return schemathesis.openapi.from_dict(made)


def list_operations() -> list[str]:
    return [f"{method.upper()} {path}" for path, methods in api.openapi()["paths"].items() for method in methods]


@pytest.fixture(scope="module")
def connection() -> Iterator[requests.Session]:
    """One connection for all cases, which asks neither the environment for a proxy nor the home for a password."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("database", ["sqlite"])
def test_any_edge_of_a_field_is_answered_as_documented(
    part: int, store: Store, partner: Partner, server: str, connection: requests.Session
) -> None:
    operations = list_operations()[part::PARTS]
    tried = operations if FULL else random.Random(SEED).sample(operations, len(operations) // 8)
    fuzz_each(tried, (Phase.explicit, Phase.generate), partner, server, connection)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("database", BOTH[1:])
def test_any_input_is_answered_as_documented(
    part: int, store: Store, partner: Partner, server: str, connection: requests.Session
) -> None:
    fuzz_each(list_operations()[part::PARTS], (Phase.generate,), partner, server, connection)


def fuzz_each(
    operations: list[str], phases: tuple[Phase, ...], partner: Partner, server: str, session: requests.Session
) -> None:
    """Try each of these operations, and name each that fails.

    Subtests would take the output away from the server's thread while it writes its log, which ends the process.
    """
    failed: list[Exception] = []
    for operation in operations:
        try:
            fuzz(operation, phases, partner, server, session)
        except Exception as failure:
            failure.add_note(operation)
            failed.append(failure)
    if failed:
        raise ExceptionGroup(f"{len(failed)} operations", failed)


def fuzz(label: str, phases: tuple[Phase, ...], partner: Partner, server: str, connection: requests.Session) -> None:
    """Make the cases of an operation and try them.

    `schema.parametrize()` makes them at collection: every worker would make those of all operations, in 17 s.
    """
    from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test

    schema = read_schema()
    operation = schema.find_operation_by_label(label)
    assert operation is not None
    cases = max(2, ALL_CASES // len(list_operations()) // STORES)
    drawn = settings(
        max_examples=cases, deadline=None, phases=phases, suppress_health_check=list(HealthCheck), database=None
    )
    config = HypothesisTestConfig(project=schema.config, modes=list(HypothesisTestMode), settings=drawn)
    test = create_test(operation=operation, test_func=answered_as_documented, config=config)
    test(partner=partner, server=server, connection=connection)


def answered_as_documented(case: Any, partner: Partner, server: str, connection: requests.Session) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi import checks

    if case.query and str(case.query.get("wait", "")).isdecimal():
        # Whoever asks to wait gets the answer of whoever does not, seconds later.
        case.query["wait"] = min(int(case.query["wait"]), 1) if int(case.query["wait"]) <= 20 else 21
    key = {"Authorization": f"Bearer {partner.test_key}"}
    answer = case.call(base_url=f"{server}/v1", headers=key, session=connection)
    wanted = [checks.status_code_conformance, checks.content_type_conformance, checks.response_schema_conformance]
    case.validate_response(answer, checks=[not_a_server_error, *wanted])
    if "json" in answer.headers.get("content-type", [""])[0]:
        assert set(answer.json()) >= ENVELOPE
        assert (answer.json()["responseCode"] == 1) is (answer.status_code < 300)
