"""Files over the API: upload and download, and the desk's route to open one (contract L4)."""

from typing import Final

from fastapi import APIRouter, Request, Response
from pydantic import Field
from starlette.requests import Request as PlainRequest
from starlette.responses import FileResponse, PlainTextResponse
from starlette.routing import Route
from starlette.types import Receive, Send
from starlette.types import Scope as Connection

from core.api.http import forms, openapi, posts
from core.api.http.auth import Signed
from core.api.http.forms import Form
from core.api.http.posts import answer_once
from core.api.http.reads import ReadRoute
from core.covers import request as requests
from core.errors import CoverdeskError, InvalidInput
from core.services.catalogue.keys import Caller
from core.services.files import files
from core.services.files.files import ACCEPTED, FileRecord, ServableFile
from core.services.people import sign_in, staff
from core.store.access import Scope, ScopedSession, reading, writing

router = APIRouter(route_class=ReadRoute, tags=["Files"])
_UPLOADED: Final = "File uploaded"
_INLINE_TYPES: Final = ("image/", "application/pdf")
# A stored file is somebody else's content: it may not run, frame, fetch or be cached beside our own pages.
_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'",
    "X-Frame-Options": "SAMEORIGIN",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-store",
    "Accept-Ranges": "none",
}


class UploadRequest(requests.Request):
    """One file."""

    file: str = Field(description=f"The file: {ACCEPTED}, up to 10 MiB.", json_schema_extra={"format": "binary"})


class WholeFile(FileResponse):
    """A file that is always sent whole: a malformed range would be answered without the envelope (contract E1)."""

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Send the file."""
        await super().__call__(without_range(scope), receive, send)


def without_range(scope: Connection) -> Connection:
    """The scope without its Range header."""
    return {**scope, "headers": [(name, value) for name, value in scope["headers"] if name != b"range"]}


@router.post(
    "/upload-file",
    status_code=201,
    summary="Upload a file",
    responses=openapi.answers(FileRecord, _UPLOADED, status=201),
    openapi_extra=openapi.form_body(UploadRequest, ["file"], has_example=False),
)
async def upload_file(request: Request, caller: Signed) -> Response:
    """Keep a JPEG, PNG, WebP or PDF file; its address is what other requests take."""
    form = await forms.read(request, files=1)
    return await forms.run_with_form(form, lambda: _uploaded(request, caller, form))


def _uploaded(request: Request, caller: Caller, form: Form) -> Response:
    sent = form.read_files()
    if "file" not in sent:
        posts.name_ignored(request, UploadRequest, form.values(sent))
        raise InvalidInput.for_field("file", "is required, as a file with a name")
    request.state.raw = form.idempotency_content(sent)
    posts.validate(request, UploadRequest, form.values(sent))
    with files.store_files([sent["file"]]) as (stored,):

        def record(session: ScopedSession) -> FileRecord:
            return files.record(session, stored, caller, actor=caller.actor)

        return answer_once(request, caller, record, _UPLOADED)


@router.get(
    "/files/{code}",
    summary="Download a file",
    response_class=FileResponse,
    responses=openapi.file_answers(
        FileRecord,
        "The bytes of the file, without an envelope; `Content-Type` says which of its types it is.",
        files.MEDIA_TYPES,
    ),
)
def download_file(caller: Signed, code: str) -> Response:
    """A file that you uploaded in this mode."""
    with reading(caller.scope) as session:
        return _served(files.get_file(session, code))


def _served(file: ServableFile) -> Response:
    is_inline = file.content_type.startswith(_INLINE_TYPES)
    return WholeFile(
        file.path,
        headers=_HEADERS,
        media_type=file.content_type,
        filename=file.file_name,
        content_disposition_type="inline" if is_inline else "attachment",
    )


def open_file(request: PlainRequest) -> Response:
    """A file of either mode for a signed-in person whose work needs it; every opening is audited."""
    try:
        with writing(Scope.system()) as session:
            person = staff.get_by_token(session, request.cookies.get(sign_in.COOKIE))
            return _served(files.open_file(session, request.path_params["code"], person))
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, {"Cache-Control": "no-store"})


routes = [Route("/files/{code}", open_file, methods=["GET"])]
