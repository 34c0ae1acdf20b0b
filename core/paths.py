"""Folders of this installation, in a checkout and in an installed wheel."""

from pathlib import Path
from typing import Final

# A wheel carries app.py, pages, data and docs here (pyproject.toml); a checkout has them beside `core`.
_SHIPPED: Final = Path(__file__).parent / "shipped"
IS_CHECKOUT: Final = not _SHIPPED.is_dir()
ROOT: Final = Path(__file__).parents[1] if IS_CHECKOUT else _SHIPPED
# Where a store goes that nobody named. An installed wheel is not written to: it belongs to root, and the next release
# replaces it.
VAR: Final = (ROOT if IS_CHECKOUT else Path.cwd()) / "data" / "var"
