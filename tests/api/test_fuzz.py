"""Whatever is sent, the answer is a documented envelope and never a 5xx.

The ordinary suite draws some 1,000 cases, beside the edges of every field, which are tried on one database;
`COVERDESK_FUZZ_CASES=20000 pytest tests/api/test_fuzz.py` draws the full size; each run draws other cases, and
`--hypothesis-seed=N` those of one run again.
"""

import copy
import os
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.checks import not_a_server_error
from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from core.api.app import api
from core.store.access import Store
from tests.conftest import BOTH, Partner


def document() -> dict[str, Any]:
    """The document with the JSON bodies that it says in words only: they are tried like any other."""
    made = copy.deepcopy(api.openapi())
    for methods in made["paths"].values():
        for operation in methods.values():
            body = operation.get("requestBody", {})
            if "JSON" in body.get("description", ""):
                body["content"]["application/json"] = body["content"]["multipart/form-data"]
    return made


DOCUMENT = document()
OPERATIONS = [f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods]
# Each part is one test with a store of its own, so that the parts run side by side.
PARTS = 8
STORES = 2
CASES = max(2, int(os.environ.get("COVERDESK_FUZZ_CASES", "600")) // len(OPERATIONS) // STORES)
ENVELOPE = {"responseCode", "responseText", "data"}
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
schema = schemathesis.openapi.from_dict(DOCUMENT)


@pytest.fixture(scope="module")
def connection() -> Iterator[requests.Session]:
    """One connection for all cases, which asks neither the environment for a proxy nor the home for a password."""
    with requests.Session() as session:
        session.trust_env = False
        yield session


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("database", ["sqlite"])
def test_any_input_is_answered_as_documented(
    part: int, store: Store, partner: Partner, server: str, connection: requests.Session
) -> None:
    fuzz_part(part, (Phase.explicit, Phase.generate), partner, server, connection)


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("database", BOTH[1:])
def test_any_input_is_answered_alike_on_the_other_store(
    part: int, store: Store, partner: Partner, server: str, connection: requests.Session
) -> None:
    fuzz_part(part, (Phase.generate,), partner, server, connection)


def fuzz_part(part: int, phases: tuple[Phase, ...], partner: Partner, server: str, session: requests.Session) -> None:
    """Try each operation of a part, and name each that fails.

    Subtests would take the output away from the server's thread while it writes its log, which ends the process.
    """
    failed: list[Exception] = []
    for operation in OPERATIONS[part::PARTS]:
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
    operation = schema.find_operation_by_label(label)
    assert operation is not None
    drawn = settings(
        max_examples=CASES, deadline=None, phases=phases, suppress_health_check=list(HealthCheck), database=None
    )
    config = HypothesisTestConfig(project=schema.config, modes=list(HypothesisTestMode), settings=drawn)
    test = create_test(operation=operation, test_func=answered_as_documented, config=config)
    test(partner=partner, server=server, connection=connection)


def answered_as_documented(case: Any, partner: Partner, server: str, connection: requests.Session) -> None:
    if case.query and str(case.query.get("wait", "")).isdecimal():
        # Whoever asks to wait gets the answer of whoever does not, seconds later.
        case.query["wait"] = min(int(case.query["wait"]), 1) if int(case.query["wait"]) <= 20 else 21
    key = {"Authorization": f"Bearer {partner.test_key}"}
    answer = case.call(base_url=f"{server}/v1", headers=key, session=connection)
    case.validate_response(answer, checks=CHECKS)
    if "json" in answer.headers.get("content-type", [""])[0]:
        assert set(answer.json()) >= ENVELOPE
        assert (answer.json()["responseCode"] == 1) is (answer.status_code < 300)
