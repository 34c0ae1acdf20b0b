"""Documents of the demonstration's claims: a few specimens on the disk, recorded once for each owner."""

import hashlib
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random

from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.random_source import code
from core.settings import ROOT, settings
from core.store.operations import blob_storage
from core.store.schema.claims import UploadedFile

_FOLDER = ROOT / "data" / "demonstration" / "specimens"
_ANY = _FOLDER / "document.pdf"
# Each waits for the disk twice.
_AT_ONCE = 8
_TYPES = {".pdf": "application/pdf", ".jpg": "image/jpeg"}


class Specimens:
    """The uploads that claims link to; a specimen is put on the disk once its owner needs it."""

    def __init__(self, dice: Random, began: datetime) -> None:
        self.dice, self.began = dice, began
        self._links: dict[tuple[str, bool, str], str] = {}
        self._needed: list[tuple[str, bytes]] = []

    def link(self, rows: Rows, owner: Values, name: str) -> str:
        """The address of an owner's specimen, as an upload's answer gives it (contract L4)."""
        key = (owner["distributor_id"], owner["is_live"], name)
        if key not in self._links:
            self._links[key] = self._upload(rows, owner, name)
        return self._links[key]

    def put(self) -> None:
        """Put on the disk what has been needed since the last call; rows that name it come after it."""
        with ThreadPoolExecutor(_AT_ONCE) as disk:
            list(disk.map(lambda each: blob_storage.put(*each), self._needed))
        self._needed.clear()

    def _upload(self, rows: Rows, owner: Values, name: str) -> str:
        file_name, content = _load(name)
        kept_as = code(self.dice, self.began)
        self._needed.append((kept_as, content))
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
    """Return the file name and the content of a document; one without a specimen of its own is any document."""
    path = next((path for path in _FOLDER.iterdir() if path.stem == name), _ANY)
    return f"{name}{path.suffix}", path.read_bytes()
