"""Shared by Buy and Credit life: unfinished sales, to be continued or discarded, and the checkout that sells."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import ids
from core.covers import request_parts
from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.pricing import Offer, offer
from core.covers.registry import COVERS
from core.covers.request import Request
from core.errors import InvalidInput, StateForbids
from core.services.catalogue.distributors import DistributorName
from core.services.catalogue.for_sale import ProductForSale
from core.services.customers import buyers
from core.services.people.staff import Person
from core.services.selling import duplicate_guard
from core.services.selling.drafts import Draft
from core.services.selling.duplicate_guard import EarlierPolicy
from core.store.access import read_in, reading
from core.ui.buying import known_customer, prices, receipts, sale_drafts, selling
from core.ui.buying.selling import Counter
from core.ui.forms import forms
from core.ui.forms.forms import Form
from core.ui.frame import frame, page_links
from core.ui.kit import words

# In the address, so that Back leads from the details to the figures.
STEP, DETAILS = "step", "details"
# Not the name that Buy has for it: Streamlit drops a parameter that another page has bound to a widget of its own.
SELLER = "seller"
_TITLES: Final = {cover.key: cover.title for cover in COVERS}
# More scroll in a box of their own, so that the choices below stay in sight.
_MOST_IN_SIGHT: Final = 5
_HEIGHT: Final = 300


def draw_unfinished(
    person: Person, sellers: Collection[DistributorName], covers: Collection[str], *, but: UUID | None, is_open: bool
) -> None:
    """Draw the drafts of these covers, given by key; `sellers` are the distributors that can be sold for.

    The one that is being typed, `but`, is left out. `is_open` shows them at once, where nothing else is in progress.
    """
    mine = sale_drafts.list_mine(frame.mode(), person)
    found = [draft for draft in mine if draft.cover in covers and draft.id != but]
    if not found:
        return
    noun = "unfinished sale" if len(found) == 1 else "unfinished sales"
    box = st.expander(f"{len(found)} {noun}", icon=":material/bookmark:", expanded=is_open)
    with box.container(gap="xsmall", border=False, height=_HEIGHT if len(found) > _MOST_IN_SIGHT else "content"):
        for draft in found:
            _line(draft, person, next((seller for seller in sellers if seller.id == draft.distributor_id), None))


def _line(draft: Draft, person: Person, seller: DistributorName | None) -> None:
    customer = words.plain(draft.customer) or "nobody named yet"
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.markdown(
            f"**{words.plain(_TITLES[draft.cover])}** · {customer}  \n"
            f":small[for {words.plain(seller.name if seller else 'a distributor that is switched off')},"
            f" {words.moment(draft.updated_at)}]",
            width="stretch",
        )
        continued = st.button("Continue", key=f"continue {draft.id}", disabled=seller is None)
        st.button(
            "Discard", key=f"discard {draft.id}", type="tertiary", on_click=sale_drafts.delete, args=(draft.id, person)
        )
    if continued and seller is not None:
        _open(draft, seller, person)


def _open(draft: Draft, seller: DistributorName, person: Person) -> None:
    """Go to the form of a draft, with all that its screen asks before it in the address."""
    counter = Counter(distributor_id=draft.distributor_id, is_live=frame.mode(), person=person)
    offers = selling.list_offers(counter)
    found = next((offer for offer in offers if (offer[0].key, offer[1].id) == (draft.cover, draft.product_id)), None)
    if found is None:
        st.warning("This product is not sold for this distributor any more.", icon=":material/block:")
        return
    cover, product = found
    name, page = str(draft.id), "buy/buy.py"
    title = selling.title_of(cover, product)
    query: Mapping[str, str | list[str]] = {"on_behalf_of": seller.name, "cover": title, "sold": product.name}
    if cover is CREDIT_LIFE:
        page, query = "buy/credit_life.py", build_query(seller.name, product.name, draft.given)
    page_links.go(page, replaces=False, draft=name, **query)


def build_query(seller: str, plan: str, given: Mapping[str, Any]) -> dict[str, str | list[str]]:
    """Return the figures of a sale that was begun before as the address has them, with the step of its details."""
    return {
        STEP: DETAILS,
        SELLER: seller,
        "plan": plan,
        "amount": words.as_typed(str(given["loan_amount"]).removesuffix(".00")),
        "tenure": str(given["loan_tenure"]),
        "benefits": [words.title(benefit) for benefit in given["benefit_coverage"]],
    }


@dataclass(frozen=True, kw_only=True)
class Checkout:
    """One sale in progress; `given` are the fields that the screen has already asked for.

    The next sale of the kind begins on `page`, at the address `query`.
    """

    key: str
    page: str
    query: Mapping[str, str]
    cover: Cover[Any]
    product: ProductForSale
    counter: Counter
    given: Mapping[str, Any] = field(default_factory=dict)

    @property
    def form(self) -> Form:
        """Return the form of the remaining fields."""
        return Form(key=self.key, model=self.cover.request, given={**self.given, "product_id": str(self.product.id)})


@dataclass(frozen=True, kw_only=True)
class _Reviewed:
    """The request and offer under review; if figures or mode change, the sale returns to the details."""

    checkout: Checkout
    request: Any
    offer: Offer


def run_checkout(checkout: Checkout) -> None:
    """Draw the current stage of the sale."""
    # Idempotency token of a filled form: it sells once, however often the page reruns.
    st.session_state.setdefault(f"{checkout.key}.token", ids.new_token())
    reviewed: _Reviewed | None = st.session_state.get(f"{checkout.key}.reviewed")
    if reviewed is None or replace(reviewed.checkout, product=checkout.product) != checkout:
        _details(checkout)
    else:
        _review(checkout, reviewed)


def _details(checkout: Checkout) -> None:
    product, form, counter = checkout.product, checkout.form, checkout.counter
    cover = checkout.cover.key
    sale_drafts.restore(form, cover, counter)
    live = prices.reads(checkout.cover, str(product.id), product.rates).difference(checkout.given)
    watched = live | list_watched(checkout.cover)
    warned = replace(form, cautions=find_warnings(form, checkout.cover, counter, product))
    typed = forms.draw(warned, live=watched, before={"Customer": lambda: known_customer.draw(form, counter)})
    sale_drafts.store_draft(form, cover, counter, product.id, checkout.given)
    sale_drafts.watch(form, counter)
    sale_drafts.draw_state(form, counter, another="New sale")
    # If the price was known before the details were asked for, the page already shows it.
    known = prices.price_so_far(checkout.cover, typed, product.rates) if live or not checkout.given else None
    if prices.show_live(form, known, typed):
        _judge(checkout, typed)
        prices.take_press(form)
        st.rerun()


def _judge(checkout: Checkout, typed: Mapping[str, Any]) -> None:
    def offered(request: Request) -> Offer:
        return offer(checkout.cover, request, checkout.product.rates)

    try:
        request = forms.store_files_and_validate(checkout.form, typed, checkout.counter, also=offered)
        found = offered(request)
    except InvalidInput as error:
        forms.blame(checkout.form, error.faults)
        return
    forms.blame(checkout.form, ())
    # One draft is sold once, whichever of several tabs it is open in.
    if held := sale_drafts.get_held(checkout.form, checkout.counter):
        st.session_state[f"{checkout.key}.token"] = str(held)
    reviewed = _Reviewed(checkout=checkout, request=request, offer=found)
    st.session_state[f"{checkout.key}.reviewed"] = reviewed


def _review(checkout: Checkout, shown: _Reviewed) -> None:
    counter, reviewed = checkout.counter, _offer_again(checkout, shown)
    sale_drafts.settle(checkout.key, counter.person, sale_drafts.get_held(checkout.form, counter))
    st.subheader("Review", anchor=False)
    grid = st.grid(2, min_column_width=340, gap="medium")
    answers = forms.answers(checkout.form, reviewed.request)
    grid.table({label: words.plain(answer) for label, answer in answers.items()}, border="horizontal")
    with grid.container(border=True):
        prices.show(reviewed.offer.price, label="To pay")
        kind = "A live sale" if checkout.counter.is_live else "A test sale: nobody is covered by it"
        st.caption(f"{_term(reviewed.offer)} {kind}.")
        _show_changes(counter, shown.request)
        total = words.naira_of(reviewed.offer.price.total)
        if reviewed.offer != shown.offer:
            is_repriced = reviewed.offer.price.total != shown.offer.price.total
            changed = f"price has changed to {words.plain(total)}" if is_repriced else "days of cover are others now"
            st.warning(f"The {changed}: look again.", icon=":material/price_change:")
        confirmed = st.button(f"Confirm and buy for {total}", type="primary", width="stretch")
        if st.button("Change the details", width="stretch"):
            _back(checkout)
            st.rerun()
        if confirmed and reviewed.offer == shown.offer:
            _confirm(checkout, reviewed)


def _show_changes(counter: Counter, request: Request) -> None:
    """Say what becomes of the record of a customer who is known by this e-mail (contract S2)."""
    with reading(counter.scope) as session:
        holder = request_parts.get_policyholder(request)
        changes = buyers.find_changes(session, holder, counter)
    if changes:
        lines = [f"{words.plain(before)} becomes {words.plain(after)}" for before, after in changes.values()]
        st.warning(
            f"Known by this e-mail: the sale changes the {' and the '.join(changes)} on record. {', '.join(lines)}.",
            icon=":material/person_edit:",
        )


def _offer_again(checkout: Checkout, shown: _Reviewed) -> _Reviewed:
    """Return what is under review at the rates and on the day of now; who looks at it long may see others."""
    try:
        found = offer(checkout.cover, shown.request, checkout.product.rates)
    except InvalidInput as error:
        forms.blame(checkout.form, error.faults)
        _back(checkout)
        st.rerun()
    reviewed = replace(shown, checkout=checkout, offer=found)
    st.session_state[f"{checkout.key}.reviewed"] = reviewed
    return reviewed


def _confirm(checkout: Checkout, reviewed: _Reviewed) -> None:
    token = st.session_state[f"{checkout.key}.token"]
    try:
        receipt = selling.sell(
            checkout.cover, reviewed.request, checkout.counter, token=token, expected=reviewed.offer.price.total
        )
    except InvalidInput as error:
        forms.blame(checkout.form, error.faults)
        _back(checkout)
    except StateForbids as error:
        _refuse(error)
        return
    else:
        receipts.keep(receipt, checkout.page, **checkout.query)
        sale_drafts.discard(checkout.form, checkout.counter)
        receipts.follow()
    st.rerun()


def _refuse(error: StateForbids) -> None:
    """Show why the sale is refused; a policy that is in the way is named and linked."""
    detail: Mapping[str, Any] = error.detail if isinstance(error.detail, Mapping) else {}
    earlier = detail.get("policy_number")
    st.error(f"{error}." + (f" Policy {words.plain(earlier)}." if earlier else ""), icon=":material/content_copy:")
    if policy_id := detail.get("policy_id"):
        page_links.link_to(
            "policies/policy.py",
            f"Open policy {words.plain(earlier)}" if earlier else "Open the policy that is in the way",
            "policy",
            id=str(policy_id),
        )


def _back(checkout: Checkout) -> None:
    st.session_state.pop(f"{checkout.key}.reviewed", None)


def _term(offer: Offer) -> str:
    term = offer.term
    if term.start_on is None or term.expiration_on is None:
        return "The insurer sets the days of cover."
    return f"Cover from {words.day(term.start_on)} to {words.day(term.expiration_on)}."


POLICY = "policies/policy.py"


def list_watched(cover: Cover[Any]) -> frozenset[str]:
    """Return the fields that say whether something is insured already."""
    return prices.so_far(cover, {}, cover.risk_key).reads | prices.so_far(cover, {}, cover.duplicate_key).reads


def find_warnings(form: Form, cover: Cover[Any], counter: Counter, product: ProductForSale) -> Mapping[str, str]:
    """Return the warnings of what is typed so far, in Markdown by field: the last one typed of those it depends on."""
    typed = dict(form.given) | {
        question.name: value
        for question in form.questions
        if (value := st.session_state.get(form.key_of(question))) not in (None, "", [])
    }
    risk = prices.so_far(cover, typed, cover.risk_key)
    if risk.value:
        term = prices.so_far(cover, typed, lambda request: cover.term(request, product.rates)).value
        found = read_in(counter.scope, duplicate_guard.find_insured, product.id, risk.value, term)
        if found:
            says = f"Insured already{_until(found)}: it cannot be sold again for these days. {_link(found)}"
            return dict.fromkeys(risk.reads & _list_question_names(form), says)
    twin = prices.so_far(cover, typed, cover.duplicate_key)
    email = prices.so_far(cover, typed, lambda request: str(request.email))
    if twin.value and email.value:
        found = read_in(counter.scope, duplicate_guard.find_twin, twin.value, email.value)
        if found:
            says = f"This customer has a policy for this already{_until(found)}. Is this a second one? {_link(found)}"
            return dict.fromkeys(twin.reads & _list_question_names(form), says)
    return {}


def _list_question_names(form: Form) -> frozenset[str]:
    return frozenset(question.name for question in form.questions)


def _until(found: EarlierPolicy) -> str:
    return f" until {words.day(found.expiration_at)}" if found.expiration_at else ""


def _link(found: EarlierPolicy) -> str:
    return f"[Open {words.plain(found.number or 'that policy')}]({frame.link(POLICY, id=str(found.id))})"
