"""The agreement with one distributor or insurer: its terms, their history, and where it is paid."""

from collections.abc import Sequence
from datetime import date
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock, money
from core.services.catalogue import distributor_terms, product_list, share_changes
from core.services.catalogue.share_changes import AgreedShare
from core.services.finance import agreements, bank_accounts, parties
from core.services.finance.agreements import OpenTerms
from core.services.finance.bank_accounts import Account
from core.services.finance.parties import Account as AccountKind
from core.services.finance.parties import Party
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, proposals, words
from core.ui.kit.actions import Action, Choice, Day, Field, Text, Values
from core.ui.lists import tables
from pages.admin._shared import ROLE, action, show_no_second

_TEXTS = {
    "number": "Agreement number",
    "starts_on": "Holds from",
    "ends_on": "Ends on (optional)",
    "contact_email": "E-mail for papers (optional)",
}
_OF_DISTRIBUTOR = {
    "licence_number": "Licence number (optional)",
    "licence_expires_on": "Licence ends on (optional)",
    "tin": "Tax identification number (optional)",
    "book_premium": "Premium of loan books that its key confirms in a month, in naira (optional)",
}
_OF_INSURER = {
    "class_of_business": "Class of business (optional)",
    "remittance_days": "Days until premium is remitted",
    "bordereau_due_day": "Day of the month on which bordereaux are due",
}
_DAYS = frozenset({"starts_on", "ends_on", "licence_expires_on"})
_NUMBERS = frozenset({"remittance_days", "bordereau_due_day"})
_FLAGS = {
    "is_resident": "Resident in Nigeria",
    "is_small": "Small company: little is paid without withholding",
    "charges_vat": "Charges VAT on its commission",
}
_BANK = {"bank_name": "Bank", "account_name": "Name of the account", "account_number": "Account number, 10 digits"}
_YES_NO = {"true": "Yes", "false": "No"}
_HOLDERS = dict(zip(agreements.COLLECTS, ("The platform's wallet", "The distributor"), strict=True))


def _decisions(proposal: proposals.Proposed, person: Person, **given: Any) -> None:
    """Draw the buttons of what waits for another admin, and say to its maker where there is none who could."""
    proposals.draw_decisions(proposal, person, action=action, **given)
    if proposal.proposed_by == person.id:
        show_no_second(person)


def changing_terms(party: Party) -> Action:
    """Return the dialog that adds terms; the fields begin as they hold today."""
    is_distributor = party.account == "distributor"
    texts, flags = {**_TEXTS, **(_OF_DISTRIBUTOR if is_distributor else _OF_INSURER)}, _FLAGS if is_distributor else {}
    held = _begin_with(party, [*texts, *flags, "collects"])
    fields: list[Field] = [
        Day(name, label, value=held[name]) if name in _DAYS else Text(name, label, longest=254, value=held[name] or "")
        for name, label in texts.items()
    ]
    fields += [Choice(name, label, options=_YES_NO, value=held[name]) for name, label in flags.items()]
    if is_distributor:
        fields.append(Choice("collects", "Who holds the premium", options=_HOLDERS, value=held["collects"]))
    return action(
        title="New terms",
        icon="contract_edit",
        says="The terms hold from the day that you name. What held before stays in the history, and on its statements."
        + (" Another admin confirms what decides money." if is_distributor else ""),
        fields=fields,
        confirm="Save the terms",
        work=lambda session, typed, by: _add(session, party, typed, by=by),
        done=lambda waits: (
            "The terms are proposed: they hold once another admin has confirmed them."
            if waits
            else "The terms are saved and hold from their first day on."
        ),
    )


def _add(session: ScopedSession, party: Party, typed: Values, *, by: Person) -> bool:
    """Add terms; True where they wait for another admin."""
    agreements.add(session, party, _read(typed), by=by)
    return agreements.find_waiting(session, party) is not None


def _read(typed: Values) -> dict[str, Any]:
    return {name: _whole(value) if name in _NUMBERS else value for name, value in typed.items() if value}


def _whole(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else text


def _begin_with(party: Party, names: list[str]) -> dict[str, str | date | None]:
    frame.require(ROLE)
    held = read_in(Scope.system(), agreements.get_in_force, party, clock.today())
    usual = {"is_resident": "true", "is_small": "false", "charges_vat": "false", "collects": agreements.COLLECTS[0]}
    usual |= {"remittance_days": "30", "bordereau_due_day": "10"}
    given = {name: _as_typed(_get(held, name)) if held else usual.get(name) for name in names}
    over = {"ends_on": None} if held and distributor_terms.has_ended(held, clock.today()) else {}
    return given | over | {"starts_on": clock.today()}


def _get(held: Any, name: str) -> object:  # noqa: ANN401 - a row of the store, whose table screens do not import
    if name != "book_premium":
        return getattr(held, name)
    return None if held.book_premium_minor is None else money.to_wire(held.book_premium_minor)


def _as_typed(value: object) -> str | date | None:
    if isinstance(value, bool):
        return str(value).lower()
    return value if value is None or isinstance(value, date) else str(value)


def changing_account(party: Party) -> Action:
    """Return the dialog that proposes another bank account."""
    return action(
        title="New bank account",
        icon="account_balance",
        says="Call the party on a number that you already know, not on one from its letter. A second admin confirms.",
        fields=[Text(name, label, longest=100) for name, label in _BANK.items()],
        confirm="Propose the account",
        work=lambda session, typed, by: bank_accounts.propose(session, party, typed, by=by),
        done="The account is proposed: another admin confirms it, and payments can go to it 48 hours after that.",
    )


_ACCOUNT_WORK = {"Confirm": bank_accounts.confirm, "Refuse": bank_accounts.refuse, "Take back": bank_accounts.take_back}
_ACCOUNT_STATES = {"open": "Proposed", "confirmed": "Confirmed", "refused": "Refused", "withdrawn": "Taken back"}


def terms(row: Any) -> None:  # noqa: ANN401 - a row of the store, whose table screens do not import
    """Draw the terms that hold; `row` is an agreement."""
    facts.line("Agreement", row.number)
    facts.line("Holds", f"from {words.day(row.starts_on)}" + (f" to {words.day(row.ends_on)}" if row.ends_on else ""))
    facts.line("E-mail for papers", row.contact_email or "–")
    if row.account == "provider":
        facts.line("Class of business", row.class_of_business or "–")
        facts.line("Premium is remitted within", f"{row.remittance_days} days")
        facts.line("Bordereaux are due", f"on day {row.bordereau_due_day} of the month")
        return
    licence = f"{row.licence_number or '–'}, until {words.day(row.licence_expires_on)}"
    facts.line("Licence", licence if row.licence_expires_on else row.licence_number or "–")
    facts.line("Tax number", row.tin or "None: withholding tax is doubled")
    facts.line("Resident", "Yes" if row.is_resident else "No")
    facts.line("Small company", "Yes" if row.is_small else "No")
    facts.line("Charges VAT", "Yes" if row.charges_vat else "No")
    facts.line("Holds the premium", _HOLDERS[row.collects])
    allowed = words.naira(row.book_premium_minor) if row.book_premium_minor else "Nothing: the desk confirms them"
    facts.line("Loan books confirmed by its key in a month", allowed)


_TERMS_WORK = {"Confirm": agreements.confirm, "Refuse": agreements.refuse, "Take back": agreements.take_back}
_LABELS = {
    **{name: label.removesuffix(" (optional)") for name, label in (_TEXTS | _OF_DISTRIBUTOR).items()},
    **_FLAGS,
    "collects": "Who holds the premium",
    "book_premium_minor": "Premium of loan books that its key confirms in a month",
}


def draw_waiting(waiting: OpenTerms, person: Person) -> None:
    """Draw the terms that wait for a second admin, with each value as it holds and as it will."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"{words.badge('Proposed')} **New terms from {words.day(waiting.starts_on)}**")
        lines = [
            f"{_LABELS[name]}: {_describe(name, was)} → {_describe(name, will)}"
            for name, (was, will) in waiting.changes.items()
        ]
        if waiting.followed_by:
            on, number = waiting.followed_by
            lines.append(f"From {words.day(on)} agreement {number} holds instead")
        st.markdown("\n".join(f"- {words.plain(line)}" for line in lines))
        st.caption(
            f"Proposed by {words.plain(waiting.proposer)}, {words.moment(waiting.proposed_at)}. They hold only once"
            " another admin has confirmed them."
        )
        says = f"From {words.day(waiting.starts_on)}: {words.plain('; '.join(lines))}."
        _decisions(waiting, person, noun="set of terms", icon="contract_edit", says=says, work=_TERMS_WORK)


def _describe(name: str, value: Any) -> str:  # noqa: ANN401 - a value of any field
    if value is None:
        return "none"
    if name == "book_premium_minor":
        return words.naira(value)
    if name == "collects":
        return _HOLDERS[value]
    return words.day(value) if isinstance(value, date) else _YES_NO.get(str(value).lower(), str(value))


def licence(expires_on: date | None, days_left: int) -> None:
    """Say that a licence ends soon, or is over."""
    bound = agreements.warned_at(days_left)
    if bound == 0:
        st.error(f"The licence ended on {words.day(expires_on)}.", icon=":material/gpp_bad:")
    elif bound:
        left = words.counted(days_left, "day", "days")
        st.warning(f"The licence ends on {words.day(expires_on)}, in {left}.", icon=":material/gpp_maybe:")


def show_days(terms: Any, *, is_over: bool) -> None:  # noqa: ANN401 - a row of the store, as above
    """Say that an agreement is over and what goes on, and that its licence ends soon; `terms` are the last ones."""
    if is_over:
        goes_on = "What is sold still goes by these terms. Add new ones"
        if terms.account == "distributor":
            goes_on += ", or switch the distributor off: its keys are refused then. The desk confirms its loan books"
        st.error(f"The agreement ended on {words.day(terms.ends_on)}. {goes_on}.", icon=":material/contract_delete:")
    if terms.licence_expires_on:
        licence(terms.licence_expires_on, (terms.licence_expires_on - clock.today()).days)


def history(rows: Sequence[tuple[Any, str]]) -> None:
    """Draw all terms as a table, the newest first."""
    if rows:
        with st.expander(f"History of the terms: {len(rows)}", icon=":material/history:", expanded=True):
            st.table(
                [
                    {
                        "Holds from": words.day(row.starts_on),
                        "Ends on": words.day(row.ends_on),
                        "Agreement": words.plain(row.number),
                        "Holds the premium": _HOLDERS[row.collects] if row.account == "distributor" else "–",
                        "Made by": words.plain(name),
                        "Made": words.moment(row.created_at),
                    }
                    for row, name in rows
                ],
                border="horizontal",
            )


def accounts(found: Sequence[Account], person: Person) -> None:
    """Draw the bank accounts, the newest first; nobody sees a button that the service would refuse."""
    for account in found:
        with st.container(border=True, gap="xsmall"):
            state = _ACCOUNT_STATES[account.state]
            st.markdown(
                f"{words.badge(state)} **{words.plain(account.bank_name)}** · {words.plain(account.account_name)}"
                f" · \\*\\*\\*\\*\\*\\*{account.hint}"
            )
            rests = f" · is paid to from {words.moment(account.usable_from)}" if account.rests else ""
            decided = f" · decided by {words.plain(account.decider)}" if account.decider else ""
            st.caption(
                f"Proposed by {words.plain(account.proposer)}, {words.moment(account.proposed_at)}{decided}{rests}"
            )
            if account.state == "open":
                says = (
                    f"**{words.plain(account.bank_name)}**, {words.plain(account.account_name)}, ending in"
                    f" {account.hint}; proposed by {words.plain(account.proposer)}."
                )
                _decisions(account, person, noun="account", icon="account_balance", says=says, work=_ACCOUNT_WORK)


_ALL = "all"
_PRODUCTS = "The product's share"
_SHARE_WORK = {"Confirm": share_changes.confirm, "Refuse": share_changes.refuse, "Take back": share_changes.take_back}


def draw_shares(shares: Sequence[AgreedShare], person: Person) -> None:
    """Draw what waits for a second admin, and the shares with their history."""
    for share in shares:
        if share.state == "open":
            _proposal(share, person)
    decided = [share for share in shares if share.state != "open"]
    if decided:
        st.table([_share_row(share) for share in decided], border="horizontal")
    elif not shares:
        st.caption("None: each product's own share applies, as shown under Products.")


def _share_row(share: AgreedShare) -> dict[str, str]:
    return {
        "From": words.day(share.effective_at),
        "Product": words.plain(share.product or "All products"),
        "Distributor's share": format_share(share.commission_bp),
        "State": words.badge(_share_state(share)),
        "Proposed by": words.plain(share.proposer),
        "Decided by": words.plain(share.decider or "–"),
    }


def _share_state(share: AgreedShare) -> str:
    if share.state != "confirmed":
        return {"refused": "Refused", "withdrawn": "Taken back"}[share.state]
    if share.is_held:
        return "Active"
    return "Planned" if share.effective_at > clock.now() else "Past"


def format_share(commission_bp: int | None) -> str:
    """Return a share in percent; the product's where there is none of its own."""
    return _PRODUCTS if commission_bp is None else f"{money.to_naira(commission_bp)} %"


def _headline(share: AgreedShare) -> str:
    instead = format_share(share.before_bp)
    return (
        f"{share.product or 'All products'}: {format_share(share.commission_bp)} instead of"
        f" {instead[0].lower()}{instead[1:]} from {words.day(share.effective_at)}"
    )


def _proposal(share: AgreedShare, person: Person) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"{words.badge('Proposed')} **{words.plain(_headline(share))}**")
        st.caption(
            f"Proposed by {words.plain(share.proposer)}, {words.moment(share.proposed_at)}. It holds only once"
            " another admin has confirmed it, and what is sold before keeps its share."
        )
        says = f"**{words.plain(_headline(share))}**, proposed by {words.plain(share.proposer)}."
        _decisions(share, person, noun="share", icon="percent", says=says, work=_SHARE_WORK)


def proposing_share(distributor_id: UUID) -> Action:
    """Return the dialog that proposes an own share, of one product of the catalogue or of all."""
    products = read_in(frame.scope(), product_list.get_names)
    options = {_ALL: "All products", **{str(key): name for key, name in products.items()}}
    return action(
        title="New commission share",
        icon="percent",
        says="Sales and renewals take it from its day on, tomorrow at the earliest. Both commissions together stay"
        " those of the product: the platform has what remains, and the insurer keeps its share. The share of one"
        " product goes before that of all.",
        fields=[
            Choice("product_id", "Product", options=options, value=_ALL),
            Text("commission", "Distributor's share in percent (empty: the product's again)", longest=6),
            Day("starts_on", "Holds from", value=clock.add_days(clock.today(), 1)),
        ],
        confirm="Propose the share",
        work=lambda session, typed, by: share_changes.propose(
            session, distributor_id, {name: value for name, value in typed.items() if value not in {"", _ALL}}, by=by
        ),
        done="The share is proposed: it holds once another admin has confirmed it.",
    )


def buttons(party: Party) -> None:
    actions.button("New terms", lambda: changing_terms(party), icon="contract_edit")
    changing_account(party).button("New bank account", icon="account_balance")
    if party.account == "distributor":
        actions.button("New commission share", lambda: proposing_share(party.id), icon="percent")


def shares(party: Party, person: Person) -> None:
    found = read_in(frame.scope(), share_changes.list_shares, party.id)
    with st.container(border=True):
        st.markdown("**Commission shares of its own**")
        draw_shares(found, person)


def draw() -> None:
    person = frame.require("admin")
    tables.back_link("distributors", "admin/partners.py", "Back to the distributors and insurers")
    account: AccountKind = "provider" if st.query_params.get("party") == "provider" else "distributor"
    with page_links.require_id("party") as party_id, reading(frame.scope()) as session:
        party = Party(account, party_id)
        name = parties.get_name(session, party)
    with frame.header_with_buttons(
        f"Agreement with {words.plain(name)}",
        "Terms hold from their first day on and are never changed. Two admins agree on what decides money.",
        tab=f"{name} · Agreement",
    ):
        buttons(party)
    actions.run()
    with reading(frame.scope()) as session:
        held = agreements.get_in_force(session, party, clock.today())
        all_terms = agreements.list_history(session, party)
        waiting = agreements.find_waiting(session, party)
        known = bank_accounts.list_accounts(session, party)
    is_over = held is not None and distributor_terms.has_ended(held, clock.today())
    if held:
        show_days(held, is_over=is_over)
    if waiting:
        draw_waiting(waiting, person)
    draw_terms(held, known, person, is_over=is_over)
    if party.account == "distributor":
        shares(party, person)
    history(all_terms)


def draw_terms(held: Any, known: Sequence[Account], person: Person, *, is_over: bool) -> None:  # noqa: ANN401 - as above
    """Draw the terms that hold beside the bank accounts."""
    with st.grid(2, min_column_width=320, gap="small"):
        with facts.card("**Last terms**" if is_over else "**Terms that hold today**"):
            if held:
                terms(held)
            else:
                st.caption("None yet. Statements are prepared by the usual terms: the platform holds the premium.")
        with facts.card("**Bank accounts**"):
            if not known:
                st.caption("None yet: nothing can be paid out.")
            accounts(known, person)
