"""The pack: everything that the store holds of a person, over all distributors, and who looked at it (contract D1)."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import clock, seal
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.compliance import erasures, figures, own_records
from core.services.compliance.requests import RequestRow, get_request
from core.services.files import printing
from core.services.files.printing import INK, QUIET, TEAL
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.operations import blob_storage
from core.store.schema import tables
from core.store.schema.finance import VIEW
from core.store.schema.tables import AuditEntry, Customer, Mail, UploadedFile

if TYPE_CHECKING:
    from fpdf import FPDF

_LABEL: Final = 48.0


def render(number: str, name: str, content: Mapping[str, Any]) -> bytes:
    """Return the PDF of a pack."""
    page = printing.create(number, created_at=clock.now(), left=16, top=16)
    page.set_auto_page_break(auto=True, margin=18)
    page.set_font("Roboto", "B", 18)
    page.set_text_color(TEAL)
    page.multi_cell(0, 9, "The data held about you", new_x="LMARGIN", new_y="NEXT")
    _line(page, "Request", number)
    _line(page, "Name", name)
    _line(page, "Made", clock.format_lagos(clock.now()) + " (Lagos)")
    for table, rows in content["records"].items():
        _title(page, table.replace("_", " ").capitalize())
        for place, row in enumerate(rows, 1):
            page.ln(1.5)
            _line(page, f"{place}.", "")
            for key, value in row.items():
                _line(page, key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    _title(page, "Files")
    for file in content["files"]:
        _line(page, file["file_name"], f"{file['content_type']}, SHA-256 {file['sha256']}")
    _title(page, "E-mails to you")
    for mail in content["e-mails"]:
        _line(page, mail["created_at"], mail["subject"])
    _title(page, "Who looked at it or changed it")
    for entry in content["looked_at_by"]:
        _line(page, entry["at"], f"{entry['who']}: {entry['what']} ({entry['record']})")
    return printing.finish(page, number)


def _title(page: "FPDF", text: str) -> None:
    page.ln(4)
    page.set_font("Roboto", "B", 12)
    page.set_text_color(TEAL)
    page.multi_cell(0, 7, text, new_x="LMARGIN", new_y="NEXT")


def _line(page: "FPDF", label: str, value: str) -> None:
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(QUIET)
    page.cell(_LABEL, 4.6, printing.fit(page.get_string_width, label, _LABEL - 2))
    page.set_text_color(INK)
    page.multi_cell(0, 4.6, value or " ", new_x="LMARGIN", new_y="NEXT", align="L")


_KINDS: Final = ("access", "copy")
# What links a row to a person's records.
_LINKS: Final = ("customer_id", "buyer_id", "policy_id", "claim_id", "purchase_id")
_LEFT_OUT: Final = frozenset({"customer", "redaction", "legal_hold", "statement_line", "data_request", "erasure"})
_HIDDEN: Final = frozenset(
    {"sealed", "account_key", "risk_hash", "name_key", "claim_owner_name_key", "email_key", "number_key", "hash"}
)


@dataclass(frozen=True, slots=True)
class Pack:
    """A pack ready to be handed out: its file name and the bytes of the ZIP."""

    file_name: str
    content: bytes


def make(session: ScopedSession, request_id: UUID, *, by: Person) -> Pack:
    """Make the pack of a request for access or a copy; the log keeps who made it. Needs the system's scope.

    StateForbids for another kind, before the identity was checked, and when no record is chosen.
    """
    figures.require_role(by)
    request = get_request(session, request_id)
    if request.kind not in _KINDS:
        raise StateForbids("A pack is made for a request for access or a copy")
    if request.identity_at is None:
        raise StateForbids("First note how the identity of the person was checked")
    if not request.customers:
        raise NotFound("No record of this person is chosen")
    content = collect(session, request)
    facts = {"number": request.number, "customers": list(request.customers), "files": len(content["files"])}
    audit.note(session, "data_request", request_id, "data pack made", actor=by.actor, **facts)
    return Pack(f"{request.number}.zip", _zip(request, content))


def collect(session: ScopedSession, request: RequestRow) -> dict[str, Any]:
    """Return everything of the person as plain data: records by table, files, and who looked at them."""
    customers = [UUID(each) for each in request.customers]
    rows = {"customer": _load(session, _table(Customer), "id", customers)}
    ids = _find_ids(session, customers)
    for table in tables.metadata().sorted_tables:
        if table.name in _LEFT_OUT or table.info.get(VIEW):
            continue
        link = next((name for name in _LINKS if name in table.c), None)
        if link and (found := _load(session, table, link, ids[link])):
            rows[table.name] = found
    files = _files(session, rows)
    return {
        "made_at": clock.to_wire(clock.now()),
        "request": request.number,
        "records": rows,
        "e-mails": _mails(session, rows["customer"]),
        "files": files,
        "looked_at_by": _lookers(session, ids, files),
    }


def _find_ids(session: ScopedSession, customers: Sequence[UUID]) -> dict[str, list[UUID]]:
    """Return the ids that each link may hold."""
    by_name = {table.name: table for table in tables.metadata().sorted_tables}
    ids = {"customer_id": list(customers), "buyer_id": list(customers)}
    for kind in ("policy", "claim", "purchase"):
        query = sa.select(by_name[kind].c.id).where(by_name[kind].c.customer_id.in_(customers))
        ids[f"{kind}_id"] = list(session.connection().execute(query).scalars())
    return ids


def _load(session: ScopedSession, table: sa.Table, link: str, ids: Sequence[UUID]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for some in own_records.in_chunks(ids):
        query = sa.select(table).where(table.c[link].in_(some)).order_by(*table.primary_key)
        found += [_plain(row) for row in session.connection().execute(query).mappings()]
    return found


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    """Return a row as plain data: numbers in clear, money as kobo, and nothing that is only ours."""
    shown = {str(name): _value(value) for name, value in row.items() if name not in _HIDDEN and value not in (None, "")}
    opened = seal.unseal(row.get("sealed"))
    return shown | ({"numbers": opened} if opened else {})


def _value(value: Any) -> Any:
    if isinstance(value, datetime):
        return clock.to_wire(value)
    if isinstance(value, UUID | date):
        return str(value)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _table(entity: type[SQLModel]) -> sa.Table:
    found: sa.Table = sa.inspect(entity).local_table
    return found


def _files(session: ScopedSession, rows: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[dict[str, Any]]:
    codes = set(erasures.find_codes(rows)) | {row["code"] for row in rows.get("uploaded_file", ())}
    names = ("code", "file_name", "content_type", "sha256")
    found: list[dict[str, Any]] = []
    for some in own_records.in_chunks(sorted(codes)):
        query = sa.select(*(col(getattr(UploadedFile, name)) for name in names)).where(col(UploadedFile.code).in_(some))
        found += [dict(row._mapping) for row in session.execute(query)]
    return found


def _mails(session: ScopedSession, customers: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    emails = {row["email"].lower() for row in customers}
    query = sa.select(_table(Mail)).where(sa.func.lower(col(Mail.recipient)).in_(emails))
    return [_plain(row) for row in session.connection().execute(query).mappings()]


def _lookers(
    session: ScopedSession, ids: Mapping[str, Sequence[UUID]], files: Sequence[Mapping[str, Any]]
) -> list[dict[str, str]]:
    """Return who did what with these records and when, by the audit log."""
    subjects = [f"{link.removesuffix('_id')} {id_}" for link, found in ids.items() for id_ in found]
    subjects += [f"file {row['code']}" for row in files]
    names = ("created_at", "actor", "action", "subject")
    found: list[Any] = []
    for some in own_records.in_chunks(sorted(set(subjects))):
        query = sa.select(*(col(getattr(AuditEntry, name)) for name in names)).where(col(AuditEntry.subject).in_(some))
        found += session.execute(query).all()
    return [
        {"at": clock.to_wire(row.created_at) or "", "who": row.actor, "what": row.action, "record": row.subject}
        for row in sorted(found, key=lambda row: row.created_at)
    ]


def _zip(request: RequestRow, content: Mapping[str, Any]) -> bytes:
    """Return the pack as a ZIP: JSON for machines, PDF for the person, and the files."""
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        text = json.dumps(content, indent=1, ensure_ascii=False, default=str)
        archive.writestr(f"{request.number}.json", text)
        archive.writestr(f"{request.number}.pdf", render(request.number, request.name, content))
        for row in content["files"]:
            path = blob_storage.path_of(row["code"])
            if path.is_file():
                archive.writestr(f"files/{row['code'][:8]}-{row['file_name']}", path.read_bytes())
    return whole.getvalue()
