"""Answering what a claimant was asked, and adding documents, over the API (contract C18)."""

from typing import Any, Final

from fastapi import APIRouter, Request, Response
from pydantic import Field, create_model

from core.api.http import envelope, forms, openapi
from core.api.http.auth import Signed
from core.api.http.bodies import StrictRoute
from core.api.http.forms import Form
from core.api.http.idempotent_post import run_once, run_once_async
from core.api.http.queries import Id
from core.api.http.reads import ReadRoute
from core.api.v1.claims import OneClaim, read_submitted
from core.covers import fields
from core.covers import request as requests
from core.covers.claims.lines import LINES
from core.covers.request import Request as Body
from core.errors import InvalidInput
from core.services.catalogue.keys import Caller
from core.services.claims.intake import attaching, requirements
from core.services.claims.lists import records
from core.services.claims.workflow import questions
from core.services.claims.workflow.inputs import AnswerInput
from core.services.files import files
from core.services.idempotency import WireResponse
from core.store.access import ScopedSession

router = APIRouter(route_class=StrictRoute, prefix="/claims", tags=["Claims"])
documents_router = APIRouter(route_class=ReadRoute, prefix="/claims", tags=["Claims"])
_ANSWERED, _ADDED = "Answer recorded", "Documents added"
_NAMES: Final = tuple(
    dict.fromkeys(
        (
            *requirements.DOCUMENTS,
            requirements.DEATH_CERTIFICATE,
            *(name for line in LINES for name in line.documents),
        )
    )
)
_FIELDS: dict[str, Any] = {name: (fields.Document | None, Field(default=None)) for name in _NAMES}
ClaimDocuments: type[Body] = create_model(
    "ClaimDocuments", __base__=Body, __doc__="Documents of a claim, of those that its kind has.", **_FIELDS
)


@router.post(
    "/{claim_id}/answers",
    status_code=201,
    summary="Answer what a claimant was asked",
    responses=openapi.answers(OneClaim, _ANSWERED, status=201, found=True),
    openapi_extra=openapi.body_example(AnswerInput),
)
async def answer_claim_question(request: Request, caller: Signed, claim_id: Id, body: AnswerInput) -> Response:
    """Answer the open question of a claim of yours; its statutory clock runs again. Without one it is 409."""

    def work(session: ScopedSession) -> WireResponse:
        questions.answer_over_api(session, claim_id, answer=body.answer, actor=caller.actor)
        return envelope.answer({"claim": records.get_claim(session, claim_id)}, _ANSWERED)

    return await run_once_async(request, caller, body, work)


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
    body = requests.validate(ClaimDocuments, form.values(sent))
    links = {name: link for name in _NAMES if (link := getattr(body, name)) is not None and name not in sent}
    arriving = [sent[name] for name in _NAMES if name in sent]
    if not links and not arriving:
        raise InvalidInput.for_field("body", f"must have a document: {', '.join(_NAMES)}")
    with files.store_files(arriving) as stored:

        def work(session: ScopedSession) -> WireResponse:
            claim = attaching.attach_over_api(session, claim_id, stored, links, owner=caller.owner, actor=caller.actor)
            return envelope.answer({"claim": claim}, _ADDED)

        return run_once(request, caller, body, work)
