"""One loan book: what it holds, what it comes to, the one button that carries it out, and what became of each row."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import money
from core.errors import NotAllowed
from core.services.people.staff import Person
from core.services.selling.loan_books import books, records
from core.services.selling.loan_books.books import Expected
from core.services.selling.loan_books.records import LoanBookRowRecord, LoanBookView
from core.states.loan_books import COLOURS, GIVEN_UP, TRANSITIONS, WORKED, LoanBookState
from core.store.access import ScopedSession, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table

ROLES: Final = ("operations", "supervisor")
_EVERY: Final = "2s"
_OUTCOMES: Final = {
    "valid": "To be covered",
    "covered": "Covered",
    "ended": "Ended",
    "rejected": "Not covered",
    "referred": "Referred",
    "insured": "Covered",
    "uninsured": "Not covered",
    "missing": "Not in the file",
}
# Of other kinds than additions: a row of a snapshot that cannot be compared may be of a loan that is covered.
_OUTCOMES_OF: Final[Mapping[str, Mapping[str, str]]] = {
    "exits": {"valid": "To be ended", "rejected": "Not ended"},
    "snapshot": {"rejected": "Not compared"},
}
# Above the codes of rows, and where there is none.
_CODES_OF: Final = {
    "additions": ("Why rows stay without cover", "Every row can be carried out"),
    "exits": ("Why rows stay as they are", "Every row can be carried out"),
    "snapshot": ("Why rows were not compared", "Every row was compared"),
}
_CODES: Final = {
    "MISSING_REQUIRED": "something that is needed is missing",
    "MALFORMED_VALUE": "a value cannot be read",
    "DUPLICATE_IN_FILE": "the loan stands in the file twice",
    "ALREADY_COVERED": "the loan is covered already",
    "START_IN_FUTURE": "the loan is not paid out yet",
    "BEFORE_AGREEMENT": "the loan began before the agreement",
    "TERM_OVER": "the loan is over",
    "AGE_OUT_OF_BOUNDS": "the borrower is too young or too old",
    "AMOUNT_OUT_OF_BOUNDS": "the amount is not insured",
    "PRODUCT_CLOSED": "the product is not on sale",
    "ABOVE_FREE_COVER_LIMIT": "above the free cover limit",
    "UNKNOWN_REASON": "the reason is not known",
    "UNKNOWN_LOAN": "no policy has this number",
    "ALREADY_ENDED": "the policy has ended already",
    "EXIT_OUTSIDE_COVER": "the day is outside the cover",
    "CLAIM_OPEN": "a claim is open",
    "CONTACT_MISSING": "neither phone nor e-mail",
    "NAME_SPLIT": "a full name was divided",
    "LEADING_ZEROS_LOST": "a zero in front was put back",
    "BORROWER_HAS_OTHER_LOAN": "the borrower has another loan",
    "UNUSUAL_AMOUNT": "far above the other loans",
}


def _why(row: LoanBookRowRecord) -> str:
    return row["reason"] or ", ".join(_CODES[each] for each in row["also"])


_NO_POLICY: Final = "line "


def _cells(row: LoanBookRowRecord) -> str:
    return " · ".join(cell for cell in row["cells"] if cell)


def _key(row: LoanBookRowRecord) -> str:
    return row["policy_id"] or f"{_NO_POLICY}{row['line']}"


def _query(key: UUID | str) -> dict[str, str] | None:
    return None if str(key).startswith(_NO_POLICY) else {"id": str(key)}


TABLE: Table[LoanBookRowRecord] = Table(
    name="loan_book_rows",
    noun=("row", "rows"),
    narrow=("account", "outcome", "amount", "reason"),
    opens="policies/policy.py",
    home=("buy/loan_book.py", "Back to the loan book"),
    key=_key,
    query=_query,
    columns={
        "account": columns.text("Loan", lambda row: row["loan_account_number"], 160),
        "line": columns.text("Line", lambda row: str(row["line"] or ""), 60, right=True),
        "outcome": columns.state("Outcome", lambda row: _OUTCOMES[row["outcome"]]),
        "amount": columns.naira("Amount", lambda row: _minor(row["amount"])),
        "policy": columns.text("Policy", lambda row: row["policy_number"], 170),
        "code": columns.text("Code", lambda row: row["code"], 180),
        "reason": columns.text("Why", _why, 320),
        "cells": columns.text("The row", _cells, 420, usual=False),
    },
)


def build_table(kind: str) -> Table[LoanBookRowRecord]:
    """Return the table of the rows of a kind of book, whose outcomes have words of their own."""
    labels = list_outcomes(kind)
    outcome = columns.state("Outcome", lambda row: labels[row["outcome"]])
    return replace(TABLE, columns={**TABLE.columns, "outcome": outcome})


def list_outcomes(kind: str) -> dict[str, str]:
    """Return every outcome of a row with its words in a kind of book."""
    return {**_OUTCOMES, **_OUTCOMES_OF.get(kind, {})}


def _minor(amount: str | None) -> int | None:
    return None if amount is None else money.to_minor(Decimal(amount))


def sentence(view: LoanBookView) -> str:
    """Return what the button does: "Cover 9,872 loans for ₦5,410,332.00; 128 borrowers stay without cover"."""
    preview = view.book.preview
    valid, premium = int(preview["valid"]), words.naira(_minor(preview["premium"]))
    left = int(preview["rows"]) - valid
    if view.book.kind == "exits":
        stay = f"; {words.counted(left, 'row stays as it is', 'rows stay as they are')}" if left else ""
        return f"End {words.counted(valid, 'policy', 'policies')}; {premium} goes back{stay}"
    stay = f"; {words.counted(left, 'borrower stays', 'borrowers stay')} without cover" if left else ""
    return f"Cover {words.counted(valid, 'loan', 'loans')} for {premium}{stay}"


def build_confirmation(view: LoanBookView) -> Action:
    """Return the confirmation of a book as it is seen."""
    book, preview = view.book, view.book.preview
    seen = Expected(
        rows=int(preview["valid"]), premium=Decimal(preview["premium"]), preview_hash=str(book.preview_hash)
    )

    def work(session: ScopedSession, _: Mapping[str, Any], by: Person) -> None:
        books.confirm_by_person(session, book.id, accept="valid", expected=seen, by=by)

    return Action(
        title=sentence(view),
        icon="task_alt",
        roles=ROLES,
        work=work,
        done="Confirmed: it is carried out in the background, and this page follows it",
    )


def build_step(view: LoanBookView, verb: str) -> Action:
    """Return one of the other steps of a book."""
    book = view.book
    left = "What was covered until then stays covered." if book.done_rows else "Nothing of it was sold."
    forgotten = f"{left} Its other rows are forgotten; the same file can come again."
    stops = "It stops after the loans that are being covered now, and can be resumed."
    title, icon, says, done = {
        "cancel": ("Cancel the book", "cancel", forgotten, "The book is cancelled"),
        "pause": ("Pause", "pause", stops, "The book is paused"),
        "resume": ("Resume", "play_arrow", "It goes on where it stopped.", "The book is resumed"),
    }[verb]

    def work(session: ScopedSession, _: Mapping[str, Any], by: Person) -> None:
        if verb == "pause":
            books.pause(session, book.id, actor=by.actor, reason=f"Paused by {by.name}")
        else:
            {"cancel": books.cancel, "resume": books.resume}[verb](session, book.id, actor=by.actor)

    return Action(title=title, icon=icon, says=says, roles=ROLES, work=work, done=done)


def steps(view: LoanBookView) -> None:
    """Draw the buttons of what may be done with a book besides confirming it."""
    targets = {each.to for each in TRANSITIONS.list_from(view.book.state)}
    if LoanBookState.PAUSED in targets:
        build_step(view, "pause").button()
    if view.book.state == LoanBookState.PAUSED:
        build_step(view, "resume").button(type="primary")
    if LoanBookState.CANCELLED in targets:
        build_step(view, "cancel").button()


def progress(view: LoanBookView) -> None:
    """Draw how far a book is, anew every two seconds while a worker is at it."""
    if view.book.state in {str(state) for state in WORKED}:
        st.fragment(_follow, run_every=_EVERY)(view)
    elif view.book.state == LoanBookState.PAUSED:
        reason = words.plain(view.book.refusal or "Paused").removesuffix(".")
        st.warning(f"{reason}. {_how_far(view)}.", icon=":material/pause_circle:")


def end(view: LoanBookView) -> None:
    """Say why a book is over that was not carried out to its end, and what follows of it."""
    book = view.book
    if book.state == LoanBookState.REFUSED:
        st.error(f"The {words.plain(book.refusal or 'file cannot be read')}.", icon=":material/error:")
        st.caption("Nothing of it is kept but this reason. Correct the file, and drop it on Loan books again.")
    elif book.state in GIVEN_UP:
        how = (
            "Nobody confirmed it in time, and it expired" if book.state == LoanBookState.EXPIRED else "It was cancelled"
        )
        left = f"{_how_far(view)} before that, and stay so" if book.done_rows else "nothing of it was carried out"
        st.info(
            f"{how} on {words.moment(book.updated_at)}: {left}. The same file can be dropped on Loan books again.",
            icon=":material/do_not_disturb_on:",
        )


def _follow(view: LoanBookView) -> None:
    book = read_in(frame.scope(), books.get, view.id)
    if book.state != view.book.state:
        st.rerun()
    if book.state in {LoanBookState.UPLOADED, LoanBookState.READING}:
        st.progress(0.0, text=f"Reading: {words.counted(book.rows, 'row', 'rows')} so far")
        return
    share = book.done_rows / max(1, int(book.preview["valid"]))
    st.progress(min(1.0, share), text=_how_far(replace(view, book=book)))


def _how_far(view: LoanBookView) -> str:
    book = view.book
    verb = "ended" if book.kind == "exits" else "covered"
    return (
        f"{words.count(book.done_rows)} of {words.count(book.preview['valid'])} {verb}, {words.naira(book.done_minor)}"
    )


def confirm(view: LoanBookView, person: Person) -> None:
    """Draw the one button, or who presses it."""
    book = view.book
    if book.state != LoanBookState.VALIDATED:
        return
    if not book.preview["valid"]:
        st.warning("No row can be carried out: send the report to the lender.", icon=":material/block:")
        return
    refusal = find_refusal(view, person)
    build = build_confirmation(view)
    icon, label = ":material/task_alt:", f"**{build.title}**"
    st.button(label, type="primary", icon=icon, on_click=build.do, disabled=refusal is not None, width="stretch")
    if refusal:
        st.caption(f":material/lock: {words.plain(refusal)}.")
    elif book.expires_at:
        st.caption(f"It waits until {words.moment(book.expires_at)}.")


def find_refusal(view: LoanBookView, person: Person) -> str | None:
    """Return why this person does not press the button; None for one who may."""
    try:
        read_in(frame.scope(), books.require_authority, view.book, person)
    except NotAllowed as refusal:
        return str(refusal)
    return None


def tiles(view: LoanBookView) -> None:
    """Draw the figures that are seen first."""
    shown = _list_snapshot(view) if view.book.kind == "snapshot" else _list_figures(view)
    with st.grid(len(shown), min_column_width=200, gap="small"):
        for label, value in shown:
            st.metric(label, value, border=True, height="stretch")


def _list_figures(view: LoanBookView) -> list[tuple[str, str]]:
    """Return what a book comes to, or came to once it is over."""
    book, preview = view.book, view.book.preview
    is_exit, is_done = book.kind == "exits", book.state in {LoanBookState.DONE, *GIVEN_UP}
    valid, rows = book.done_rows if is_done else int(preview["valid"]), int(preview["rows"])
    amount = book.done_minor if is_done else _minor(preview["premium"])
    labels = ("Policies ended", "Policies to end") if is_exit else ("Loans covered", "Loans to cover")
    shown = [
        (labels[0 if is_done else 1], words.count(valid)),
        ("Goes back" if is_exit else "Premium", words.naira(amount)),
        ("Stay as they are" if is_exit else "Without cover", words.count(rows - valid)),
    ]
    # What is due is known of the preview: a loan that was sold elsewhere meanwhile is not in it.
    if not is_exit and valid == int(preview["valid"]):
        shown.insert(2, ("Net due to the insurer", words.naira(_minor(preview["net_due"]))))
    return shown


def _list_snapshot(view: LoanBookView) -> list[tuple[str, str]]:
    preview = view.book.preview
    uninsured, missing = preview["compared"]["uninsured"], preview["compared"]["missing"]
    return [
        ("Rows in the file", words.count(preview["rows"])),
        ("Covered", words.count(preview["outcomes"].get("insured", 0))),
        ("Without cover", words.count(uninsured)),
        ("Policies whose loan is not in it", words.count(missing)),
    ]


def details(view: LoanBookView) -> None:
    """Draw what the figures are made of."""
    preview = view.book.preview
    with st.grid(3, min_column_width=240, gap="small"):
        with st.container(border=True, height="stretch"):
            why, none = _CODES_OF[view.book.kind]
            st.markdown(f"**{why if preview['codes'] else none}**")
            for code, number in preview["codes"].items():
                facts.line(words.title(_CODES[code]), words.count(number))
            if preview["warnings"]:
                st.markdown("**To look at**")
            for code, number in preview["warnings"].items():
                facts.line(words.title(_CODES[code]), words.count(number))
            _compared(view)
        if view.book.kind == "additions":
            _money(preview)
            _loans(preview)


def _money(preview: Mapping[str, Any]) -> None:
    with facts.card("**Premium by benefit**"):
        for name, amount in preview["premium_by_benefit"].items():
            facts.line(words.title(name), words.naira(_minor(amount)))
        st.markdown("**Commissions**")
        facts.line("Platform", words.naira(_minor(preview["mca_profit"])))
        facts.line("Distributor", words.naira(_minor(preview["distributor_profit"])))


def _loans(preview: Mapping[str, Any]) -> None:
    with facts.card("**Ages when the loan begins**"):
        for band, number in preview["ages"].items():
            if number:
                facts.line(f"{band} years".capitalize(), words.count(number))
        st.markdown("**Largest loans**")
        for each in preview["largest"][:5]:
            facts.line(each["loan_account_number"], words.naira(_minor(each["loan_amount"])))
        facts.line("Sum insured, all loans", words.naira(_minor(preview["insured"])))


def _compared(view: LoanBookView) -> None:
    compared = view.book.preview["compared"]
    if view.book.kind == "snapshot":
        st.markdown("**Compared with the policies in force**")
        facts.line("Loans without cover", words.count(compared["uninsured"]))
        facts.line("Policies whose loan is not in the file", words.count(compared["missing"]))
        facts.line("Their premium", words.naira(_minor(compared["missing_premium"])))
        st.caption("Nothing ends by this: send an exit file for the loans that are over.")
        return
    st.markdown(f"**Compared with {date.fromisoformat(compared['month'] + '-01'):%B %Y}**")
    if "rows" not in compared:
        st.caption("There was no such book of this lender in the month before.")
        return
    facts.line("Rows then", words.count(compared["rows"]))
    facts.line("Amount then", words.naira(_minor(compared["premium"])))
    change = f"{compared['change_percent']:+.1f} %"
    if compared["is_unusual"]:
        st.error(f"{change} rows: more than a fifth apart. Ask the lender why.", icon=":material/priority_high:")
    else:
        facts.line("Change of rows", change)


def rows(view: LoanBookView) -> None:
    """Draw the rows by outcome, with the report."""
    with reading(frame.scope()) as session:
        counted = {name: records.list_rows(session, view.id, TABLE.paging(1), name).total_count for name in _OUTCOMES}
    table, labels = build_table(view.book.kind), list_outcomes(view.book.kind)
    outcomes = {name: f"{label}: {words.count(counted[name])}" for name, label in labels.items() if counted[name]}
    if not outcomes:
        return
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
        st.subheader("Rows", anchor=False)
        with st.container(horizontal=True, gap="xsmall", width="content"):
            mode = "" if frame.mode() else "?mode=test"
            for format_ in ("xlsx", "csv"):
                st.link_button(
                    f"Report, {format_.upper()}", f"/loan-books/{view.id}.{format_}{mode}", icon=":material/download:"
                )
    chosen = url_state.choose_one("outcome", "Outcome", outcomes)
    total = counted[chosen] if chosen else sum(counted[name] for name in outcomes if name != records.MISSING)
    number = tables.page_of(table, total)
    if number is not None:
        page = read_in(frame.scope(), records.list_rows, view.id, table.paging(number), chosen)
        tables.draw(table, page.items, number=number, total=total)


def _count_rows(view: LoanBookView) -> str:
    """Return how many rows the file has, once it was read."""
    preview = view.book.preview
    return f" · {words.counted(int(preview['rows']), 'row', 'rows')} in the file" if preview else ""


def draw_terms(view: LoanBookView) -> None:
    """Draw the terms of the book, and who did what."""
    book = view.book
    with st.expander("Terms and history", icon=":material/info:"):
        facts.line("Product", view.product)
        facts.line("Benefits", ", ".join(words.title(name) for name in book.benefits))
        facts.line("Days are written", book.date_order)
        if book.free_cover_minor is not None:
            facts.line("Free cover limit", words.naira(book.free_cover_minor))
        if book.attested_by:
            facts.line("Attested", f"{book.attested_by}, {words.day(book.attested_on)}")
        facts.line("Uploaded", f"{book.uploaded_by.removeprefix('staff ')}, {words.moment(book.created_at)}")
        if book.confirmed_by:
            facts.line("Confirmed", f"{book.confirmed_by.removeprefix('staff ')}, {words.moment(book.confirmed_at)}")
        if book.unknown:
            facts.line("Columns that were passed over", ", ".join(book.unknown))
        st.caption(f"Loan book {book.id} · batch {book.batch_id} · SHA-256 {book.sha256}")


def draw() -> None:
    person = frame.require(*ROLES)
    tables.back_link("loan_books", "buy/loan_books.py", "Back to the loan books")
    view = page_links.load_record("loan book", records.get_view, is_of_mode=True)
    book = view.book
    with frame.header_with_buttons(
        f"{words.plain(book.file_name)} {words.badge(book.state.capitalize(), COLOURS[LoanBookState(book.state)])}",
        f"{words.plain(view.distributor)}, {book.month:%B %Y}{_count_rows(view)}",
        tab=f"{book.file_name} · Loan book",
    ):
        steps(view)
    actions.run()
    progress(view)
    end(view)
    if book.preview:
        # First what it comes to, said by the button: on a phone the figures fill a screen.
        confirm(view, person)
        tiles(view)
        if book.state not in GIVEN_UP:
            details(view)
        rows(view)
    draw_terms(view)
