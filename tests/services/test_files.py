"""Kept files: named harmlessly, whole or absent on the disk, and recognised when somebody links to them."""

import os

import pytest

from core import ids
from core.errors import InvalidInput, NotAllowed, NotFound, Unauthorized
from core.services.files import files
from core.services.files import links as file_links
from core.services.files.files import ReceivedFile
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import Owner, Scope, Store
from core.store.operations import blob_storage
from tests import papers
from tests.conftest import Partner
from tests.every_case import every_case


def sent(content: bytes | None = None) -> ReceivedFile:
    return ReceivedFile(field="file", file_name="paper.pdf", content=papers.pdf() if content is None else content)


def owner(partner: Partner, *, is_live: bool = False) -> Owner:
    return Owner(distributor_id=partner.id, is_live=is_live)


@every_case(
    ("name", "shown"),
    [
        ("letter.pdf", "letter.pdf"),
        ("Letter.PDF", "Letter.PDF"),
        ("../../etc/passwd", "passwd.pdf"),
        (r"C:\Users\me\letter.pdf", "letter.pdf"),
        ("invoice.exe", "invoice.exe.pdf"),
        ("photo\u202efdp.exe", "photo fdp.exe.pdf"),
        ("a\x00b\r\nc.pdf", "a b c.pdf"),
        ("  .. ", "file.pdf"),
        ("", "file.pdf"),
        (".pdf", "pdf.pdf"),
        ("x" * 400 + ".pdf", "x" * 150 + ".pdf"),
        ("Ìyá Àgbà.pdf", "Ìyá Àgbà.pdf"),
    ],
)
def test_sent_name_is_shown_without_what_could_mislead(name: str, shown: str) -> None:
    assert blob_storage.shown_name(name, (".pdf",)) == shown


@every_case(("form", "mode"), [("PNG", "RGBA"), ("PNG", "P"), ("PNG", "I;16"), ("JPEG", "CMYK"), ("JPEG", "L")])
def test_pictures_of_every_usual_make_are_drawn_anew(form: str, mode: str) -> None:
    judged = files.inspect(papers.picture(form, mode=mode), "file")
    assert papers.opened(judged.content).size == (64, 48)


def test_judging_the_judged_changes_nothing_more() -> None:
    once = files.inspect(papers.photograph("PNG"), "file")
    assert files.inspect(once.content, "file") == once


@every_case(
    ("link", "code"),
    [
        ("http://127.0.0.1:8501/v1/files/abc", "abc"),
        ("http://127.0.0.1:8501/files/abc#top", "abc"),
        ("https://someone@127.0.0.1:8501/v1/files/abc/", "abc"),
        ("http://127.0.0.1:8501/v1/./x/../files/abc", "abc"),
        ("http://127.0.0.1:8501/v1/files", None),
        ("http://127.0.0.1:8501/certificates/abc.pdf", None),
        ("http://127.0.0.1/v1/files/abc", None),
        ("http://127.0.0.1:8502/v1/files/abc", None),
        ("https://files.example/v1/files/abc", None),
        ("http://[broken/v1/files/abc", None),
        ("http://127.0.0.1:nine/v1/files/abc", None),
        ("/v1/files/abc", None),
        ("a plain word", None),
    ],
)
def test_links_to_our_files_are_recognised_however_they_are_spelt(link: str, code: str | None) -> None:
    assert file_links.parse_code(link) == code
    assert file_links.build_desk_path(link) == (code and f"/files/{code}")


def test_base_address_with_a_path_and_a_default_port_is_ours_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_BASE_URL", "https://desk.example/cover")
    settings.cache_clear()
    try:
        assert file_links.parse_code(file_links.build_url("abc")) == "abc"
        assert file_links.parse_code("https://DESK.example:443/cover/files/abc") == "abc"
    finally:
        monkeypatch.undo()
        settings.cache_clear()


def test_file_is_found_by_its_owner_alone(store: Store, partner: Partner, stranger: Partner) -> None:
    with files.store_files([sent()]) as (kept,), store.writing(partner.scope()) as session:
        record = files.record(session, kept, owner(partner), actor="tests")
    assert record["file_url"] == file_links.build_url(kept.code)
    with store.reading(partner.scope()) as session:
        found = files.get_file(session, kept.code)
        assert found.path.read_bytes() == papers.pdf()
        assert file_links.list_owned(session, {kept.code, ids.new_code(), "x\x00"}, owner(partner)) == {kept.code}
    for scope in (partner.scope(is_live=True), stranger.scope()):
        with store.reading(scope) as session, pytest.raises(NotFound):
            files.get_file(session, kept.code)
    with store.reading(Scope.staff(is_live=False)) as session:
        assert file_links.list_owned(session, {kept.code}, owner(stranger)) == frozenset()


def test_what_no_row_names_is_removed_again(store: Store, partner: Partner) -> None:
    with files.store_files([sent(), sent()]) as (one, _), store.writing(partner.scope()) as session:
        assert len(papers.on_disk()) == 2
        files.record(session, one, owner(partner), actor="tests")
    assert [path.name for path in papers.on_disk()] == [one.code]


def test_second_file_that_is_refused_takes_the_first_with_it(store: Store) -> None:
    with pytest.raises(InvalidInput), files.store_files([sent(), sent(b"")]):
        pytest.fail("nothing is kept")
    assert papers.on_disk() == []


def test_a_write_that_fails_leaves_nothing_behind(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"), files.store_files([sent()]):
        pytest.fail("nothing is kept")
    assert papers.on_disk() == []


def person(*roles: str) -> Person:
    return Person(id=ids.new(), email="a@x.example", name="A", roles=roles, claim_limit_minor=None)


def test_only_people_whose_work_needs_it_open_files(store: Store, partner: Partner) -> None:
    with files.store_files([sent()]) as (kept,), store.writing(partner.scope()) as session:
        files.record(session, kept, owner(partner), actor="tests")
    with store.writing(Scope.staff(is_live=False)) as session:
        assert files.open_file(session, kept.code, person("claims")).content_type == "application/pdf"
        with pytest.raises(Unauthorized):
            files.open_file(session, kept.code, None)
        with pytest.raises(NotAllowed):
            files.open_file(session, kept.code, person("finance"))
