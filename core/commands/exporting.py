"""`coverdesk export`: the same files as the screens give, with the same receipts."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer
from rich.console import Console

from core import ids, money
from core.api import exporting
from core.errors import InvalidInput
from core.services import products
from core.services.choices import DIMENSIONS, Dimension, choices
from core.services.exports import Tally
from core.services.receipts import Order
from core.services.selection import Selection
from core.store import engine
from core.store.scope import Scope

app = typer.Typer(help="Exports, each with a receipt.", no_args_is_help=True)
err = Console(stderr=True)
Names = Annotated[
    list[str], typer.Option(help="A name, an id or insurer-a ... insurer-g; repeat it for any of several.")
]
NONE: list[str] = []


@app.callback()
def _of_subjects() -> None:
    """Exports, each with a receipt."""


@app.command("purchases")
def export_purchases(
    from_: Annotated[str, typer.Option("--from", help="First day, YYYY-MM-DD in Lagos.")] = "",
    to: Annotated[str, typer.Option(help="Last day, that day included.")] = "",
    provider: Names = NONE,
    category: Names = NONE,
    product: Names = NONE,
    distributor: Names = NONE,
    email: Annotated[str, typer.Option(help="E-mail of the customer.")] = "",
    source: Annotated[list[str], typer.Option(help="Where sales came from: api, desk, ...")] = NONE,
    mode: Annotated[str, typer.Option(help="live or test.")] = "live",
    out: Annotated[str, typer.Option(help="A file, or - for standard output.")] = "-",
) -> None:
    """Write the purchases of a selection as CSV."""
    if mode not in {"live", "test"}:
        raise typer.BadParameter("must be live or test", param_hint="--mode")
    given = dict(zip(DIMENSIONS, (provider, category, product, distributor), strict=True))
    address = {"from": _given(from_), "to": _given(to), "email": _given(email), "source": source, **_ids(given)}
    order = Order(id=ids.new(), selection=Selection.read(address), is_live=mode == "live", actor="command line")
    tally = _write(order, out)
    total = money.shown(tally.sum_minor)
    err.print(
        f"{tally.rows:,} purchases, {total}; SHA-256 {tally.sha256}; receipt {order.id}",
        highlight=False,
        soft_wrap=True,
    )


def _given(value: str) -> list[str]:
    return [value] if value else []


def _write(order: Order, out: str) -> Tally:
    """Into the file as a whole or not at all: a broken export leaves what was there before."""
    if out == "-":
        return exporting.export_to(order, sys.stdout.buffer)
    target = Path(out)
    draft = target.with_name(f".{target.name}.{order.id}")
    try:
        with draft.open("wb") as file:
            tally = exporting.export_to(order, file)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
    return tally


def _ids(given: Mapping[Dimension, Sequence[str]]) -> dict[str, list[str]]:
    with engine.reading(Scope.system()) as session:
        known, insurers = choices(session), products.insurers(session)
    called = {name: _called(known.names[name]) | (insurers if name == "provider" else {}) for name in given}
    return {name: [_id(name, called[name], value) for value in values] for name, values in given.items()}


def _called(names: Mapping[UUID, str]) -> dict[str, UUID]:
    """The ids by everything that they may be called: themselves and their names, in any case."""
    return {word: key for key, name in names.items() for word in (str(key), name.casefold())}


def _id(dimension: str, called: Mapping[str, UUID], value: str) -> str:
    found = called.get(value.strip().casefold())
    if found is None:
        words = ", ".join(word for word, key in called.items() if word != str(key))
        raise InvalidInput.one(f"--{dimension}", f"must be an id or one of {words}")
    return str(found)
