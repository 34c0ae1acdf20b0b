"""Claims over the API: lodge, list, search, get, answer what was asked, add documents (contract C1-C6, C18, P6)."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Final

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, create_model

from core.api.http import forms, openapi, posts
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.forms import Form
from core.api.http.posts import StrictRoute, answer_once, answer_once_async
from core.api.http.queries import FilterQuery, Id
from core.api.http.reads import ReadRoute
from core.covers import fields
from core.covers.claims.line import LossRequest
from core.covers.claims.lines import LINES
from core.covers.request import Request as Body
from core.errors import FieldFault, InvalidInput
from core.services.catalogue.keys import Caller
from core.services.claims.intake import lodging, submitted
from core.services.claims.intake.new_claims import CreditLifeClaimRequest
from core.services.claims.lists import records
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.lists.records import ClaimRecord
from core.services.claims.workflow import questions
from core.services.claims.workflow.questions import AnswerInput
from core.services.files import files
from core.store.access import ScopedSession, reading

router = APIRouter(route_class=ReadRoute, prefix="/claims", tags=["Claims"])
_LISTED, _ONE, _LODGED = "Claims retrieved", "Claim retrieved", "Claim submitted"
ClaimPage = openapi.build_page("ClaimPage", "A page of claims.", claims=ClaimRecord)
OneClaim = openapi.build_one("OneClaim", "One claim.", claim=ClaimRecord)


class ClaimQuery(FilterQuery[ClaimFilter]):
    """Query of claims; the status may have the name that it has in a claim."""

    aliases: ClassVar[Mapping[str, str]] = {"claim_status": "status"}


@router.get("", responses=openapi.answers(ClaimPage, _LISTED), summary="List claims")
def list_claims(caller: Signed, query: Annotated[ClaimQuery, Query()]) -> Response:
    """Every claim of yours that meets the conditions, newest first, with its policy, customer, insurer and history."""
    with reading(caller.scope) as session:
        return page_response("claims", records.list_claims(session, query.criteria(), query.paging()), _LISTED)


@router.get("/search", responses=openapi.answers(ClaimPage, _LISTED), summary="Search claims")
def search_claims(caller: Signed, query: Annotated[ClaimQuery, Query()]) -> Response:
    """Claims that meet every condition given."""
    with reading(caller.scope) as session:
        return page_response("claims", records.list_claims(session, query.criteria(), query.paging()), _LISTED)


@router.get("/{claim_id}", responses=openapi.answers(OneClaim, _ONE, found=True), summary="One claim")
def get_claim(caller: Signed, claim_id: Id) -> Response:
    """One claim in full."""
    with reading(caller.scope) as session:
        return success({"claim": records.get_claim(session, claim_id)}, _ONE)


@dataclass(frozen=True, slots=True)
class _LodgingRoute:
    """One lodging endpoint: its request model, and which of its fields are documents."""

    route: str
    title: str
    model: type[CreditLifeClaimRequest] | type[LossRequest]
    documents: tuple[str, ...]

    def build_body(self) -> dict[str, Any]:
        """The request body for OpenAPI, with an example that works."""
        return openapi.form_body(self.model, self.documents, takes_json=True)


_CREDIT_LIFE: Final = _LodgingRoute("credit-life", "credit life", CreditLifeClaimRequest, submitted.DOCUMENTS)


@router.post(
    "/credit-life",
    status_code=201,
    summary="Lodge a credit life claim",
    responses=openapi.answers(OneClaim, _LODGED, status=201),
    openapi_extra=_CREDIT_LIFE.build_body(),
)
async def lodge_credit_life_claim(request: Request, caller: Signed) -> Response:
    """Lodge a claim on one of your credit life policies; documents are files, or addresses of your uploads."""
    return await _lodge(request, caller, _CREDIT_LIFE)


def _make_handler(door: _LodgingRoute) -> Callable[..., Awaitable[Response]]:
    async def lodge(request: Request, caller: Signed) -> Response:
        return await _lodge(request, caller, door)

    lodge.__name__ = f"lodge_{door.route.replace('-', '_')}_claim"
    lodge.__doc__ = (
        f"Lodge a claim on one of your {door.title} policies. Documents are files, or addresses of your uploads; those"
        " that the incident requires may follow later."
    )
    return lodge


def _add_routes() -> None:
    for line in LINES:
        door = _LodgingRoute(line.route, line.title.lower(), line.request, line.documents)
        router.add_api_route(
            f"/{door.route}",
            _make_handler(door),
            methods=["POST"],
            status_code=201,
            summary=f"Lodge a {door.title} claim",
            responses=openapi.answers(OneClaim, _LODGED, status=201),
            openapi_extra=door.build_body(),
        )


_add_routes()


async def _lodge(request: Request, caller: Caller, door: _LodgingRoute) -> Response:
    form = await read_submitted(request, files=len(door.documents))
    return await forms.run_with_form(form, lambda: _lodged(request, caller, form, door))


async def read_submitted(request: Request, *, files: int) -> Form:
    """Read a form of at most so many files, or a JSON body in its place."""
    if forms.is_form(request):
        return await forms.read(request, files=files)
    data = await posts.read(request, accepted="multipart/form-data or application/json")
    if not isinstance(data, dict):
        raise InvalidInput.for_field("body", "must be an object")
    return Form(texts=data, uploads={})


def _lodged(request: Request, caller: Caller, form: Form, door: _LodgingRoute) -> Response:
    sent = form.read_files()
    request.state.raw = form.idempotency_content(sent)
    strays = sent.keys() & door.model.model_fields.keys() - set(door.documents)
    if strays:
        posts.name_ignored(request, door.model, form.values(sent))
        raise InvalidInput([FieldFault(name, "must be a text, not a file") for name in sorted(strays)])
    body = posts.validate(request, door.model, form.values(sent))
    with files.store_files([sent[name] for name in door.documents if name in sent]) as stored:

        def lodge(session: ScopedSession) -> dict[str, Any]:
            return {"claim": lodging.lodge_claim(session, body, stored, owner=caller, actor=caller.actor)}

        return answer_once(request, caller, lodge, _LODGED)


answers_router = APIRouter(route_class=StrictRoute, prefix="/claims", tags=["Claims"])
documents_router = APIRouter(route_class=ReadRoute, prefix="/claims", tags=["Claims"])
_ANSWERED, _ADDED = "Answer recorded", "Documents added"
_OF_LINES: Final = tuple(name for line in LINES for name in line.documents)
_NAMES: Final = tuple(
    dict.fromkeys((*submitted.DOCUMENTS, submitted.DEATH_CERTIFICATE, *_OF_LINES, submitted.SIGNED_DISCHARGE))
)
_FIELDS: dict[str, Any] = {name: (fields.Document | None, Field(default=None)) for name in _NAMES}
ClaimDocuments: type[Body] = create_model(
    "ClaimDocuments", __base__=Body, __doc__="Documents of a claim, of those that its kind has.", **_FIELDS
)


@answers_router.post(
    "/{claim_id}/answers",
    status_code=201,
    summary="Answer what a claimant was asked",
    responses=openapi.answers(OneClaim, _ANSWERED, status=201, found=True),
    openapi_extra=openapi.body_example(AnswerInput),
)
async def answer_claim_question(request: Request, caller: Signed, claim_id: Id, body: AnswerInput) -> Response:
    """Answer the open question of a claim of yours; its statutory clock runs again. Without one it is 409."""

    def answer(session: ScopedSession) -> dict[str, Any]:
        questions.answer_question(session, claim_id, answer=body.answer, actor=caller.actor)
        return {"claim": records.get_claim(session, claim_id)}

    return await answer_once_async(request, caller, answer, _ANSWERED)


@documents_router.post(
    "/{claim_id}/documents",
    status_code=201,
    summary="Add documents to a claim",
    responses=openapi.answers(OneClaim, _ADDED, status=201, found=True),
    openapi_extra=openapi.form_body(ClaimDocuments, _NAMES, takes_json=True),
)
async def upload_claim_documents(request: Request, caller: Signed, claim_id: Id) -> Response:
    """Add documents to a claim of yours that is not decided, or better copies; files, or addresses of your uploads."""
    form = await read_submitted(request, files=len(_NAMES))
    return await forms.run_with_form(form, lambda: _added(request, caller, form, claim_id))


def _added(request: Request, caller: Caller, form: Form, claim_id: Id) -> Response:
    sent = form.read_files()
    request.state.raw = form.idempotency_content(sent)
    body = posts.validate(request, ClaimDocuments, form.values(sent))
    links = {name: link for name in _NAMES if (link := getattr(body, name)) is not None and name not in sent}
    arriving = [sent[name] for name in _NAMES if name in sent]
    if not links and not arriving:
        raise InvalidInput.for_field("body", f"must have a document: {', '.join(_NAMES)}")
    with files.store_files(arriving) as stored:

        def attach(session: ScopedSession) -> dict[str, Any]:
            claim = lodging.attach_over_api(session, claim_id, stored, links, owner=caller, actor=caller.actor)
            return {"claim": claim}

        return answer_once(request, caller, attach, _ADDED)
