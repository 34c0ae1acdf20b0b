"""The warning beside a field of a sale that the same is insured already, by the rules that refuse or mark the sale."""

from collections.abc import Mapping
from typing import Any

import streamlit as st

from core.covers.cover import Cover
from core.services.catalogue.products import ProductForSale
from core.services.selling import duplicate_guard
from core.services.selling.duplicate_guard import EarlierPolicy
from core.store.access import reading
from core.ui.buying import live_prices
from core.ui.buying.selling import Counter
from core.ui.forms.forms import Form
from core.ui.frame import frame
from core.ui.kit import words

POLICY = "policies/policy.py"


def list_watched(cover: Cover[Any]) -> frozenset[str]:
    """Return the fields that say whether something is insured already."""
    return (
        live_prices.so_far(cover, {}, cover.risk_key).reads | live_prices.so_far(cover, {}, cover.duplicate_key).reads
    )


def find_warnings(form: Form, cover: Cover[Any], counter: Counter, product: ProductForSale) -> Mapping[str, str]:
    """Return the warnings of what is typed so far, in Markdown by field: the last one typed of those it depends on."""
    typed = dict(form.given) | {
        question.name: value
        for question in form.questions
        if (value := st.session_state.get(form.key_of(question))) not in (None, "", [])
    }
    risk = live_prices.so_far(cover, typed, cover.risk_key)
    if risk.value:
        term = live_prices.so_far(cover, typed, lambda request: cover.term(request, product.rates)).value
        with reading(counter.scope) as session:
            found = duplicate_guard.find_insured(session, product.id, risk.value, term)
        if found:
            says = f"Insured already{_until(found)}: it cannot be sold again for these days. {_link(found)}"
            return dict.fromkeys(risk.reads & _asked(form), says)
    twin = live_prices.so_far(cover, typed, cover.duplicate_key)
    email = live_prices.so_far(cover, typed, lambda request: str(request.email))
    if twin.value and email.value:
        with reading(counter.scope) as session:
            found = duplicate_guard.find_twin(session, twin.value, email.value)
        if found:
            says = f"This customer has a policy for this already{_until(found)}. Is this a second one? {_link(found)}"
            return dict.fromkeys(twin.reads & _asked(form), says)
    return {}


def _asked(form: Form) -> frozenset[str]:
    return frozenset(question.name for question in form.questions)


def _until(found: EarlierPolicy) -> str:
    return f" until {words.day(found.expiration_at)}" if found.expiration_at else ""


def _link(found: EarlierPolicy) -> str:
    return f"[Open {words.plain(found.number or 'that policy')}]({frame.link(POLICY, id=str(found.id))})"
