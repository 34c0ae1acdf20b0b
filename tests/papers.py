"""Files that people send: pictures with and without secrets in them, and PDFs."""

import io
from pathlib import Path

import pikepdf
from PIL import Image

from core.settings import settings

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
