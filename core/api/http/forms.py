"""Strict multipart forms: bounded while arriving, unique names, UTF-8 (contract E3, C1)."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import anyio
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.datastructures import FormData, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser

from core.errors import FieldFault, InvalidInput, TooLarge, TooSlow, WrongMediaType, raise_faults
from core.services.files.files import MAX_BYTES, ReceivedFile


class FormParser(MultiPartParser):
    """Starlette's parser with a limit per file, strict UTF-8 and a required final boundary."""

    largest_file = MAX_BYTES
    _received = 0
    _ended = False

    def on_part_begin(self) -> None:
        """Start counting the part's bytes; its names and text are UTF-8, whatever the head of the form says."""
        super().on_part_begin()
        self._received, self._charset = 0, "utf-8"

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        """Count bytes and reject a file as soon as it is too large."""
        self._received += end - start
        if self._current_part.file is not None and self._received > self.largest_file:
            mib = self.largest_file // (1 << 20)
            raise TooLarge(f"A file may have at most {mib} MiB, and {self._current_part.field_name} has more")
        super().on_part_data(data, start, end)

    def on_part_end(self) -> None:
        """Reject a text that is not valid UTF-8."""
        if self._current_part.file is None:
            self._current_part.data.decode(self._charset)
        super().on_part_end()

    def on_end(self) -> None:
        """Record that the final boundary arrived."""
        self._ended = True

    async def result(self) -> tuple[dict[str, str], dict[str, UploadFile]]:
        """Return texts and files; InvalidInput when malformed, too large, truncated, or with a repeated name."""
        try:
            parsed = await self.parse()
            if not self._ended:
                raise MultiPartException("cut short")
            return _sorted(parsed)
        except BaseException as error:
            for file in self._files_to_close_on_error:
                file.close()
            if isinstance(error, MultiPartException | UnicodeDecodeError):
                most = f"at most {self.max_files} file{'s' if self.max_files > 1 else ''} and {self.max_fields} texts"
                raise InvalidInput.for_field("body", f"must be a well-formed form with {most}") from None
            raise


def _sorted(parsed: FormData) -> tuple[dict[str, str], dict[str, UploadFile]]:
    texts: dict[str, str] = {}
    uploads: dict[str, UploadFile] = {}
    faults = []
    for name, value in parsed.multi_items():
        if name in texts or name in uploads:
            faults.append(FieldFault(name[:100], "must be given once"))
        elif isinstance(value, str):
            texts[name] = value
        elif value.filename or value.size:
            uploads[name] = value
        else:  # a browser sends an empty part for a file that nobody chose
            value.file.close()
    raise_faults(faults)
    return texts, uploads


T = TypeVar("T")
LARGEST_TEXT: Final = 16 * 1024
MAX_TEXTS: Final = 40
_BOUNDARIES: Final = 64 * 1024
_SECONDS_PER_FILE: Final = 60
# Files are opened and written by few threads, so that they take neither the memory nor the threads of others.
_KEEPERS: Final = anyio.CapacityLimiter(2)


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """A parsed form: texts, and files in temporary storage."""

    texts: Mapping[str, Any]
    uploads: Mapping[str, UploadFile]

    def read_files(self) -> dict[str, ReceivedFile]:
        """The files by field, read into memory."""
        return {
            name: ReceivedFile(field=name, file_name=upload.filename or "", content=upload.file.read())
            for name, upload in self.uploads.items()
        }

    def values(self, sent: Mapping[str, ReceivedFile]) -> dict[str, Any]:
        """The form as a request body: each file is replaced by the address it will have."""
        return {**self.texts, **{name: file.url for name, file in sent.items()}}

    def idempotency_content(self, sent: Mapping[str, ReceivedFile]) -> dict[str, Any]:
        """The content compared for an idempotency key: texts and the bytes of files (contract S13)."""
        return {**self.texts, **{name: {"sha256": file.sha256} for name, file in sent.items()}}


async def run_with_form(form: Form, work: Callable[[], T]) -> T:
    """Run `work` on a form in one of the few threads that store files, then delete its temporary storage."""
    try:
        return await run_sync(work, limiter=_KEEPERS)
    finally:
        for upload in form.uploads.values():
            upload.file.close()


def is_form(request: Request) -> bool:
    """True for a multipart form."""
    return request.headers.get("content-type", "").split(";")[0].strip().lower() == "multipart/form-data"


def refuse_compressed(request: Request) -> None:
    """Raise WrongMediaType for a body that is encoded: compressed, it may be a thousand times as large."""
    if request.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise WrongMediaType("Send this body without Content-Encoding: a compressed body is not read")


async def read(request: Request, *, files: int, largest_file: int = MAX_BYTES) -> Form:
    """Parse a form of at most `files` files; rejected while arriving once it is too large.

    Raises WrongMediaType for another body, TooLarge for a file or form beyond its bounds, InvalidInput for malformed,
    repeated, excess or late parts.
    """
    if not is_form(request):
        raise WrongMediaType("Send this body as multipart/form-data")
    refuse_compressed(request)
    largest = files * largest_file + _BOUNDARIES
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > largest:
        raise _refuse_larger(largest)
    parser = FormParser(
        request.headers,
        _counted(request.stream(), largest),
        max_files=files,
        max_fields=MAX_TEXTS,
        max_part_size=LARGEST_TEXT,
    )
    parser.largest_file = largest_file
    with anyio.move_on_after(files * _SECONDS_PER_FILE):
        texts, uploads = await parser.result()
        return Form(texts=texts, uploads=uploads)
    raise TooSlow.for_field("body", f"must arrive within {files * _SECONDS_PER_FILE} seconds")


def _refuse_larger(largest: int) -> TooLarge:
    return TooLarge(f"The body may have at most {largest // (1 << 20)} MiB")


async def _counted(chunks: AsyncGenerator[bytes, None], largest: int) -> AsyncGenerator[bytes, None]:
    received = 0
    async for chunk in chunks:
        received += len(chunk)
        if received > largest:
            raise _refuse_larger(largest)
        yield chunk
