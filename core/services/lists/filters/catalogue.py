"""Filters by insurer, category, product or distributor, worded alike on every list."""

from typing import Any

from core.services.lists.dimensions import Dimension
from core.services.lists.filters.fields import NAMED, Members

# Label, plural and column by dimension.
_WORDS: dict[Dimension, tuple[str, str, str]] = {
    "provider": ("Insurer", "insurers", "provider_id"),
    "category": ("Category", "categories", "product_category_id"),
    "product": ("Product", "products", "product_id"),
    "distributor": ("Distributor", "distributors", "distributor_id"),
}


def members_of(names: Dimension, **more: Any) -> Members:
    """Return the filter by records of a dimension; its parameter is the dimension's name, `more` changes fields."""
    label, plural, column = _WORDS[names]
    fields = {"label": label, "column": column, "address": names, "help": NAMED, "anything": f"All {plural}", **more}
    return Members(names=names, **fields)
