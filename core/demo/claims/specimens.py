"""Documents of the demonstration's claims: a few specimens on the disk, recorded once for each owner."""

import hashlib
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
        path, kept_as = _specimens()[name], code(self.dice, self.began)
        content = path.read_bytes()
        blob_storage.put(kept_as, content)
        row = {
            "code": kept_as,
            "file_name": path.name,
            "content_type": _TYPES[path.suffix],
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "sent_sha256": f"{self.dice.getrandbits(256):064x}",
            "created_at": stamp(self.began),
        }
        rows.add(UploadedFile, {**owner, **row})
        return f"{settings().base_url}/v1/files/{kept_as}"


@cache
def _specimens() -> dict[str, Path]:
    return {path.stem: path for path in sorted(_FOLDER.iterdir())}
