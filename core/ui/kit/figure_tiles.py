"""Small tiles, each one figure with its change, a spark line and what it counts.

A custom component (`browser/figure_tiles.js`) with a payload of plain values:

    alt:   name of the whole for screen readers
    first: number of the tiles that are seen at once; the others stand under More
    tiles: label, value, badge and tone (good, bad, plain) of the change, from, compared, trend (numbers), help (pairs)
"""

from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from core.ui.frame import page_links

_mount = st.components.v2.component(
    "coverdesk_figure_tiles",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "figure_tiles.css").read_text(),
    js=(page_links.BROWSER / "figure_tiles.js").read_text(),
)


def draw(tiles: Sequence[Mapping[str, Any]], *, first: int, alt: str, key: str) -> None:
    """Draw the tiles in rows of six, four, three or two, as the width allows."""
    _mount(key=key, data={"alt": alt, "first": first, "tiles": [dict(tile) for tile in tiles]})
