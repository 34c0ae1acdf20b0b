"""Detection of a file's true type from its content, and sanitising before storage (contract L4)."""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import pikepdf
import puremagic
from PIL import Image, ImageOps

from core.errors import InvalidInput, WrongMediaType

MOST_PIXELS: Final = 40_000_000
ACCEPTED: Final = "a JPEG, PNG, WebP or PDF file"
# A few kilobytes of PDF can decompress to gigabytes in the parser's memory.
_LARGEST_UNFOLDED: Final = 64 * 1024 * 1024
pikepdf.settings.set_qpdf_limits(
    max_stream_filters=1,
    flate_max_memory=_LARGEST_UNFOLDED,
    png_max_memory=_LARGEST_UNFOLDED,
    tiff_max_memory=_LARGEST_UNFOLDED,
    run_length_max_memory=_LARGEST_UNFOLDED,
)
_SPELT_OUT: Final = re.compile(rb"#([0-9a-fA-F]{2})")
_UNBOUNDED: Final = re.compile(rb"/LZW(Decode)?[\s/\]>%]|/Filter(\s|%[^\r\n]*[\r\n])*\d")
_BOMBS: Final = (Image.DecompressionBombError, Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True)
class Judged:
    """The result of an inspection: true type, matching suffixes, and sanitised content."""

    content_type: str
    suffixes: tuple[str, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class _Kind:
    suffixes: tuple[str, ...]
    clean: Callable[[bytes, str], bytes]


def judge(content: bytes, field: str) -> Judged:
    """Inspect a file and return it as it will be stored; `field` names it in errors.

    WrongMediaType for an unsupported type, InvalidInput for a supported type that is broken, locked or too large to
    open.
    """
    if not content:
        _refuse(field, "must not be empty")
    content_type = _type_of(content)
    if content_type is None:
        detail = [{"field": field, "message": f"must be {ACCEPTED}"}]
        raise WrongMediaType(f"{field} must be {ACCEPTED}", detail=detail)
    kind = _KINDS[content_type]
    return Judged(content_type, kind.suffixes, kind.clean(content, field))


def _type_of(content: bytes) -> str | None:
    try:
        matches = puremagic.magic_string(content)
    except (puremagic.PureError, ValueError):
        return None
    return next((match.mime_type for match in matches if match.mime_type in _KINDS), None)


def _image(form: str, modes: tuple[str, ...], **options: Any) -> Callable[[bytes, str], bytes]:
    """Return a sanitiser that re-encodes the image, so that only its pixels remain."""

    def clean(content: bytes, field: str) -> bytes:
        try:
            with Image.open(io.BytesIO(content), formats=[form]) as sent:
                if sent.width * sent.height > MOST_PIXELS:
                    raise Image.DecompressionBombError
                return _drawn_anew(sent, form, modes, options)
        except _BOMBS:
            _refuse(field, f"must have at most {MOST_PIXELS:,} pixels")
        except Exception:  # a decoder of hostile bytes may fail in any way
            _refuse(field, "must be a picture that can be opened")

    return clean


def _drawn_anew(sent: Image.Image, form: str, modes: tuple[str, ...], options: Mapping[str, Any]) -> bytes:
    sent.load()
    ImageOps.exif_transpose(sent, in_place=True)
    # `info` holds comments, location and colour profiles; keep only what the pixels need.
    sent.info = {name: value for name, value in sent.info.items() if name == "transparency"}
    drawn = sent if sent.mode in modes else sent.convert(modes[-1])
    kept = io.BytesIO()
    drawn.save(kept, form, **options)
    return kept.getvalue()


def _pdf(content: bytes, field: str) -> bytes:
    """Return the PDF unchanged, after a parser has opened it."""
    if _unfolds_without_end(content):
        _refuse(field, "must be a PDF whose objects are not packed with LZW")
    try:
        with pikepdf.open(io.BytesIO(content)) as document:
            locked, pages = document.is_encrypted, len(document.pages)
    except pikepdf.PasswordError:
        locked, pages = True, 0
    except Exception:  # a parser of hostile bytes may fail in any way
        locked, pages = False, 0
    if locked:
        _refuse(field, "must not be protected by a password")
    if not pages:
        _refuse(field, "must be a PDF that can be opened")
    return content


def _unfolds_without_end(content: bytes) -> bool:
    """Return True for object streams under LZW, for which the parser has no memory limit.

    No writer of object streams uses LZW. A filter given by indirect reference may be LZW, so it counts too.
    """
    spelt = _SPELT_OUT.sub(lambda code: bytes([int(code[1], 16)]), content)
    return b"/XRef" in spelt and _UNBOUNDED.search(spelt) is not None


def _refuse(field: str, message: str) -> NoReturn:
    raise InvalidInput.one(field, message)


_KINDS: Final[Mapping[str, _Kind]] = {
    "image/jpeg": _Kind((".jpg", ".jpeg"), _image("JPEG", ("L", "RGB"), quality=90)),
    "image/png": _Kind((".png",), _image("PNG", ("1", "L", "LA", "I;16", "P", "RGB", "RGBA"))),
    "image/webp": _Kind((".webp",), _image("WEBP", ("RGB", "RGBA"), quality=90)),
    "application/pdf": _Kind((".pdf",), _pdf),
}
MEDIA_TYPES: Final = tuple(_KINDS)
