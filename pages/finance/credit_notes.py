"""Credit notes: what goes back to customers and how long it waits; and one with its arithmetic and shares."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core import clock
from core.errors import FieldFault, InvalidInput, NotAllowed, StateForbids
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.deciding import Seen
from core.services.finance.credit_notes.reading import CreditNoteFilter, CreditNoteRow
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.states.finance import UNPAID, CreditNoteState
from core.store.access import ScopedSession, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Day, Field, Text, Values
from core.ui.lists import export_panel, filter_bar, tables
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action, bank_answer, bank_return

CREDIT_NOTES: Table[CreditNoteRow] = tables.of(
    credit_note_reading.CREDIT_NOTES,
    opens="finance/credit_notes.py#credit_note",
    narrow=("number", "provider", "state", "back"),
    only_wide=("age",),
)


# So many are decided on in one dialog: the oldest.
MOST: Final = 50
TICKED: Final = "ticked"


def list_waiting(person: Person) -> Mapping[str, Sequence[CreditNoteRow]]:
    """Return the oldest unpaid credit notes that this person may approve or note as paid, and the newest paid ones.

    Of these the person may note that the bank returned them.
    """
    some = Paging(1, MOST)
    with reading(frame.scope()) as session:
        rows = credit_note_reading.list_notes(session, CreditNoteFilter(states=UNPAID), some, order="oldest")
        rows += credit_note_reading.list_notes(session, CreditNoteFilter(states=(CreditNoteState.PAID,)), some)
    return sort_by_act(rows, person)


def sort_by_act(rows: Sequence[CreditNoteRow], person: Person) -> Mapping[str, Sequence[CreditNoteRow]]:
    """Return which of these a person may approve, note as paid, or as returned."""
    verbs = ("approve", "pay", "return")
    return {verb: [row for row in rows if verb in deciding.list_allowed(row, person)] for verb in verbs}


def approving(rows: Sequence[CreditNoteRow]) -> Action:
    """Return the dialog that approves several credit notes, each for an account of its own."""

    def approve(session: ScopedSession, row: CreditNoteRow, typed: Values, by: Person) -> CreditNoteState:
        given = {name: text for name, text in _typed(row, typed).items() if text}
        return deciding.approve(session, row.id, given, by=by, seen=Seen(row.payee_id))

    def describe(states: Sequence[CreditNoteState]) -> str:
        second = sum(state == CreditNoteState.SECOND_PERSON for state in states)
        more = f"; {second} above your limit, which somebody else approves as well" if second else ""
        return f"{words.count(len(states))} approved{more}. Somebody else of finance notes the payments."

    inputs = (
        Input(name="payee_bank", heading="Bank", longest=200, value=lambda row: row.payee_bank),
        Input(
            name="payee_account",
            heading="Account number",
            longest=32,
            hint=lambda row: f"Empty: ending in {row.payee_hint}" if row.payee_hint else None,
        ),
    )
    return action(
        title="Approve credit notes",
        icon="fact_check",
        says="Each goes back to its customer; another payee is named on its own page."
        f" One person approves up to {words.naira(deciding.LIMIT)} each, an admin up to"
        f" {words.naira(deciding.ADMIN_LIMIT)}; above it, and above all that one person approves alone within 30"
        " days, two do. All that are chosen are approved, or none.",
        fields=[Notes("notes", "Credit notes", rows=rows, inputs=inputs)],
        confirm=_sum_up("Approve", rows),
        work=lambda session, typed, by: _each(rows, typed, lambda row: approve(session, row, typed, by)),
        done=describe,
    )


def paying(rows: Sequence[CreditNoteRow]) -> Action:
    """Return the dialog that notes the payments of several credit notes, each by its own reference."""

    def pay(session: ScopedSession, row: CreditNoteRow, typed: Values, by: Person) -> None:
        deciding.pay(
            session, row.id, {**_typed(row, typed), "value_on": typed["value_on"]}, by=by, seen=Seen(row.payee_id)
        )

    def describe(row: CreditNoteRow) -> str:
        return f"to {row.payee}, ending in {row.payee_hint}" if row.payee_hint else f"to {row.payee or row.customer}"

    inputs = (Input(name="bank_reference", heading="Bank reference", longest=60),)
    return action(
        title="Credit notes that were paid",
        icon="task_alt",
        says="Each has the bank's reference of its own payment. All that are chosen are noted, or none.",
        fields=[
            Notes("notes", "Credit notes", rows=rows, inputs=inputs, describe=describe),
            Day("value_on", "Value date", value=clock.today()),
        ],
        confirm=_sum_up("Note the payment of", rows),
        work=lambda session, typed, by: _each(rows, typed, lambda row: pay(session, row, typed, by)),
        done=lambda paid: f"{words.counted(len(paid), 'credit note is', 'credit notes are')} paid.",
    )


def returning(rows: Sequence[CreditNoteRow], *, is_chosen: bool) -> Action:
    """Return the dialog that notes the payments of several credit notes that came back; `is_chosen` if all of them."""

    def take_back(session: ScopedSession, row: CreditNoteRow, typed: Values, by: Person) -> None:
        given = {name: typed[name] for name in ("returned_on", "reason")}
        deciding.return_payment(session, row.id, {**given, **_typed(row, typed)}, by=by)

    heading = "The bank's reference of the return"
    inputs = (Input(name="bank_reference", heading=heading, longest=60, value=lambda row: row.reference),)
    return action(
        title="Credit notes that the bank returned",
        icon="undo",
        says="Those that are chosen wait again: others approve each before it is paid once more."
        " All are noted, or none.",
        fields=[
            Notes("notes", "Credit notes", rows=rows, inputs=inputs, is_chosen=is_chosen),
            Day("returned_on", "Returned on", value=clock.today()),
            Text("reason", "What the bank says", longest=500),
        ],
        confirm=_sum_up("Note the return of", rows),
        work=lambda session, typed, by: _each(rows, typed, lambda row: take_back(session, row, typed, by)),
        done=lambda noted: f"{words.counted(len(noted), 'credit note', 'credit notes')} came back.",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Input:
    """One input for each credit note of a dialog; it begins with `value`, and hints at what an empty one means."""

    name: str
    heading: str
    longest: int
    value: Callable[[CreditNoteRow], str | None] = lambda _: None
    hint: Callable[[CreditNoteRow], str | None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Notes(Field):
    """Credit notes as a table with their count and sum, each with its box and, while that is ticked, its inputs.

    Read as what is typed for each that is ticked, by the hex of its id and the name of the input.
    """

    rows: Sequence[CreditNoteRow] = field(kw_only=True)
    inputs: Sequence[Input] = field(kw_only=True)
    is_chosen: bool = field(default=True, kw_only=True)
    describe: Callable[[CreditNoteRow], str] = field(default=lambda row: row.customer, kw_only=True)

    @property
    def names(self) -> Sequence[str]:
        """The inputs of each credit note, and the table."""
        return [self.name, *(_name(row, each.name) for row in self.rows for each in self.inputs)]

    def read(self, key: str) -> dict[str, dict[str, str]]:
        """Return what is typed for the ticked ones."""
        place = key.removesuffix(self.name)
        return {
            row.id.hex: {
                each.name: str(st.session_state.get(place + _name(row, each.name)) or "") for each in self.inputs
            }
            for row in self._list_ticked(place)
        }

    def draw(self, key: str) -> None:
        """Draw the headings, a row for each credit note, and the sum of those that are ticked."""
        place = key.removesuffix(self.name)
        for row in self.rows:
            st.session_state.setdefault(place + row.id.hex, self.is_chosen)
            for each in self.inputs:
                st.session_state.setdefault(place + _name(row, each.name), each.value(row) or "")
        ticked = self._list_ticked(place)
        with st.container(key="note_table", gap="xsmall"):
            self._draw_head(place, is_all=len(ticked) == len(self.rows))
            for row in self.rows:
                self._draw_row(place, row)
            first, second, *_ = self._cells()
            first.markdown(f"**{words.counted(len(ticked), 'credit note', 'credit notes')}**")
            second.markdown(f"**{_sum(ticked)}**", text_alignment="right")

    def _list_ticked(self, place: str) -> list[CreditNoteRow]:
        return [row for row in self.rows if st.session_state.get(place + row.id.hex)]

    def _cells(self) -> list[DeltaGenerator]:
        return st.columns([5, 2, *(5 / len(self.inputs) for _ in self.inputs)], vertical_alignment="center")

    def _draw_head(self, place: str, *, is_all: bool) -> None:
        everything = f"{place}all"

        def tick_all() -> None:
            for row in self.rows:
                st.session_state[place + row.id.hex] = st.session_state[everything]

        st.session_state[everything] = is_all
        first, second, *others = self._cells()
        first.checkbox(":small[All of them]", key=everything, on_change=tick_all)
        second.caption("Goes back", text_alignment="right")
        for cell, each in zip(others, self.inputs, strict=True):
            cell.caption(each.heading)

    def _draw_row(self, place: str, row: CreditNoteRow) -> None:
        first, second, *others = self._cells()
        label = f"**{words.plain(row.number)}** of {words.plain(row.provider)}, {words.plain(self.describe(row))}"
        is_ticked = first.checkbox(label, key=place + row.id.hex, wrap=True)
        second.markdown(words.naira(row.total_minor), text_alignment="right")
        for cell, each in zip(others, self.inputs, strict=True):
            if is_ticked:
                with cell.container(gap="xxsmall"):
                    self._draw_input(place, row, each)

    def _draw_input(self, place: str, row: CreditNoteRow, each: Input) -> None:
        name = _name(row, each.name)
        st.text_input(
            f"{_title(row)}: {each.heading[:1].lower()}{each.heading[1:]}",
            key=place + name,
            max_chars=each.longest,
            placeholder=each.hint(row) or each.heading,
            autocomplete="off",
            on_change="ignore",
            label_visibility="collapsed",
        )
        actions.blame(actions.DIALOG, name, each.heading)


def _typed(row: CreditNoteRow, typed: Values) -> Mapping[str, str]:
    """Return what is typed for a credit note that is chosen."""
    given: Mapping[str, str] = typed["notes"][row.id.hex]
    return given


def _title(row: CreditNoteRow) -> str:
    return f"{row.number} of {row.provider}"


def _name(row: CreditNoteRow, field: str) -> str:
    return f"{row.id.hex} {field}"


def _sum_up(verb: str, rows: Sequence[CreditNoteRow]) -> Callable[[Values], str]:
    def label(typed: Values) -> str:
        chosen = [row.total_minor for row in rows if row.id.hex in typed["notes"]]
        return f"{verb} {words.count(len(chosen))}, {words.naira(sum(chosen))}"

    return label


def _each(rows: Sequence[CreditNoteRow], typed: Values, work: Callable[[CreditNoteRow], Any]) -> Sequence[Any]:
    """Do the work for each chosen credit note; errors name the notes or their fields, and nothing is done then."""
    chosen: set[UUID] = {row.id for row in rows if row.id.hex in typed["notes"]}
    if not chosen:
        raise InvalidInput.for_field("notes", "must have at least one: choose the credit notes")
    results, faults, refused = [], [], []
    for row in (row for row in rows if row.id in chosen):
        try:
            results.append(work(row))
        except InvalidInput as error:
            refused.append(error)
            faults += [_place(fault, row, typed) for fault in error.faults]
        except (NotAllowed, StateForbids) as error:
            raise error.reword(StateForbids(f"{_title(row)}: {error}")) from None
    if refused:
        raise refused[0].reword(InvalidInput(faults))
    return results


def _place(fault: FieldFault, row: CreditNoteRow, typed: Values) -> FieldFault:
    """Return the error with the field of the dialog below which it is shown."""
    if fault.field in _typed(row, typed):
        return replace(fault, field=_name(row, fault.field))
    return fault if fault.field in typed else replace(fault, field="notes")


def buttons(waiting: Mapping[str, Sequence[CreditNoteRow]], person: Person, *, of: str = "many") -> None:
    """Draw what may be done with many credit notes at once; `of` is "many", or "ticked" where a person ticked them."""
    if rows := waiting["approve"]:
        label = f"Approve {words.count(len(rows))}, {_sum(rows)}"
        approving(rows).button(label, key=f"approve {of}", type="primary", disabled=not person.may_approve)
        facts.show_resting(person)
    if rows := waiting["pay"]:
        label = f"Note {words.counted(len(rows), 'payment', 'payments')}, {_sum(rows)}"
        paying(rows).button(label, key=f"pay {of}")
    if rows := waiting["return"]:
        label = f"Note {words.counted(len(rows), 'return', 'returns')}" if of == TICKED else "Note returns"
        returning(rows, is_chosen=of == TICKED).button(label, key=f"return {of}")


def _sum(rows: Sequence[CreditNoteRow]) -> str:
    return words.naira(sum(row.total_minor for row in rows))


def draw_ticked(picked: Sequence[CreditNoteRow], person: Person) -> None:
    """Draw what this person may do with the ticked credit notes, in the place of the line of the list."""
    allowed = sort_by_act(picked, person)
    with tables.ticked_bar():
        st.markdown(f"**{words.count(len(picked))}** ticked, {_sum(picked)}", width="content")
        buttons(allowed, person, of=TICKED)
        if not any(allowed.values()):
            st.caption("None of them waits for you.", width="content")


def nothing(criteria: CreditNoteFilter) -> None:
    if criteria != CreditNoteFilter():
        tables.show_no_match(CREDIT_NOTES)
    else:
        st.info("No credit note yet: the first comes with a cancelled policy.", icon=":material/undo:")


def draw() -> None:
    person = frame.require(ROLE)
    with frame.header_with_buttons(
        "Credit notes", "Refunds of terms that ended early: approved by one or two people, paid by another."
    ):
        beside = st.container(horizontal=True, gap="xsmall", horizontal_alignment="right")
    actions.run()
    # What is ticked has its buttons above the list, instead of those of all that wait.
    if not draw_list(person):
        with beside:
            buttons(list_waiting(person), person)


def draw_list(person: Person) -> bool:
    """Draw the credit notes that the filters leave; True if some are ticked."""
    names = read_in(frame.scope(), load_choices)
    criteria = filter_bar.read(CreditNoteFilter, names.names)
    filter_bar.draw_chips(criteria, names.names)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        total, minor = credit_note_reading.count(session, criteria)
        paging, order = CREDIT_NOTES.paging(url_state.page()), CREDIT_NOTES.order
        rows = credit_note_reading.list_notes(session, criteria, paging, order=order)
    if not total:
        nothing(criteria)
        return False
    number = tables.page_of(CREDIT_NOTES, total)
    if number is None:
        return False
    above = st.container()
    picked = tables.draw(CREDIT_NOTES, rows, number=number, total=total, chosen=())
    with above:
        if picked:
            draw_ticked(picked, person)
        else:
            export_panel.offer(
                "credit-notes",
                criteria.address(),
                rows=total,
                sum_minor=minor,
                line=f"{CREDIT_NOTES.count_text(total)} · {words.naira(minor)}",
                table=CREDIT_NOTES,
            )
    return bool(picked)


LABELS = {
    "approve": "Approve",
    "anew": "Another payee or account",
    "pay": "It was paid",
    "return": "The bank returned it",
}


def build_dialog(row: CreditNoteRow, verb: str) -> Action:
    """Return the dialog of one step of a credit note."""
    return {"approve": _approving, "anew": _approving, "pay": _paying, "return": _returning}[verb](row)


def describe_account(row: CreditNoteRow) -> str:
    """Describe the account that was approved, by its last four digits."""
    return f"account ending in {row.payee_hint} at {row.payee_bank}" if row.payee_hint else "account not named"


def _approving(row: CreditNoteRow) -> Action:
    held = f" (empty: as approved, ending in {row.payee_hint})" if row.payee_hint else ""
    return action(
        title=f"Approve {row.number} of {row.provider}",
        icon="fact_check",
        says=f"**{words.naira(row.total_minor)}** to {words.plain(row.customer)}: {words.plain(row.reason)}."
        f" One person approves up to {words.naira(deciding.LIMIT)}, an admin up to {words.naira(deciding.ADMIN_LIMIT)};"
        " above it, above all that one person approves alone within 30 days, for another payee than the customer, for"
        " an account that another customer has, and for a policy that one person sold and ended, two do. That its"
        " premium was received is recorded nowhere here: look for it in the bank's account first.",
        fields=[
            Text("payee", "Pay to", value=row.payee or row.customer, longest=200),
            Text("payee_bank", "Bank", value=row.payee_bank, longest=200),
            Text("payee_account", f"Account number{held}", longest=32),
        ],
        confirm="Approve it",
        work=lambda session, typed, by: deciding.approve(
            session, row.id, {name: text for name, text in typed.items() if text}, by=by, seen=Seen(row.payee_id)
        ),
        done=_describe_approval,
    )


def _describe_approval(state: CreditNoteState) -> str:
    if state == CreditNoteState.SECOND_PERSON:
        return (
            "Approved by you: above your limit, for another payee than the customer, and for an account that another"
            " customer has, somebody else of finance approves it as well."
        )
    return "Approved: somebody else of finance notes the payment."


def _paying(row: CreditNoteRow) -> Action:
    return action(
        title=f"{row.number} of {row.provider} was paid",
        icon="task_alt",
        says=f"**{words.naira(row.total_minor)}**, to {words.plain(row.payee or row.customer)},"
        f" {words.plain(describe_account(row))}, approved by"
        f" {words.plain(row.approver or '')}.",
        fields=bank_answer(),
        confirm="Note the payment",
        work=lambda session, typed, by: deciding.pay(session, row.id, typed, by=by, seen=Seen(row.payee_id)),
        done="The credit note is paid.",
    )


def _returning(row: CreditNoteRow) -> Action:
    return action(
        title=f"The bank returned {row.number} of {row.provider}",
        icon="undo",
        says=f"**{words.naira(row.total_minor)}** waits for the customer again.",
        fields=bank_return(row.reference),
        confirm="Note the return",
        work=lambda session, typed, by: deciding.return_payment(session, row.id, typed, by=by),
        done="The payment came back: others approve it again before it is paid once more.",
    )


def draw_credit_note() -> None:
    person = frame.require(ROLE)
    tables.back_link("credit_notes", "finance/credit_notes.py", "Back to the credit notes")
    row = page_links.load_record("credit note", credit_note_reading.get_note, is_of_mode=True)
    with reading(frame.scope()) as session:
        giver, own = deciding.describe_giver(session, row.id), deciding.list_own_staff(session, row.id)
        refusals = deciding.find_refusals(session, row.id, person)
    with frame.header_with_buttons(
        f"{row.number} of {words.plain(row.provider)} {words.badge(row.state)}",
        f"To {row.customer}, policy {row.policy_number or 'without a number'}, {row.age_days} days old",
        tab=f"{row.number} of {row.provider} · Credit note",
    ):
        for verb in deciding.list_allowed(row, person):
            if giver and verb != "return":
                continue
            look = "secondary" if verb in ("return", "anew") else "primary"
            actions.button(LABELS[verb], build_dialog(row, verb), type=look, disabled=verb in refusals)
    actions.run()
    if refusals and not giver:
        st.caption(f":material/lock: {words.plain(next(iter(refusals.values())))}.")
    facts.own_interest(own)
    if giver:
        st.info(f"{words.plain(giver)}.")
    _draw_facts(row)
    if row.explained:
        st.subheader("How it was computed", anchor=False)
        facts.table_of(row.explained)
    with st.container(horizontal=True, gap="xsmall"):
        for copy in credit_note_reading.COPIES:
            st.link_button(
                f"PDF for the {copy}", f"/credit-notes/{row.id}/{copy}.pdf", icon=":material/picture_as_pdf:"
            )
    if person.has_role("operations", "claims", "supervisor"):
        page_links.link_to("policies/policy.py", "Open the policy", "policy", id=str(row.policy_id))
    st.caption(f"Credit note {row.id}")


def _draw_facts(row: CreditNoteRow) -> None:
    """Draw the refund beside who did what of it, and when."""
    with st.grid(2, min_column_width=320, gap="small"):
        refund = {
            "Given back": words.naira(row.parts.total_minor),
            **facts.name_shares(row.parts),
            "Reason": row.reason,
            "Term": f"{words.day(row.term_start_at)} to {words.day(row.term_end_at)}" if row.term_end_at else None,
        }
        facts.card("**Refund**", refund)
        progress = {
            "Policy ended": f"{row.maker}, {words.moment(row.created_at)}",
            "Approved first": f"{row.first}, {words.moment(row.first_at)}" if row.first else None,
            "Approved": f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–",
            "Payment noted": f"{row.payer}, {words.moment(row.paid_at)}" if row.payer else "–",
            "Paid to": f"{row.payee}, {describe_account(row)}" if row.payee else "–",
            "Bank reference": row.reference or "–",
            "Value date": words.day(row.value_on),
            "Returned": f"{words.day(row.returned_on)}: {row.note}" if row.returned_on else None,
        }
        facts.card("**People and dates**", progress)
