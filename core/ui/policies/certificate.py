"""The certificate of a policy on a screen: its address here, and the file to keep."""

import streamlit as st

from core.services.policies import certificate_pdf, certificates
from core.store.access.engine import reading
from core.ui.kit import documents, frame


def address(code: str) -> str:
    """Where this process serves a certificate; relative, so that the browser stays on the address it came by."""
    return f"/certificates/{code}.pdf"


def show(code: str) -> None:
    """The certificate in the browser's own viewer."""
    documents.framed(address(code), title="Certificate", name="certificate-viewer")


def download(code: str) -> None:
    """A button that saves the certificate; it is made when it is asked for."""
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
        facts = certificates.by_code(session, code)
    return certificate_pdf.rendered(facts)
