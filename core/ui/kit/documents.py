"""PDFs and pictures embedded in a page, from URLs of this application that check the session."""

import streamlit as st

_HEIGHT = "640px"
# In a block: the page may be redrawn, and scripts share one global scope.
_FRAME = """<div id="{name}"></div>
<script>
{{
  const frame = document.createElement("iframe");
  frame.src = "{address}#navpanes=0&view=FitH"; frame.title = "{title}";
  frame.style.cssText = "width: 100%; height: {height}; border: 0; border-radius: 0.4rem";
  document.getElementById("{name}").replaceChildren(frame);
}}
</script>"""
_PICTURE = """<img src="{address}" alt="{title}"
  style="display: block; max-width: 100%; max-height: {height}; margin: 0 auto; border-radius: 0.4rem">"""


def embed_pdf(address: str, *, title: str, name: str, height: str = _HEIGHT) -> None:
    """Embed a PDF in the browser's own viewer, which does not work in a sandboxed frame like Streamlit's.

    All arguments must be the application's own text, never user input; `name` identifies the place on the page.
    """
    st.html(_FRAME.format(address=address, title=title, name=name, height=height), unsafe_allow_javascript=True)


def show_picture(address: str, *, title: str, height: str = _HEIGHT) -> None:
    """Show a picture; the browser fetches it with the session of the signed-in person."""
    st.html(_PICTURE.format(address=address, title=title, height=height))
