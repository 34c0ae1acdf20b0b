"""Uploads over the API: judged from their bytes, kept for their owner, served safely (contract L4, S15)."""

import hashlib
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

import anyio
import httpx
import pytest
from starlette.requests import ClientDisconnect

from core.api.http import forms
from core.services.audit import log as audit
from core.services.files import files
from core.store.access import Scope, Store
from tests import papers
from tests.api.conftest import Client
from tests.api.uploading import UPLOAD, path_in, uploaded
from tests.conftest import Partner
from tests.every_case import every_case

NOTE = '--x\r\nContent-Disposition: form-data; name="nøte"\r\n\r\nAda\r\n--x--\r\n'.encode()
CUT_SHORT = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n%PDF'


def send(client: Client, key: str, content: bytes, name: str = "paper.bin", **options: Any) -> httpx.Response:
    return client.post(UPLOAD, key=key, files={"file": (name, content)}, **options)


@pytest.mark.parametrize(
    ("content", "content_type", "suffix"),
    [
        (papers.picture("JPEG"), "image/jpeg", ".jpg"),
        (papers.picture("PNG"), "image/png", ".png"),
        (papers.picture("WEBP"), "image/webp", ".webp"),
        (papers.pdf(), "application/pdf", ".pdf"),
    ],
)
def test_accepted_kinds_are_kept_whatever_they_are_called(
    client: Client, partner: Partner, content: bytes, content_type: str, suffix: str
) -> None:
    data = uploaded(client, partner.test_key, content, "offer.letter.exe")
    assert data["content_type"] == content_type
    assert data["file_name"] == f"offer.letter.exe{suffix}"
    assert data["file_url"].startswith("http://127.0.0.1:8501/v1/files/")
    served = client.get(path_in(data["file_url"]), key=partner.test_key)
    assert served.headers["content-type"] == content_type
    assert hashlib.sha256(served.content).hexdigest() == data["sha256"]
    assert len(served.content) == data["size"]
    (kept,) = papers.on_disk()
    assert kept.stat().st_mode & 0o777 == 0o600
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert "offer" not in str(kept)


def test_answer_says_what_happened(client: Client, partner: Partner) -> None:
    answer = send(client, partner.test_key, papers.pdf()).json()
    assert (answer["responseCode"], answer["responseText"]) == (1, "File uploaded")
    assert set(answer["data"]) == {"file_url", "file_name", "content_type", "size", "sha256"}


@every_case("form", ["JPEG", "PNG", "WEBP"])
def test_what_a_camera_hides_in_a_picture_is_gone(client: Client, partner: Partner, form: str) -> None:
    sent = papers.photograph(form)
    assert papers.SECRET.encode() in sent
    link = uploaded(client, partner.test_key, sent)["file_url"]
    kept = client.get(path_in(link), key=partner.test_key).content
    assert papers.SECRET.encode() not in kept
    assert not papers.opened(kept).getexif()
    assert papers.opened(kept).size == (48, 64), "the picture stands upright"


@every_case(
    "content",
    [
        b"<html><script>alert(1)</script></html>",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"GIF89a" + b"\0" * 40,
        b"MZ\x90\x00" + b"0" * 100,
        b"plain words",
    ],
)
def test_other_kinds_are_refused_whatever_they_claim_to_be(client: Client, partner: Partner, content: bytes) -> None:
    answer = client.post(UPLOAD, key=partner.test_key, files={"file": ("a.png", content, "image/png")})
    assert answer.status_code == 415
    assert answer.json()["errorData"] == [{"field": "file", "message": "must be a JPEG, PNG, WebP or PDF file"}]
    assert papers.on_disk() == []


@every_case(
    ("content", "message"),
    [
        (b"", "must not be empty"),
        (papers.picture()[:300], "must be a picture that can be opened"),
        (b"\xff\xd8\xff\xe0" + b"not a picture" * 20, "must be a picture that can be opened"),
        (partial(papers.picture, "PNG", size=(8000, 5001), mode="1"), "must have at most 40,000,000 pixels"),
        (partial(papers.picture, "PNG", size=(10_000, 9_001), mode="1"), "must have at most 40,000,000 pixels"),
        (b"%PDF-1.7 and nothing else", "must be a PDF that can be opened"),
        (papers.pdf(password=""), "must not be protected by a password"),
        (papers.pdf(password="secret"), "must not be protected by a password"),
    ],
)
def test_broken_or_locked_files_are_refused(
    client: Client, partner: Partner, content: bytes | Callable[[], bytes], message: str
) -> None:
    answer = send(client, partner.test_key, content if isinstance(content, bytes) else content())
    assert answer.status_code == 400
    assert answer.json()["errorData"] == [{"field": "file", "message": message}]
    assert papers.on_disk() == []


def test_declared_size_is_refused_before_anything_is_read(client: Client, partner: Partner) -> None:
    answer = send(client, partner.test_key, b"\0" * (files.MAX_BYTES + 100_000))
    assert (answer.status_code, answer.json()["responseText"]) == (413, "The body may have at most 10 MiB")
    assert answer.headers["connection"] == "close"


@pytest.mark.parametrize("opening", [b'; name="file"; filename="a.pdf"', b'; name="note"'])
def test_endless_body_is_refused_while_it_arrives(client: Client, partner: Partner, opening: bytes) -> None:
    given = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal given
        yield b"--x\r\nContent-Disposition: form-data" + opening + b"\r\n\r\n"
        while given < 100 * 1024 * 1024:
            given += 65_536
            yield b"0" * 65_536

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post(UPLOAD, key=partner.test_key, content=endless(), headers=headers)
    assert answer.status_code == (413 if b"filename" in opening else 400)
    assert given <= files.MAX_BYTES + 2 * 65_536


def test_body_that_stops_arriving_is_given_up(
    client: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forms, "_SECONDS_PER_FILE", 0.01)

    async def stuck() -> AsyncIterator[bytes]:
        yield CUT_SHORT
        await anyio.Event().wait()

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post(UPLOAD, key=partner.test_key, content=stuck(), headers=headers)
    assert answer.status_code == 400
    assert "must arrive within" in answer.text


def test_sender_that_goes_away_is_no_defect_of_ours(client: Client, partner: Partner) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield CUT_SHORT
        raise ClientDisconnect

    headers = {"Content-Type": "multipart/form-data; boundary=x"}
    answer = client.post(UPLOAD, key=partner.test_key, content=broken(), headers=headers)
    assert answer.status_code == 400
    assert answer.json()["responseText"] == "body stopped arriving"


@every_case(
    "options",
    [
        {"json": {"file": "x"}},
        {"content": b"x", "headers": {"Content-Type": "text/plain"}},
        {"data": {"file": "x"}},
        {"content": b""},
    ],
)
def test_body_that_is_no_form_is_of_the_wrong_media_type(
    client: Client, partner: Partner, options: dict[str, Any]
) -> None:
    answer = client.post(UPLOAD, key=partner.test_key, **options)
    assert answer.status_code == 415
    assert answer.json()["responseText"] == "Send this body as multipart/form-data"


@every_case(
    "parts",
    [
        [("other", ("a.pdf", papers.pdf()))],
        [("file", (None, "just a text"))],
        [("file", ("", b""))],
        [("file", ("a.pdf", papers.pdf())), ("file", ("b.pdf", papers.pdf()))],
        [("file", ("a.pdf", papers.pdf())), ("second", ("b.pdf", papers.pdf()))],
        [("file", ("a.pdf", papers.pdf())), ("note", (None, "1")), ("note", (None, "2"))],
        [("file", ("a.pdf", papers.pdf())), *((f"f{n}", (None, "1")) for n in range(41))],
        [("file", ("a.pdf", papers.pdf())), ("note", (None, b"\xff\xfe"))],
        [("file", ("a.pdf", papers.pdf())), ("note", (None, "x" * 20_000))],
    ],
    ids=["other name", "text", "nothing chosen", "twice", "second file", "text twice", "many", "no Unicode", "long"],
)
def test_form_must_hold_exactly_one_file_and_little_else(client: Client, partner: Partner, parts: list[Any]) -> None:
    answer = client.post(UPLOAD, key=partner.test_key, files=parts)
    assert answer.status_code == 400, answer.text
    assert papers.on_disk() == []


@every_case(
    ("content_type", "body"),
    [
        ("multipart/form-data", b"--x--"),
        ("multipart/form-data; boundary=x", b""),
        ("multipart/form-data; boundary=x", b"no boundary at all"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n%PDF',
        ),
        ("multipart/form-data; boundary=x", b"--x\r\nContent-Disposition: form-data\r\n\r\nx\r\n--x--"),
        ("multipart/form-data; boundary=x; charset=latin-1", NOTE.replace(b"Ada", b"Ad\xe1")),
    ],
)
def test_malformed_form_is_refused(client: Client, partner: Partner, content_type: str, body: bytes) -> None:
    answer = client.post(UPLOAD, key=partner.test_key, content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 400
    assert answer.json()["responseCode"] == 0


@every_case("charset", ["utf-8", "latin-1", "utf-16", "hex", "undefined", "no-such"])
def test_a_form_is_in_utf_8_whatever_its_head_says(client: Client, partner: Partner, charset: str) -> None:
    content_type = f"multipart/form-data; boundary=x; charset={charset}"
    answer = client.post(UPLOAD, key=partner.test_key, content=NOTE, headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["responseText"]) == (400, "file is required, as a file with a name")
    assert answer.headers["x-ignored-fields"] == "n%C3%B8te"


def test_other_fields_of_the_form_are_named_as_ignored(client: Client, partner: Partner) -> None:
    answer = send(client, partner.test_key, papers.pdf(), data={"note": "x", "folder": "y"})
    assert answer.headers["x-ignored-fields"] == "folder,note"


def test_same_key_and_file_replay_the_first_answer(client: Client, partner: Partner) -> None:
    again = {"headers": {"Idempotency-Key": "once"}, "data": {"note": "x"}}
    first, second = (send(client, partner.test_key, papers.pdf(), name, **again) for name in ("a.pdf", "b.pdf"))
    assert second.json() == first.json()
    assert second.headers["idempotent-replayed"] == "true"
    assert len(papers.on_disk()) == 1


@every_case("changed", [{"content": papers.pdf(text="Another")}, {"data": {"note": "y"}}])
def test_same_key_with_another_file_or_field_is_refused(
    client: Client, partner: Partner, changed: dict[str, Any]
) -> None:
    headers = {"Idempotency-Key": "once"}
    first: dict[str, Any] = {"content": papers.pdf(), "data": {"note": "x"}}
    assert send(client, partner.test_key, headers=headers, **first).status_code == 201
    assert send(client, partner.test_key, headers=headers, **{**first, **changed}).status_code == 409
    assert len(papers.on_disk()) == 1


def test_refused_upload_leaves_its_key_free(client: Client, partner: Partner) -> None:
    headers = {"Idempotency-Key": "once"}
    assert send(client, partner.test_key, b"plain words", headers=headers).status_code == 415
    assert send(client, partner.test_key, papers.pdf(), headers=headers).status_code == 201


def test_upload_is_written_down(client: Client, partner: Partner, store: Store) -> None:
    code = uploaded(client, partner.test_key, papers.pdf())["file_url"].rsplit("/", 1)[-1]
    with store.reading(Scope.system()) as session:
        (entry,) = audit.list_history(session, f"file {code}")
        assert entry.action == "file uploaded"
        assert entry.actor.startswith("key ")
