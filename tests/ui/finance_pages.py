"""Pages of finance, opened by the people of `Finance`."""

import csv
import io
from urllib.parse import parse_qs, urlsplit

from streamlit.testing.v1 import AppTest

from core.desk import export_runs
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen


def open_page(screen: Screen, finance: Finance, path: str, *, by: str = "funmi", **query: str) -> AppTest:
    """Open a page as somebody of finance or an admin; `by` is their name in `Finance`."""
    return screen(path=path, signed_in=finance.people[by], **query)


def exported(at: AppTest, kind: str) -> list[dict[str, str]]:
    """The rows of the file that a list offers as it is shown."""
    links = (urlsplit(link.proto.url) for link in at.get("link_button"))
    shown = next(link for link in links if link.path == f"/exports/{kind}.csv" and "form=people" in link.query)
    address = {name: given for name, given in parse_qs(shown.query).items() if name != "receipt"}
    export_runs.write_file(export_runs.create_order(kind, "csv", address, by="tests"), file := io.BytesIO())
    return list(csv.DictReader(io.StringIO(file.getvalue().decode("utf-8-sig"))))
