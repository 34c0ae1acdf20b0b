"""Chart colours of the active theme, as `.streamlit/config.toml` declares them."""

from typing import Final

import streamlit as st

SERIES_COUNT: Final = 8
_LIGHT, _DARK = "light", "dark"
_FAINT: Final = {_LIGHT: "#839192", _DARK: "#71858A"}


def series() -> list[str]:
    """Return the colours of the series, in order."""
    return list(st.get_option(f"theme.{_theme()}.chartCategoricalColors"))


def text() -> str:
    """Return the colour of texts."""
    return str(st.get_option(f"theme.{_theme()}.textColor"))


def faint() -> str:
    """Return the grey of what stands behind: the year before, the sum of the remaining series."""
    return _FAINT[_theme()]


def surface() -> str:
    """Return the colour of the page."""
    return str(st.get_option(f"theme.{_theme()}.backgroundColor"))


def grid() -> str:
    """Return the colour of the lines behind a chart."""
    return str(st.get_option(f"theme.{_theme()}.dataframeBorderColor"))


def pale(colour: str) -> str:
    """Return a colour mixed half and half with that of the page."""
    pairs = zip(_channels(colour), _channels(surface()), strict=True)
    return "#" + "".join(f"{(one + other) // 2:02X}" for one, other in pairs)


def font() -> str:
    """Return the fonts of texts, by name."""
    return str(st.get_option("theme.font"))


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _theme() -> str:
    return _DARK if st.context.theme.type == _DARK else _LIGHT
