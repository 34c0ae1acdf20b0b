"""The unfinished sales of a person, each named by cover and customer, to be continued or discarded."""

from collections.abc import Collection, Mapping
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core.covers.credit_life import CREDIT_LIFE
from core.covers.registry import COVERS
from core.services.catalogue.distributors import DistributorName
from core.services.people.staff import Person
from core.services.selling.drafts import Draft
from core.ui.buying import sale_drafts, selling
from core.ui.buying.selling import Counter
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


def draw(
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
            "Discard",
            key=f"discard {draft.id}",
            type="tertiary",
            on_click=sale_drafts.delete,
            args=(draft.id, person),
        )
    if continued and seller is not None:
        _open(draft, seller, person)


def _open(draft: Draft, seller: DistributorName, person: Person) -> None:
    """Go to the form of a draft, with all that its screen asks before it in the address."""
    counter = Counter(distributor_id=draft.distributor_id, is_live=frame.mode(), person=person)
    offers = selling.shelf(counter)
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
