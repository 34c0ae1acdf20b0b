"""Statements over the API: a distributor reads its own, and their files."""

from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field

from core.api.http import openapi
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.queries import Id, PageQuery, QueryString
from core.api.http.reads import ReadRoute
from core.api.outside import downloads
from core.covers.fields import one_of
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementRecord
from core.store.access import reading

router = APIRouter(route_class=ReadRoute, prefix="/statements", tags=["Statements"])
_LISTED, _ONE = "Statements retrieved", "Statement retrieved"
StatementPage = openapi.build_page("StatementPage", "A page of statements.", statements=StatementRecord)
OneStatement = openapi.build_one("OneStatement", "One statement.", statement=StatementRecord)


class FileQuery(QueryString):
    """Query parameters of a statement's file."""

    format: Annotated[str, one_of(*downloads.MEDIA_TYPES)] = Field(examples=["csv"])


@router.get("", responses=openapi.answers(StatementPage, _LISTED), summary="List statements")
def list_statements(caller: Signed, query: Annotated[PageQuery, Query()]) -> Response:
    """Every statement that was sent to you, the newest month first; a test key has none."""
    with reading(caller.scope) as session:
        page = statement_reading.list_records(session, query.paging())
    return page_response("statements", page, _LISTED)


@router.get("/{statement_id}", responses=openapi.answers(OneStatement, _ONE, found=True), summary="One statement")
def get_statement(caller: Signed, statement_id: Id) -> Response:
    """One statement with its balances and the hash of its CSV."""
    with reading(caller.scope) as session:
        return success({"statement": statement_reading.get_record(session, statement_id)}, _ONE)


@router.get(
    "/{statement_id}/file",
    summary="File of a statement",
    response_class=Response,
    responses=openapi.file_answers(
        OneStatement,
        "The file, without an envelope; `sha256` of the record is that of the CSV.",
        downloads.MEDIA_TYPES.values(),
    ),
)
def get_statement_file(caller: Signed, statement_id: Id, query: Annotated[FileQuery, Query()]) -> Response:
    """All lines of a statement as CSV, XLSX or PDF."""
    return downloads.answer(caller.scope, statement_id, query.format)
