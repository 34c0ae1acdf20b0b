"""Loan books: a month of credit life from one file, dropped here, and the books of before."""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, money
from core.covers.credit_life import BENEFITS, CREDIT_LIFE
from core.errors import InvalidInput
from core.services.catalogue import distributors
from core.services.catalogue.distributors import DistributorName
from core.services.catalogue.for_sale import ProductForSale
from core.services.files import files
from core.services.files.files import ReceivedFile
from core.services.lists.dimensions import load_choices
from core.services.people.staff import Person
from core.services.selling.loan_books import books, records
from core.services.selling.loan_books.books import Uploader
from core.services.selling.loan_books.records import LoanBookView
from core.states.loan_books import COLOURS, LoanBookState
from core.store.access import Owner, ScopedSession, read_in, reading
from core.ui.buying import selling
from core.ui.buying.selling import Counter
from core.ui.frame import frame, page_links
from core.ui.kit import actions, url_state, words
from core.ui.kit.actions import Action, Day, Field, Naira, Segments, Several, Text
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table

ROLES: Final = ("operations", "supervisor")
RECORD: Final = "buy/loan_book.py"
_FORM, _MADE = "loan_book", "loan_book.made"
_LENDER, _STATE = "lender", "state"
_STATES: Final = {str(state): state.capitalize() for state in LoanBookState}
_KINDS: Final = {"additions": "New loans", "exits": "Loans that ended", "snapshot": "The whole live book"}
# One day as each order writes it.
_WRITTEN: Final = {"YYYY-MM-DD": "2026-11-27, year first", "DD/MM/YYYY": "27/11/2026, day first"}
_DATE_ORDERS: Final = {each: _WRITTEN[each] for each in books.DATE_ORDERS}
_MONTHS: Final = 6
_MOST: Final = books.MAX_BYTES // (1 << 20)
_AHEAD: Final = (LoanBookState.VALIDATED, LoanBookState.CONFIRMED)


def _amount(row: LoanBookView) -> int | None:
    """Return the amount that was carried out, or that of the preview before; None for a book that comes to nothing."""
    if row.book.state in _AHEAD:
        return money.to_minor(Decimal(row.book.preview["premium"]))
    return row.book.done_minor or None


TABLE: Table[LoanBookView] = Table(
    name="loan_books",
    noun=("loan book", "loan books"),
    opens=RECORD,
    narrow=("file", "state", "amount", "lender"),
    home=("buy/loan_books.py", "Back to the loan books"),
    columns={
        "file": columns.text("File", lambda row: row.book.file_name, 152),
        "lender": columns.text("Lender", lambda row: row.distributor, 115),
        "kind": columns.text("What it holds", lambda row: _KINDS[row.book.kind], 110),
        "month": columns.text("Month", lambda row: f"{row.book.month:%b %Y}", 90),
        "state": columns.state(
            "State", lambda row: row.book.state.capitalize(), colour=lambda row: COLOURS[row.book.state]
        ),
        "rows": columns.number("Rows", lambda row: row.book.rows),
        "done": columns.number("Carried out", lambda row: row.book.done_rows),
        "amount": columns.naira("Amount", _amount),
        "product": columns.text("Product", lambda row: row.product, 180, usual=False),
        "by": columns.text("Uploaded by", lambda row: row.book.uploaded_by.removeprefix("staff "), 180, usual=False),
        "made": columns.day("Uploaded", lambda row: row.made_at),
        "made_at": columns.moment("Uploaded at", lambda row: row.made_at, usual=False),
    },
)


@dataclass(frozen=True, slots=True)
class FileField(Field):
    """A file to choose, read as its name and its bytes; None where there is none.

    One that waits for other choices is grey: it shows where the file goes.
    """

    types: tuple[str, ...]
    most_bytes: int
    help: str | None = None
    is_waiting: bool = False

    def draw(self, key: str) -> None:
        """Draw the widget with this key."""
        most = math.ceil(self.most_bytes / (1 << 20))
        waits, types = self.is_waiting, list(self.types)
        st.file_uploader(self.label, type=types, key=key, max_upload_size=most, help=self.help, disabled=waits)

    def read(self, key: str) -> tuple[str, bytes] | None:
        """Return name and content of the chosen file."""
        sent = st.session_state.get(key)
        return None if sent is None else (sent.name, sent.getvalue())


_FILE: Final = FileField(
    "file", f"The file: CSV or XLSX, up to 100,000 loans and {_MOST} MiB", ("csv", "xlsx"), books.MAX_BYTES
)


@contextmanager
def keep_attestation(values: Mapping[str, Any], owner: Owner) -> Iterator[Mapping[str, Any]]:
    """Store the chosen attestation, and forget it again where the upload is refused."""
    sent = values.get("attestation")
    received = [ReceivedFile(field="attestation", file_name=sent[0], content=sent[1])] if sent else []
    with files.store_files(received) as stored:
        yield {"stored": stored}


def list_fields(product: ProductForSale, kind: str) -> list[Field]:
    """Return the fields of an upload: the file, how it writes days, and of additions what holds for all rows."""
    shares = [name for name in BENEFITS if name in product.rates.meta["shares"]]
    attested: list[Field] = [
        Text("attested_by", "Who at the lender attests its borrowers", longest=100),
        Day("attested_on", "Attested on", first=date(2020, 1, 1), last=clock.today(), value=clock.today()),
        FileField("attestation", "The attestation: a PDF or a picture", ("pdf", "png", "jpg", "jpeg"), files.MAX_BYTES),
        Naira("free_cover_limit", "Free cover limit (loans above it are referred)", placeholder="none"),
        Several("benefit_coverage", "Benefits", options={n: words.title(n) for n in shares}, placeholder="All"),
    ]
    return [
        _FILE,
        Segments("date_format", "How dates are written", options=_DATE_ORDERS, value=books.DATE_ORDERS[0]),
        *(attested if kind == "additions" else []),
    ]


def build_upload(counter: Counter, product: ProductForSale, kind: str) -> Action:
    """Return the form of an upload of one kind for a lender and its product."""
    owner = Owner.of(counter)
    month = st.session_state.get("loan_book_month") or list_months()[0]
    chosen = {"kind": kind, "product_id": str(product.id), "month": f"{month:%Y-%m}"}

    def work(session: ScopedSession, values: Mapping[str, Any], by: Person) -> str:
        if values["file"] is None:
            raise InvalidInput.for_field("file", "choose the lender's file")
        name, content = values["file"]
        typed = {key: value for key, value in values.items() if key not in {"file", "attestation", "stored"} and value}
        for stored in values["stored"]:
            typed["attestation_url"] = files.record(session, stored, owner, actor=by.actor)["file_url"]
        uploader = Uploader(owner=owner, actor=by.actor, staff_id=by.id)
        try:
            return str(books.upload(session, {**chosen, **typed}, name, content, uploader).id)
        except InvalidInput as error:
            named = {"attestation_url": "attestation"}
            faults = [type(each)(named.get(each.field, each.field), each.message) for each in error.faults]
            raise InvalidInput(faults) from None

    return Action(
        title="Read the file",
        icon="upload_file",
        fields=list_fields(product, kind),
        columns=2,
        roles=ROLES,
        around=lambda values, _: keep_attestation(values, owner),
        work=work,
        done="The file is being read",
        # Who attests, and since when, is often the same for the next file of the lender.
        keeps_typed=True,
        then=lambda made: st.session_state.update({_MADE: made}),
    )


def list_months() -> list[date]:
    """Return this month and those before it, newest first."""
    return [clock.add_months(clock.today().replace(day=1), -number) for number in range(_MONTHS)]


def upload(sellers: list[DistributorName], person: Person) -> None:
    """Draw the form: the lender, its product, what the file holds, and the file."""
    with st.container(border=True):
        grid = st.grid(2, min_column_width=240, gap="small")
        with grid:
            lender: DistributorName | None = selling.choice("Lender", sellers, "lender", lambda seller: seller.name)
            kind = st.segmented_control(
                "What the file holds",
                list(_KINDS),
                format_func=_KINDS.__getitem__,
                required=True,
                default="additions",
                key="loan_book_kind",
            )
            product = choose_product(lender, person) if lender else None
            if product:
                st.selectbox("Month", list_months(), key="loan_book_month", format_func=lambda day: f"{day:%B %Y}")
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            if lender is None or product is None:
                st.caption(f"Choose the {'product' if lender else 'lender'}, then the file.", width="content")
            template(kind)
        if lender is None or product is None:
            with st.grid(2, min_column_width=240, gap="small"):
                replace(_FILE, is_waiting=True).draw(f"{_FORM}.waiting")
            return
        counter = Counter(distributor_id=lender.id, is_live=frame.mode(), person=person)
        build_upload(counter, product, kind).form(key=_FORM)


def choose_product(lender: DistributorName, person: Person) -> ProductForSale | None:
    """Draw the choice among the credit life products of a lender."""
    counter = Counter(distributor_id=lender.id, is_live=frame.mode(), person=person)
    offered = selling.list_products(counter, CREDIT_LIFE)
    if not offered:
        st.warning("This lender has no credit life product. An administrator can switch one on.")
        return None
    return selling.choice("Product", offered, "loan_product", lambda sold: sold.name)


def template(kind: str) -> None:
    st.link_button(
        "Template with an explanation of its columns",
        f"/loan-books/template-{kind}.xlsx",
        icon=":material/download:",
        type="tertiary",
    )


def narrow(lenders: Mapping[str, str], lender: str | None, state: str | None) -> None:
    """Draw the choice of a lender and of a state, above the list of the books."""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        for name, label, options, chosen in ((_LENDER, "Lender", lenders, lender), (_STATE, "State", _STATES, state)):
            with st.container(width=220):
                url_state.choice(name, label, options, chosen=chosen, anything=f"Any {label.lower()}", labelled=False)
        url_state.reset_button(shown=bool(lender or state))


def draw() -> None:
    person = frame.require(*ROLES)
    frame.page_header(
        "Loan books", "Drop a lender's file and see what it holds: somebody else covers its loans with one button."
    )
    actions.run()
    if made := st.session_state.get(_MADE):
        page_links.link_to(RECORD, "Open the book that is being read", "menu_book", id=made)
    lenders = {str(key): name for key, name in read_in(frame.scope(), load_choices).names["distributor"].items()}
    lender, state = url_state.one_of(_LENDER, lenders), url_state.one_of(_STATE, _STATES)
    with reading(frame.scope()) as session:
        sellers = distributors.list_active(session)
        wanted = {"state": state, "distributor_id": lender and UUID(lender)}
        page = records.list_views(session, TABLE.paging(url_state.page()), **wanted)
    if sellers and person.has_role("operations"):
        upload(sellers, person)
    if not page.total_count and not sellers:
        selling.show(person)
        return
    if not page.total_count and not (lender or state):
        st.info("No loan book was uploaded yet.", icon=":material/menu_book:")
        return
    narrow(lenders, lender, state)
    st.markdown(TABLE.count_text(page.total_count))
    if not page.total_count:
        tables.show_no_match(TABLE)
        return
    number = tables.page_of(TABLE, page.total_count)
    if number is not None:
        tables.draw(TABLE, page.items, number=number, total=page.total_count)
