"""Chart colours: placeholder values that Streamlit replaces in the browser with those of the active theme."""

from streamlit.elements.lib import streamlit_plotly_theme as theme

SERIES = (
    theme.CATEGORY_0,
    theme.CATEGORY_1,
    theme.CATEGORY_2,
    theme.CATEGORY_3,
    theme.CATEGORY_4,
    theme.CATEGORY_5,
    theme.CATEGORY_6,
    theme.CATEGORY_7,
)
TEXT = theme.GRAY_90
FAINT = theme.GRAY_70
SURFACE = theme.BG_COLOR
