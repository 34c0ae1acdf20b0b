"""Documents of the demonstration's claims: a few specimens on the disk, recorded once for each owner."""

import hashlib
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from random import Random

from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.random_source import code
from core.settings import ROOT, settings
from core.store.operations import blob_storage
from core.store.schema.claims import UploadedFile

_FOLDER = ROOT / "data" / "demonstration" / "specimens"
_DRAWN_AT = datetime(2024, 1, 1, tzinfo=UTC)
_TYPES = {".pdf": "application/pdf", ".jpg": "image/jpeg"}


class Specimens:
    """The uploads that claims link to; a specimen is put on the disk when its owner first needs it."""

    def __init__(self, dice: Random, began: datetime) -> None:
        self.dice, self.began = dice, began
        self._links: dict[tuple[str, bool, str], str] = {}

    def link(self, rows: Rows, owner: Values, name: str) -> str:
        """The address of an owner's specimen, as an upload's answer gives it (contract L4)."""
        key = (owner["distributor_id"], owner["is_live"], name)
        if key not in self._links:
            self._links[key] = self._upload(rows, owner, name)
        return self._links[key]

    def _upload(self, rows: Rows, owner: Values, name: str) -> str:
        file_name, content = _load(name)
        kept_as = code(self.dice, self.began)
        blob_storage.put(kept_as, content)
        row = {
            "code": kept_as,
            "file_name": file_name,
            "content_type": _TYPES[Path(file_name).suffix],
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "sent_sha256": f"{self.dice.getrandbits(256):064x}",
            "created_at": stamp(self.began),
        }
        rows.add(UploadedFile, {**owner, **row})
        return f"{settings().base_url}/v1/files/{kept_as}"


@cache
def _load(name: str) -> tuple[str, bytes]:
    """Return the file name and the content of a document; one that has no file is a page with its title."""
    path = next((path for path in sorted(_FOLDER.iterdir()) if path.stem == name), None)
    return (path.name, path.read_bytes()) if path else (f"{name}.pdf", _draw(name))


def _draw(name: str) -> bytes:
    from fpdf import FPDF  # noqa: PLC0415 slow to load, and only a demonstration draws specimens

    page = FPDF(format="A4")
    page.set_creation_date(_DRAWN_AT)
    page.add_page()
    page.set_font("Helvetica", "B", 10)
    page.set_text_color("#A32020")
    page.cell(text="SPECIMEN - made up for the demonstration", new_x="LMARGIN", new_y="NEXT", h=12)
    page.set_text_color("#000000")
    page.set_font(size=16)
    page.cell(text=name.replace("_", " ").capitalize(), new_x="LMARGIN", new_y="NEXT", h=12)
    page.set_font("Helvetica", "", 10)
    page.multi_cell(w=0, text="It stands for the document that a claimant would send with the claim.")
    return bytes(page.output())
