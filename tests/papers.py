"""Files that people send: pictures with and without secrets in them, and PDFs; and PDFs as their reader sees them."""

import io
import re
import shutil
import subprocess
from html import unescape
from itertools import pairwise
from pathlib import Path

import pikepdf
import pytest
from PIL import Image

from core.settings import settings

needs_poppler = pytest.mark.skipif(shutil.which("pdftotext") is None, reason="SKIPPED LOUDLY: no pdftotext here")

SECRET = "taken at the family home"


def picture(form: str = "JPEG", *, size: tuple[int, int] = (64, 48), mode: str = "RGB") -> bytes:
    """A plain picture."""
    return _saved(Image.new(mode, size, 1), form)


def photograph(form: str = "JPEG") -> bytes:
    """A picture lying on its side, with a description, a place and a comment inside."""
    facts = Image.Exif()
    facts[0x010E], facts[0x0112] = SECRET, 6
    facts.get_ifd(0x8825)[1] = "N"
    comment = {"comment": SECRET.encode()} if form == "JPEG" else {}
    return _saved(Image.new("RGB", (64, 48), "red"), form, exif=facts, **comment)


def pdf(*, password: str | None = None, text: str = "") -> bytes:
    """A PDF of one empty page; `text` makes two of them differ."""
    kept = io.BytesIO()
    with pikepdf.new() as document:
        document.add_blank_page()
        document.docinfo["/Title"] = text or "A paper"
        locked = pikepdf.Encryption(owner="owner", user=password) if password is not None else None
        document.save(kept, encryption=locked or False, static_id=locked is None)
    return kept.getvalue()


def opened(content: bytes) -> Image.Image:
    """A picture, read again."""
    return Image.open(io.BytesIO(content))


def _saved(image: Image.Image, form: str, **options: object) -> bytes:
    kept = io.BytesIO()
    image.save(kept, form, **options)
    return kept.getvalue()


def on_disk() -> list[Path]:
    """Every file that is kept just now."""
    return [path for path in Path(settings().files_url).rglob("*") if path.is_file()]


def read_pages(content: bytes, first: int = 1, last: int = 0) -> list[str]:
    """The text of each page of a PDF, in its layout; `last` 0 is the last one."""
    limits = ["-f", str(first), *(["-l", str(last)] if last else [])]
    return _pdftotext(["-layout", *limits], content).removesuffix("\f").split("\f")


def find_overflows(content: bytes, *, margin: float, first: int = 1, last: int = 0) -> list[str]:
    """Every word of a PDF that reaches into a margin (in points) or into the next word; stamps are no words."""
    limits = ["-f", str(first), *(["-l", str(last)] if last else [])]
    found = []
    for page in _pdftotext(["-bbox", *limits], content).split("<page ")[1:]:
        width, height = (float(value) for value in re.findall(r'(?:width|height)="([\d.]+)"', page)[:2])
        words = [
            (*map(float, box), unescape(word))
            for *box, word in re.findall(r'xMin="(.+?)" yMin="(.+?)" xMax="(.+?)" yMax="(.+?)">(.*?)</word>', page)
        ]
        for left, top, right, bottom, word in words:
            if left < margin or right > width - margin or top < 0 or bottom > height - 12:
                found.append(f"{word} is at {left:.0f} to {right:.0f}, {top:.0f} to {bottom:.0f}")
        for one, other in pairwise(sorted(words, key=lambda each: (each[3], each[0]))):
            if one[3] == other[3] and other[0] < one[2] - 0.5:
                found.append(f"{one[4]} reaches into {other[4]}")
    return found


def _pdftotext(options: list[str], content: bytes) -> str:
    ran = subprocess.run(["pdftotext", *options, "-", "-"], input=content, check=True, capture_output=True)
    return ran.stdout.decode()
