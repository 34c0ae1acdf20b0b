"""Load slow modules in the background after start-up."""

import gc
import importlib
import threading
from typing import Final

# Certificates, and exports as workbooks.
PAPERS: Final = ("fpdf", "font_roboto", "segno", "xlsxwriter")


def begin(*first: str) -> None:
    """Import these modules, then those that render documents, in a thread beside the first requests."""
    threading.Thread(target=_load, args=(*first, *PAPERS), name="warming").start()


def _load(*names: str) -> None:
    for name in names:
        importlib.import_module(name)
    # What was loaded stays for good. Looked through again and again for garbage, it would hold up every answer for a
    # fifth of a second each time.
    gc.collect()
    gc.freeze()
