"""The buckets of what is due as tiles that can be chosen, and what narrows them; the address keeps both."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from core.errors import InvalidInput
from core.services.filters import SalesFilter
from core.services.renewals.due import BUCKETS, Bucket
from core.services.sales.choices import Choices
from core.ui.kit import periods, url_state, words
from core.ui.sales import sales_filters
from core.ui.sales.sales_filters import Asked

_BUCKET, _USUAL, _LAPSED = "bucket", "week", "lapsed"


@dataclass(frozen=True, slots=True)
class DueAsked:
    """What an address asks for: one of the buckets, and of which insurers, products and distributors."""

    bucket: str
    asked: Asked

    @property
    def wanted(self) -> SalesFilter:
        """What the services are asked for."""
        chosen = self.asked.selection
        return SalesFilter(provider_ids=chosen.provider, product_ids=chosen.product, distributor_ids=chosen.distributor)

    @property
    def narrowed(self) -> bool:
        """True when a filter is in use."""
        return self.wanted != SalesFilter()


def read(names: Choices) -> DueAsked:
    """What the address asks for; when that cannot be meant, say why, offer the way back, and end the page."""
    asked = sales_filters.read(names, default=periods.ALL)
    bucket = st.query_params.get(_BUCKET, _USUAL)
    if bucket not in BUCKETS:
        url_state.way_back(InvalidInput.one(_BUCKET, f"must be one of {', '.join(BUCKETS)}").faults)
    return DueAsked(bucket, asked)


def draw(asked: DueAsked, names: Choices) -> None:
    """What narrows all buckets alike."""
    with st.grid(4, min_column_width=170, gap="xsmall", vertical_alignment="bottom"):
        sales_filters.draw_members(asked.asked, names, "provider", "product", "distributor")
        url_state.reset_button(shown=asked.narrowed)


def tiles(buckets: Sequence[Bucket], asked: DueAsked) -> None:
    """Each bucket with its policies and the premium at risk; one is open."""
    with st.grid(len(buckets), min_column_width=140, gap="xsmall"):
        for bucket in buckets:
            _tile(bucket, chosen=bucket.key == asked.bucket)


def called(key: str) -> str:
    """The name of a bucket as people write it, short enough for its tile."""
    return "Lapsed 1–30 days" if key == _LAPSED else BUCKETS[key].label.replace("-", "–")


def _tile(bucket: Bucket, *, chosen: bool) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.metric(
            called(bucket.key),
            words.count(bucket.policies),
            help="Policies that can have one more term, by the days until they end; what ended today stands"
            " in the first. At risk is what the term that ends"
            " has cost.",
        )
        st.caption(f"{words.plain(words.naira(bucket.premium_minor))} at risk")
        st.button(
            "Shown" if chosen else "Show",
            key=f"due.{bucket.key}",
            type="primary" if chosen else "secondary",
            icon=":material/check:" if chosen else None,
            width="stretch",
            help="List what has lapsed" if bucket.key == _LAPSED else f"List what ends in {called(bucket.key)}",
            on_click=_choose,
            args=(bucket.key,),
        )


def _choose(key: str) -> None:
    url_state.change({_BUCKET: [] if key == _USUAL else [key]})
