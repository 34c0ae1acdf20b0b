"""Strict multipart forms: bounded while arriving, unique names, UTF-8 (contract E3, C1)."""

from collections.abc import AsyncGenerator, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import anyio
from anyio.to_thread import run_sync
from fastapi import Request
from starlette.datastructures import UploadFile

from core.api.http.form_parser import FormParser
from core.errors import TooLarge, TooSlow, WrongMediaType
from core.services.files.files import MAX_BYTES, ReceivedFile

T = TypeVar("T")
LARGEST_TEXT: Final = 16 * 1024
MOST_TEXTS: Final = 40
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


async def read(request: Request, *, files: int) -> Form:
    """Parse a form of at most `files` files; rejected while arriving once it is too large.

    Raises WrongMediaType for another body, TooLarge for a file or form beyond its bounds, InvalidInput for malformed,
    repeated, excess or late parts.
    """
    if not is_form(request) or request.headers.get("content-encoding"):
        raise WrongMediaType("Send this body as multipart/form-data")
    largest = files * MAX_BYTES + _BOUNDARIES
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > largest:
        raise TooLarge
    parser = FormParser(
        request.headers,
        _counted(request.stream(), largest),
        max_files=files,
        max_fields=MOST_TEXTS,
        max_part_size=LARGEST_TEXT,
    )
    with anyio.move_on_after(files * _SECONDS_PER_FILE):
        texts, uploads = await parser.result()
        return Form(texts=texts, uploads=uploads)
    raise TooSlow.for_field("body", f"must arrive within {files * _SECONDS_PER_FILE} seconds")


async def _counted(chunks: AsyncGenerator[bytes, None], largest: int) -> AsyncGenerator[bytes, None]:
    received = 0
    async for chunk in chunks:
        received += len(chunk)
        if received > largest:
            raise TooLarge
        yield chunk
