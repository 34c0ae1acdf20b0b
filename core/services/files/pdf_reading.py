"""PDF files of strangers, opened by a parser with limits; imported when the first one comes."""

import io
from collections.abc import Iterator
from typing import Final

import pikepdf

# A few kilobytes of PDF can decompress to gigabytes in the parser's memory.
_MAX_DECOMPRESSED_BYTES: Final = 64 * 1024 * 1024
pikepdf.settings.set_qpdf_limits(
    max_stream_filters=1,
    flate_max_memory=_MAX_DECOMPRESSED_BYTES,
    png_max_memory=_MAX_DECOMPRESSED_BYTES,
    tiff_max_memory=_MAX_DECOMPRESSED_BYTES,
    run_length_max_memory=_MAX_DECOMPRESSED_BYTES,
)
_MOST_PAGES: Final = 20
_MOST_STREAM_BYTES: Final = 2 * 1024 * 1024
_SHOWING: Final = frozenset({"Tj", "TJ", "'", '"'})


def count_pages(content: bytes) -> int | None:
    """Return the number of pages: 0 for what cannot be opened, None for what is locked by a password."""
    try:
        with pikepdf.open(io.BytesIO(content)) as document:
            return None if document.is_encrypted else len(document.pages)
    except pikepdf.PasswordError:
        return None
    except Exception:  # a parser of hostile bytes may fail in any way
        return 0


def read_text(content: bytes) -> bytes:
    """Return the text that the pages show, in its own encoding and without blanks."""
    try:
        with pikepdf.open(io.BytesIO(content)) as document:
            return b"".join(part for page in list(document.pages)[:_MOST_PAGES] for part in _list_shown(page))
    except Exception:
        return b""


def _list_shown(page: pikepdf.Page) -> Iterator[bytes]:
    if sum(len(stream.read_raw_bytes()) for stream in _list_streams(page)) > _MOST_STREAM_BYTES:
        return
    for instruction in pikepdf.parse_content_stream(page):
        if str(instruction.operator) in _SHOWING:
            for operand in instruction.operands:
                parts = list(operand) if isinstance(operand, pikepdf.Array) else [operand]
                yield from (b"".join(bytes(part).split()) for part in parts if isinstance(part, pikepdf.String))


def _list_streams(page: pikepdf.Page) -> list[pikepdf.Object]:
    contents = page.obj.get("/Contents")
    if contents is None:
        return []
    return list(contents) if isinstance(contents, pikepdf.Array) else [contents]
