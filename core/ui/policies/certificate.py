"""The certificate of a policy on a screen: its URL and its download."""

import streamlit as st

from core.services.policies import certificate_pdf, certificates
from core.store.access import reading
from core.ui.kit import documents, frame


def address(code: str) -> str:
    """Return the URL path of a certificate; relative, so that the browser stays on its current host."""
    return f"/certificates/{code}.pdf"


def show(code: str) -> None:
    """Show the certificate in the browser's own viewer."""
    documents.framed(address(code), title="Certificate", name="certificate-viewer")


def download(code: str) -> None:
    """Draw a download button; the certificate is generated on click."""
    st.download_button(
        "Download",
        data=lambda: _made(code),
        file_name=f"certificate-{code[:8]}.pdf",
        mime="application/pdf",
        icon=":material/download:",
        on_click="ignore",
    )


def _made(code: str) -> bytes:
    with reading(frame.scope()) as session:
        facts = certificates.get_by_code(session, code)
    return certificate_pdf.render(facts)
