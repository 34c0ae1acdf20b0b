"""Bodies and queries that no honest client sends: always an envelope, never a 5xx, never a row (contract E1-E6).

Every operation that takes a body by every body of the list, every field of every body by every value, and every
parameter of every list by every text; the ordinary suite tries a part, and
`COVERDESK_CORPUS_TRIES=1000000` everything.
"""

import json
import os
from collections.abc import Iterator
from random import Random
from typing import Any
from urllib.parse import quote

import pytest

from core.dispatch import webhooks
from core.store.access import Store
from tests import papers
from tests.api.conftest import Client
from tests.conftest import SEED, Partner
from tests.hostile.corpus import BODIES, FORM, PART, TEXTS, VALUES, Case, ask, enveloped, rows
from tests.hostile.routes import lists, operations, posts

TRIES = int(os.environ.get("COVERDESK_CORPUS_TRIES", "400"))
STORES = 2


STRAYS = (
    *("../../evil.pdf", "..\\evil.pdf", "/etc/passwd", "a\r\nX-Evil: 1.pdf", "CON.pdf", "x" * 5000, "%00.pdf"),
    "\u202efdp.exe",
)


def whole_bodies() -> Iterator[Case]:
    for operation in (each for each in posts() if each.media):
        for what, content, content_type, headers in BODIES:
            yield Case(operation, what, content, content_type, tuple(headers.items()))


def single_values() -> Iterator[Case]:
    for operation in posts():
        if not operation.takes_json:
            continue
        for name in (*operation.fields, "nobody_asked"):
            for value in VALUES:
                rest = {other: given for other, given in operation.body().items() if other != name}
                body = json.dumps(rest)[:-1] + f", {json.dumps(name)}: {value}}}"
                yield Case(operation, f"{name}={value[:40]}", body.encode(), certain=False)


def queries() -> Iterator[Case]:
    for operation in operations():
        for name in operation.in_query:
            for text in TEXTS:
                yield Case(operation, f"{name}={text[:40]}", query=f"{name}={text}", certain=False)
                yield Case(operation, f"{name}={text[:40]} twice", query=f"{name}={text}&{name}=1", certain=False)


def drawn(cases: list[Case], share: int, dice: Random) -> list[Case]:
    return cases if len(cases) <= share else dice.sample(cases, share)


def test_whatever_is_sent_the_answer_is_an_envelope_and_nothing_is_kept(
    store: Store, client: Client, partner: Partner
) -> None:
    dice, share = Random(SEED), TRIES // STORES
    refusals = drawn(list(whole_bodies()), share // 3, dice)
    before, sold = rows(store), 0
    for case in refusals:
        answer = ask(client, partner, case)
        enveloped(case, answer)
        # What changes a record requires no field: a body that can be read is refused as there is no such record.
        refused = {400, 404, 413, 415} if case.operation.in_path else {400, 413, 415}
        assert answer.status_code in refused, f"{case.operation.name} took {case.what}"
    assert rows(store) == before, "a body that was refused left a row"
    others = drawn([*single_values(), *queries()], share - len(refusals), dice)
    for case in others:
        answer = ask(client, partner, case)
        enveloped(case, answer)
        took = answer.status_code == 201
        sold += took
        assert took or rows(store) == before, f"{case.operation.name} kept a row for {case.what}, which it refused"
        if took:
            # The first reader of the feed would write the events of what was sold.
            webhooks.catch_up(store)
            before = rows(store)
    print(f"corpus: {len(refusals) + len(others)} requests, {sold} taken, 0 answers of 5xx, seed {SEED}")


@pytest.mark.parametrize("database", ["sqlite"])
def test_impossible_pages_are_refused_by_every_list(store: Store, client: Client, partner: Partner) -> None:
    for operation in lists():
        for name in ("page", "limit"):
            for text in ("1e20", "-1", "0", "NaN", "1.0", "9" * 13, "9" * 5000, "0x1", "%D9%A1", "1%00", "%EF%BC%91"):
                answer = ask(client, partner, Case(operation, name, query=f"{name}={text}"))
                assert answer.status_code == 400, f"{operation.path}?{name}={text[:20]}"
                assert {fault["field"] for fault in answer.json()["errorData"]} == {name}


def test_a_great_many_unknown_fields_write_no_header(store: Store, client: Client, partner: Partner) -> None:
    (operation,) = (each for each in posts() if each.path.endswith("buy-comprehensive-auto"))
    extras = {f"vehicle_maek{number}": 1 for number in range(30_000)} | {"a\r\nX-Evil: 1": 1}
    answer = client.post(operation.path, key=partner.test_key, json={**operation.body(), **extras})
    assert answer.status_code in {201, 400}
    assert len(answer.content) < 40_000
    assert "x-evil" not in answer.headers
    assert len(answer.headers.get("x-ignored-fields", "")) < 4000


@pytest.mark.parametrize("database", ["sqlite"])
def test_texts_with_surrogates_are_refused_in_every_field_and_stored_nowhere(
    store: Store, client: Client, partner: Partner
) -> None:
    """A text that is no Unicode would be kept by one database and refused by the other."""
    for operation in posts():
        if not operation.takes_json or "lodge" in operation.path:
            continue
        for name, value in operation.body().items():
            if not isinstance(value, str):
                continue
            body = json.dumps(operation.body(**{name: f"{value}\ud800"}))
            answer = ask(client, partner, Case(operation, name, body.encode()))
            assert answer.status_code == 400, f"{operation.path} took a surrogate as {name}"
            assert name in [fault["field"] for fault in answer.json()["errorData"]]


@pytest.mark.parametrize("database", ["sqlite"])
def test_names_of_files_never_leave_their_place(store: Store, client: Client, partner: Partner) -> None:
    for name in STRAYS:
        part = PART % (b"file", b'; filename="' + quote(name, safe="./\\\u202e").encode() + b'"', papers.pdf())
        answer = client.post(
            "/v1/upload-file", key=partner.test_key, content=part + b"--x--\r\n", headers={"Content-Type": FORM}
        )
        assert answer.status_code in {201, 400}, answer.text
        if answer.status_code == 201:
            shown = answer.json()["data"]["file_name"]
            assert not set(shown) & set('/\\\r\n\0"\u202e'), shown
            assert len(shown) <= 160
            served: Any = client.get(
                answer.json()["data"]["file_url"].removeprefix("http://127.0.0.1:8501"), key=partner.test_key
            )
            assert "x-evil" not in served.headers
    assert all(path.name.isalnum() for path in papers.on_disk())
