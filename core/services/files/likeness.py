"""Marks of a file by which the same picture or text is known though it was saved anew (contract K14)."""

import hashlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from PIL import Image
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.schema.tables import FileMark, UploadedFile

MOST_BITS: Final = 6
_SIDE: Final = 8
_BITS: Final = _SIDE * _SIDE
# With at most six bits apart, two pictures have one of seven stretches of bits in common.
_STRETCHES: Final = MOST_BITS + 1
# A plain surface looks like every other one, and a few words stand on many papers.
_LEAST_CONTRAST: Final = 8
_LEAST_TEXT: Final = 24


@dataclass(frozen=True, slots=True)
class Likeness:
    """The marks of a file, and the hash of its picture if it is one."""

    marks: tuple[str, ...] = ()
    picture_hash: str | None = None


def find_likeness(content: bytes, content_type: str) -> Likeness:
    """Return the marks of a file that was inspected before; none for what has too little to tell it by."""
    if content_type != "application/pdf":
        bits = _hash_picture(content)
        if not _LEAST_CONTRAST <= bits.bit_count() <= _BITS - _LEAST_CONTRAST:
            return Likeness()
        return Likeness(_list_stretches(bits), f"{bits:016x}")
    # Few processes ever open a PDF: the parser takes as long to load as a command may.
    from core.services.files import pdf_reading  # noqa: PLC0415

    text = pdf_reading.read_text(content)
    return Likeness((f"t{hashlib.sha256(text).hexdigest()[:16]}",)) if len(text) >= _LEAST_TEXT else Likeness()


def _hash_picture(content: bytes) -> int:
    """Return a difference hash: for each of 64 places whether the picture gets brighter to the right."""
    with Image.open(io.BytesIO(content)) as image:
        small = image.convert("L").resize((_SIDE + 1, _SIDE), Image.Resampling.LANCZOS)
    values, bits = small.tobytes(), 0
    for row in range(_SIDE):
        for place in range(_SIDE):
            at = row * (_SIDE + 1) + place
            bits = bits << 1 | (values[at] < values[at + 1])
    return bits


def _list_stretches(bits: int) -> tuple[str, ...]:
    edges = [_BITS * number // _STRETCHES for number in range(_STRETCHES + 1)]
    pairs = pairwise(edges)
    return tuple(f"p{number}.{bits >> low & (1 << high - low) - 1:x}" for number, (low, high) in enumerate(pairs))


def record(session: ScopedSession, code: str, likeness: Likeness) -> None:
    """Keep the marks of a file."""
    session.insert(*(FileMark(mark=mark, code=code) for mark in likeness.marks))


def find_claims_alike(session: ScopedSession, codes: Sequence[str]) -> tuple[set[UUID], set[UUID]]:
    """Return the claims that have the text of one of these files, and those that have one of their pictures."""
    mine = sa.select(col(FileMark.mark)).where(col(FileMark.code).in_(codes))
    query = (
        sa.select(col(UploadedFile.claim_id), col(UploadedFile.picture_hash))
        .join(FileMark, col(FileMark.code) == col(UploadedFile.code))
        .where(
            col(FileMark.mark).in_(mine), col(UploadedFile.code).not_in(codes), col(UploadedFile.claim_id).is_not(None)
        )
    )
    hashes = sa.select(col(UploadedFile.picture_hash)).where(
        col(UploadedFile.code).in_(codes), col(UploadedFile.picture_hash).is_not(None)
    )
    pictures = [int(each, 16) for each in session.execute(hashes).scalars()]
    texts, alike = set(), set()
    for claim_id, picture in session.execute(query.distinct()):
        if picture is None:
            texts.add(claim_id)
        elif any((int(picture, 16) ^ own).bit_count() <= MOST_BITS for own in pictures):
            alike.add(claim_id)
    return texts, alike
