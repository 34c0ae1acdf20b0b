"""The buckets of due renewals as selectable tiles, and their filters; both are kept in the URL."""

from collections.abc import Sequence

import streamlit as st

from core.errors import InvalidInput
from core.services.dimensions import Choices
from core.services.people.staff import Person
from core.services.renewals import calls
from core.services.renewals.due import BUCKETS, Bucket
from core.services.renewals.filter import NOBODY, DueFilter
from core.store.access import Scope, reading
from core.ui.kit import url_state, words
from core.ui.lists import filter_bar, filter_chips, saved_views

_BUCKET, _USUAL, _LAPSED = "bucket", "week", "lapsed"


def read(names: Choices) -> tuple[str, DueFilter]:
    """Read bucket and filters from the URL; show invalid query parameters and stop the page."""
    criteria = filter_bar.read(DueFilter, names.names)
    bucket = st.query_params.get(_BUCKET, _USUAL)
    if bucket not in BUCKETS:
        url_state.way_back(InvalidInput.for_field(_BUCKET, f"must be one of {', '.join(BUCKETS)}").faults)
    return bucket, criteria


def draw(criteria: DueFilter, names: Choices, person: Person) -> None:
    """Draw the filters, which apply to all buckets."""
    with reading(Scope.system()) as session:
        people = {str(key): name for key, name in calls.list_owners(session).items()}
    filter_chips.draw(
        criteria,
        names.names,
        options={"owned_by": {NOBODY: "Nobody", **people}},
        beside=lambda: saved_views.draw("sales/due.py", person),
    )


def tiles(buckets: Sequence[Bucket], chosen: str) -> None:
    """Draw each bucket with its number of policies and the premium at risk; one is selected."""
    with st.grid(len(buckets), min_column_width=140, gap="xsmall"):
        for bucket in buckets:
            _tile(bucket, chosen=bucket.key == chosen)


def bucket_label(key: str) -> str:
    """Return the label of a bucket, short enough for its tile."""
    return "Lapsed 1–30 days" if key == _LAPSED else BUCKETS[key].label.replace("-", "–")


def _tile(bucket: Bucket, *, chosen: bool) -> None:
    with st.container(border=True, gap="xsmall", height="stretch"):
        st.metric(
            bucket_label(bucket.key),
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
            help="List what has lapsed" if bucket.key == _LAPSED else f"List what ends in {bucket_label(bucket.key)}",
            on_click=_choose,
            args=(bucket.key,),
        )


def _choose(key: str) -> None:
    url_state.change({_BUCKET: [] if key == _USUAL else [key]})
