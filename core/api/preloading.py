"""What a server loads once it takes part: needed before long, and too slow to load for a start to wait for it."""

import gc
import importlib
import threading
from typing import Final

# Certificates, and exports as workbooks.
PAPERS: Final = ("fpdf", "font_roboto", "segno", "xlsxwriter")


def begin(*first: str) -> None:
    """Load modules of these names, then what draws papers, beside the first requests; who needs one sooner waits."""
    threading.Thread(target=_load, args=(*first, *PAPERS), name="warming").start()


def _load(*names: str) -> None:
    for name in names:
        importlib.import_module(name)
    # What was loaded stays for good. Looked through again and again for garbage, it would hold up every answer for a
    # fifth of a second each time.
    gc.collect()
    gc.freeze()
