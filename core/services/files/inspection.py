"""Detection of a file's true type from its content, and sanitising before storage (contract L4)."""

import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

import puremagic
from PIL import Image, ImageOps

from core.errors import InvalidInput, WrongMediaType

MAX_PIXELS: Final = 40_000_000
ACCEPTED: Final = "a JPEG, PNG, WebP or PDF file"
_ESCAPED_NAME: Final = re.compile(rb"#([0-9a-fA-F]{2})")
_UNBOUNDED_FILTER: Final = re.compile(rb"/LZW(Decode)?[\s/\]>%]|/Filter(\s|%[^\r\n]*[\r\n])*\d")
_BOMBS: Final = (Image.DecompressionBombError, Image.DecompressionBombWarning)


@dataclass(frozen=True, slots=True)
class InspectedFile:
    """The result of an inspection: true type, matching suffixes, and sanitised content."""

    content_type: str
    suffixes: tuple[str, ...]
    content: bytes


@dataclass(frozen=True, slots=True)
class _FileType:
    suffixes: tuple[str, ...]
    sanitise: Callable[[bytes, str], bytes]


def inspect(content: bytes, field: str) -> InspectedFile:
    """Inspect a file and return it as it will be stored; `field` names it in errors.

    WrongMediaType for an unsupported type, InvalidInput for a supported type that is broken, locked or too large to
    open.
    """
    if not content:
        _refuse(field, "must not be empty")
    content_type = _detect_type(content)
    if content_type is None:
        detail = [{"field": field, "message": f"must be {ACCEPTED}"}]
        raise WrongMediaType(f"{field} must be {ACCEPTED}", detail=detail)
    file_type = _FILE_TYPES[content_type]
    return InspectedFile(content_type, file_type.suffixes, file_type.sanitise(content, field))


def _detect_type(content: bytes) -> str | None:
    try:
        matches = puremagic.magic_string(content)
    except (puremagic.PureError, ValueError):
        return None
    return next((match.mime_type for match in matches if match.mime_type in _FILE_TYPES), None)


def _make_image_sanitiser(image_format: str, modes: tuple[str, ...], **options: Any) -> Callable[[bytes, str], bytes]:
    """Return a sanitiser that re-encodes the image, so that only its pixels remain."""

    def sanitise(content: bytes, field: str) -> bytes:
        try:
            with Image.open(io.BytesIO(content), formats=[image_format]) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise Image.DecompressionBombError
                return _reencode(image, image_format, modes, options)
        except _BOMBS:
            _refuse(field, f"must have at most {MAX_PIXELS:,} pixels")
        except Exception:  # a decoder of hostile bytes may fail in any way
            _refuse(field, "must be a picture that can be opened")

    return sanitise


def _reencode(image: Image.Image, image_format: str, modes: tuple[str, ...], options: Mapping[str, Any]) -> bytes:
    image.load()
    ImageOps.exif_transpose(image, in_place=True)
    # `info` holds comments, location and colour profiles; keep only what the pixels need.
    image.info = {name: value for name, value in image.info.items() if name == "transparency"}
    converted = image if image.mode in modes else image.convert(modes[-1])
    output = io.BytesIO()
    converted.save(output, image_format, **options)
    return output.getvalue()


def _check_pdf(content: bytes, field: str) -> bytes:
    """Return the PDF unchanged, after a parser has opened it."""
    if _has_unbounded_filter(content):
        _refuse(field, "must be a PDF whose objects are not packed with LZW")
    # Few processes ever open a PDF: the parser takes as long to load as a command may.
    from core.services.files import pdf_reading  # noqa: PLC0415

    pages = pdf_reading.count_pages(content)
    if pages is None:
        _refuse(field, "must not be protected by a password")
    if not pages:
        _refuse(field, "must be a PDF that can be opened")
    return content


def _has_unbounded_filter(content: bytes) -> bool:
    """Return True for object streams under LZW, for which the parser has no memory limit.

    No writer of object streams uses LZW. A filter given by indirect reference may be LZW, so it counts too.
    """
    unescaped = _ESCAPED_NAME.sub(lambda code: bytes([int(code[1], 16)]), content)
    return b"/XRef" in unescaped and _UNBOUNDED_FILTER.search(unescaped) is not None


def _refuse(field: str, message: str) -> NoReturn:
    raise InvalidInput.for_field(field, message)


_FILE_TYPES: Final[Mapping[str, _FileType]] = {
    "image/jpeg": _FileType((".jpg", ".jpeg"), _make_image_sanitiser("JPEG", ("L", "RGB"), quality=90)),
    "image/png": _FileType((".png",), _make_image_sanitiser("PNG", ("1", "L", "LA", "I;16", "P", "RGB", "RGBA"))),
    "image/webp": _FileType((".webp",), _make_image_sanitiser("WEBP", ("RGB", "RGBA"), quality=90)),
    "application/pdf": _FileType((".pdf",), _check_pdf),
}
MEDIA_TYPES: Final = tuple(_FILE_TYPES)
