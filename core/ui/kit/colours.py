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


def _theme() -> str:
    return _DARK if st.context.theme.type == _DARK else _LIGHT
