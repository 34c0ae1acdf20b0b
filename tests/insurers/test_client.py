"""One call to an insurer: every way in which an answer can be no answer, over a real connection."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest

from core import ids
from core.insurers import answers
from core.insurers.answers import InsurerAnswer, InsurerFault
from core.insurers.client import InsurerClient
from core.insurers.sandbox import SandboxInsurer
from tests.every_case import every_case
from tests.insurers.conftest import IMPATIENT, PATIENT, SILENT

Connect = Callable[..., None]


@pytest.fixture
def connected(sandbox: SandboxInsurer, connect: Connect) -> SandboxInsurer:
    connect(insurer_a_url=sandbox.url)
    return sandbox


def send(magic: str, policy_id: UUID | None = None, *, is_live: bool = True, **payload: Any) -> InsurerAnswer:
    async def call() -> InsurerAnswer:
        async with InsurerClient(IMPATIENT if magic in SILENT else PATIENT) as client:
            body = {"insured_email": f"ada+{magic}@example.com", **payload}
            return await client.submit("insurer-a", policy_id or ids.new(), body, is_live=is_live)

    return asyncio.run(call())


def fault(magic: str) -> InsurerFault:
    with pytest.raises(InsurerFault) as raised:
        send(magic)
    return raised.value


@every_case(
    ("magic", "kind", "words"),
    [
        ("hangs", "slow", "did not answer within 0.2 seconds"),
        ("drips", "slow", "did not answer within 0.4 seconds"),
        ("floods", "unreadable", "larger than 100000 bytes"),
        ("garbles", "unreadable", "not the JSON that was agreed"),
        ("mistypes", "unreadable", "certificate_url, policy_number cannot be read"),
        ("invents", "unreadable", "status cannot be read"),
        ("forgets", "unreachable", "closed the connection without an answer"),
        ("redirects", "misdirected", "answered 307 and pointed elsewhere"),
        ("locks", "misdirected", "answered 401"),
        ("breaks", "failing", "answered 500"),
        ("rests", "failing", "answered 503"),
        ("rejects", "refused", r"\(422\): The engine number is missing"),
    ],
    beside_threads=True,
)
def test_each_way_to_fail_is_told_apart(connected: SandboxInsurer, magic: str, kind: str, words: str) -> None:
    found = fault(magic)
    assert found.kind == kind
    assert found.is_retryable is (kind != "refused")
    with pytest.raises(InsurerFault, match=words):
        raise found
    assert found.retry_after == (120 if magic == "rests" else 0)


def test_nobody_listening_is_unreachable(connect: Connect) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        connect(insurer_a_url=f"http://127.0.0.1:{free.getsockname()[1]}")
        assert fault("approves").kind == "unreachable"


def test_accepted_answer_carries_number_certificate_and_id(connected: SandboxInsurer) -> None:
    answer = send("approves")
    assert answer.status == "accepted"
    assert answer.policy_number is not None
    assert answer.policy_number.startswith("SBX/")
    assert answer.provider_policy_id
    assert answer.certificate_url


def test_same_key_gets_the_same_number_and_another_body_is_refused(connected: SandboxInsurer) -> None:
    key = ids.new()
    assert send("approves", key) == send("approves", key)
    with pytest.raises(InsurerFault, match="another body") as refused:
        send("approves", key, premium="1.00")
    assert refused.value.kind == "refused"


def test_credential_and_mode_are_sent(connected: SandboxInsurer, connect: Connect) -> None:
    connect(insurer_a_key="a-long-credential")
    live, test = ids.new(), ids.new()
    send("approves", live)
    send("approves", test, is_live=False)
    rows = connected.ledger.records
    assert rows[str(live)].authorization == "Bearer a-long-credential"
    assert [rows[str(key)].mode for key in (live, test)] == ["live", "test"]


@every_case(
    "body",
    [
        b"",
        b"[]",
        b"null",
        b'"accepted"',
        b'{"status": "Accepted"}',
        b'{"status": true}',
        b'{"policy_number": "X/1"}',
        b'{"status": "accepted", "policy_number": "' + b"9" * 61 + b'"}',
        b'{"status": "accepted", "policy_number": "A\\u0000B"}',
        b'{"status": "accepted", "policy_number": "\\ud800"}',
        b'{"status": "accepted", "certificate_url": "javascript:alert(1)"}',
        b'{"status": "declined", "reason": ["too old"]}',
        b'{"status": NaN}',
        b"[" * 2_000 + b"]" * 2_000,
        b'{"status": "accepted"} {"status": "declined"}',
    ],
    ids=lambda body: body[:24].decode(),
)
def test_answer_that_does_not_fit_is_refused_whole(body: bytes) -> None:
    with pytest.raises(InsurerFault) as refused:
        answers.parse_answer(body)
    assert refused.value.kind == "unreadable"


def test_answer_is_tidied_and_what_nobody_asked_for_is_ignored() -> None:
    body = b'{"status": "declined", "policy_number": " ", "reason": " too\\n\\u0007 old ", "colour": "red"}'
    assert answers.parse_answer(body) == InsurerAnswer(status="declined", reason="too old")
