"""Papers and pictures inside a page, by addresses of our own that check who looks."""

import streamlit as st

# In a block, as the page may draw it again and a script shares its names with the others.
_FRAME = """<div id="{name}"></div>
<script>
{{
  const frame = document.createElement("iframe");
  frame.src = "{address}#navpanes=0&view=FitH"; frame.title = "{title}";
  frame.style.cssText = "width: 100%; height: 640px; border: 0; border-radius: 0.4rem";
  document.getElementById("{name}").replaceChildren(frame);
}}
</script>"""
_PICTURE = """<img src="{address}" alt="{title}"
  style="display: block; max-width: 100%; max-height: 640px; margin: 0 auto; border-radius: 0.4rem">"""


def framed(address: str, *, title: str, name: str) -> None:
    """A PDF in the browser's own viewer, which a sandboxed frame like the framework's is denied.

    All three are our own words, never text of others; `name` is that of the place on the page.
    """
    st.html(_FRAME.format(address=address, title=title, name=name), unsafe_allow_javascript=True)


def pictured(address: str, *, title: str) -> None:
    """A picture; the browser fetches it with the session of who looks."""
    st.html(_PICTURE.format(address=address, title=title))
