"""Files that are something else than they say, unfold without end, or bring something that runs (contract L4)."""

import io
import struct
import zipfile
import zlib
from collections.abc import Callable
from functools import partial

import pikepdf
import pytest

from core.services.files import files
from core.store.access import Store
from tests import papers
from tests.api.conftest import Client
from tests.api.uploading import UPLOAD, path_in
from tests.conftest import Partner
from tests.every_case import every_case

pytestmark = pytest.mark.parametrize("database", ["sqlite"])
SCRIPT = b"<script>alert(document.domain)</script>"
SVG = b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>'


def zipped(size: int = 10) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.html", SCRIPT + b"0" * size)
    return held.getvalue()


def png_that_claims(width: int, height: int) -> bytes:
    """A picture of a few bytes that says it has so many pixels."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 100_000)) + chunk(b"IEND", b"")


def pdf_with(add: Callable[[pikepdf.Pdf], None]) -> bytes:
    held = io.BytesIO()
    with pikepdf.new() as document:
        document.add_blank_page()
        add(document)
        document.save(held)
    return held.getvalue()


def scripted(document: pikepdf.Pdf) -> None:
    action = {"/S": pikepdf.Name.JavaScript, "/JS": pikepdf.String("app.alert(1)")}
    document.Root.OpenAction = pikepdf.Dictionary(action)


def unfolding_pdf(size: int, filters: bytes = b"/FlateDecode") -> bytes:
    """A PDF whose pages lie in an object stream that unfolds to so many bytes."""
    objects = b"<</Type/Pages/Kids[4 0 R]/Count 1>> <</Type/Page/Parent 3 0 R/MediaBox[0 0 9 9]>>"
    places = b"3 0 4 36 "
    folding = zlib.compressobj(9)
    folded = folding.compress(places + objects)
    for _ in range(size // 1_048_576):
        folded += folding.compress(b" " * 1_048_576)
    folded += folding.flush()
    if filters.count(b"Flate") == 2:
        folded = zlib.compress(folded, 9)
    made = bytearray(b"%PDF-1.5\n")
    at = [len(made)]
    made += b"1 0 obj\n<</Type/Catalog/Pages 3 0 R>>\nendobj\n"
    at.append(len(made))
    made += b"2 0 obj\n<</Type/ObjStm/N 2/First %d/Length %d/Filter%s>>\nstream\n" % (len(places), len(folded), filters)
    made += folded + b"\nendstream\nendobj\n"
    at.append(len(made))
    rows = [(0, 0, 65535), (1, at[0], 0), (1, at[1], 0), (2, 2, 0), (2, 2, 1), (1, at[2], 0)]
    table = b"".join(struct.pack(">BIH", *row) for row in rows)
    made += b"5 0 obj\n<</Type/XRef/Size 6/W[1 4 2]/Root 1 0 R/Length %d>>\nstream\n" % len(table)
    return bytes(made + table + b"\nendstream\nendobj\nstartxref\n%d\n%%%%EOF" % at[2])


@every_case(
    ("name", "content", "status"),
    [
        ("a.png", SVG, 415),
        ("a.svg", b"\xef\xbb\xbf" + SVG, 415),
        ("a.jpg", b"<!-- \xff\xd8\xff -->" + SCRIPT, 415),
        ("a.pdf", zipped(), 415),
        ("a.pdf", partial(zipped, 20_000_000), 415),
        ("a.webp", b"RIFF\x10\0\0\0WEBPVP8 " + SCRIPT, 400),
        ("a.gif", b"GIF89a" + SCRIPT, 415),
        ("a.png", b"\x89PNG\r\n\x1a\n" + SCRIPT, 400),
        ("a.png", png_that_claims(50_000, 50_000), 400),
        ("a.png", png_that_claims(2_000_000_000, 2), 400),
        ("a.pdf", papers.pdf(password="x"), 400),
        ("a.pdf", b"%PDF-1.7\n" + SCRIPT, 400),
        ("a.html.pdf", b"<html>%PDF-1.7" + SCRIPT, 415),
        ("a.pdf", partial(unfolding_pdf, 300 * 1_048_576), 400),
        ("a.pdf", partial(unfolding_pdf, 1_048_576, b"[/FlateDecode/FlateDecode]"), 400),
        ("a.pdf", partial(unfolding_pdf, 1_048_576, b"/LZWDecode "), 400),
        ("a.pdf", partial(unfolding_pdf, 1_048_576, b"/#4CZWDecode "), 400),
        ("a.pdf", partial(unfolding_pdf, 1_048_576, b" 9 0 R"), 400),
    ],
)
def test_what_is_no_paper_is_refused_whatever_it_claims(
    store: Store, client: Client, partner: Partner, name: str, content: bytes | Callable[[], bytes], status: int
) -> None:
    content = content if isinstance(content, bytes) else content()  # the large ones take a second each
    for claimed in ("image/png", "application/pdf"):
        answer = client.post(UPLOAD, key=partner.test_key, files={"file": (name, content, claimed)})
        assert answer.status_code == status, answer.text
    assert papers.on_disk() == []


def test_an_ordinary_pdf_with_object_streams_is_taken(store: Store) -> None:
    assert files.inspect(unfolding_pdf(1_048_576), "file").content_type == "application/pdf"


@every_case("form", ["PNG", "JPEG", "WEBP"])
def test_what_is_glued_to_a_picture_is_gone(store: Store, client: Client, partner: Partner, form: str) -> None:
    for glued in (papers.picture(form) + SCRIPT + zipped(), papers.picture(form) + papers.pdf()):
        answer = client.post(UPLOAD, key=partner.test_key, files={"file": ("a.html", glued, "text/html")})
        assert answer.status_code == 201, answer.text
        data = answer.json()["data"]
        assert data["content_type"] == f"image/{form.lower()}"
        assert not data["file_name"].endswith(".html")
        kept = client.get(path_in(data["file_url"]), key=partner.test_key)
        assert SCRIPT not in kept.content
        assert b"PK\x03\x04" not in kept.content
        assert b"%PDF" not in kept.content


@every_case("content", [papers.pdf() + zipped(), pdf_with(scripted)], ids=["with an archive", "scripted"])
def test_what_a_pdf_brings_along_cannot_run_beside_our_pages(
    store: Store, client: Client, partner: Partner, content: bytes
) -> None:
    answer = client.post(UPLOAD, key=partner.test_key, files={"file": ("a.html", content, "text/html")})
    assert answer.status_code == 201, answer.text
    served = client.get(path_in(answer.json()["data"]["file_url"]), key=partner.test_key)
    assert served.headers["content-type"] == "application/pdf"
    assert served.headers["x-content-type-options"] == "nosniff"
    assert served.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
    assert served.headers["cross-origin-resource-policy"] == "same-origin"
    assert served.headers["content-disposition"].endswith('.pdf"')
