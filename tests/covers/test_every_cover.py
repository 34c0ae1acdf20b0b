"""The promises of every cover: its golden file, its refusals, and fields that it never takes from a client."""

import json
from datetime import date
from typing import Any

import pytest

from core import clock
from core.covers import fields
from core.covers.cover import Cover
from core.covers.fields import InsuredOnce, build_example, get_metadata
from core.covers.pricing import MOST_DAYS_AHEAD, offer
from core.covers.registry import COVERS, get_cover
from core.covers.request import validate
from core.errors import InvalidInput
from tests.covers.shipped import GOLDEN, STILL, body, faults, golden_file, products, rates
from tests.every_case import every_case

NEVER_TAKEN = ("agent_code", "id", "total", "is_live", "mca_profit", "policy_number", "start_at")
BROKEN: tuple[Any, ...] = ("x" * 100_000, "9" * 5_000, "\ud800", {"a": 1}, [[]], True)
PARTS = ("request", "price", "term", "flags", "answer", "payload", "ignored")

every = every_case("cover", COVERS, ids=lambda cover: cover.key)


def made(cover: Cover[Any]) -> dict[str, Any]:
    """Return the sale that a cover makes of its own example, as plain data."""
    sent = build_example(cover.request)
    request = validate(cover.request, sent)
    charged = rates(request.product_id)
    price, term = cover.premium(request, charged), cover.term(request, charged)
    return {
        "request": sent,
        "price": {"total": f"{price.total:.2f}", "steps": price.explain},
        "term": {
            "start": clock.to_wire(term.start_at),
            "activation": clock.to_wire(term.activation_at),
            "expiration": clock.to_wire(term.expiration_at),
        },
        "flags": {"active": cover.initial_state.active, "submitted_to_provider": cover.initial_state.submitted},
        "answer": cover.response_shape.value,
        "payload": cover.payload(request, price),
        "ignored": cover.request.list_ignored({**sent, **dict.fromkeys(NEVER_TAKEN, "1")}),
    }


def marked(cover: Cover[Any], *kinds: type) -> dict[str, Any]:
    """The example values of the fields that carry a mark."""
    found = {
        n for n, f in cover.request.model_fields.items() if any(isinstance(m, kinds) for m in fields.get_metadata(f))
    }
    return {name: value for name, value in build_example(cover.request).items() if name in found}


def test_there_is_one_golden_file_for_each_cover(golden_is_rewritten: bool) -> None:
    if golden_is_rewritten:
        pytest.skip("the golden files are being rewritten")
    assert {path.name for path in GOLDEN.iterdir()} == {golden_file(cover).name for cover in COVERS}


@every
def test_its_golden_file_is_what_it_makes_of_its_example(cover: Cover[Any], golden_is_rewritten: bool) -> None:
    found = made(cover)
    if golden_is_rewritten:
        golden_file(cover).write_text(json.dumps(found, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    golden = json.loads(golden_file(cover).read_text(encoding="utf-8"))
    assert tuple(golden) == PARTS
    for part in PARTS:
        assert found[part] == golden[part], part


@every
def test_its_example_names_an_active_product_of_its_endpoint(cover: Cover[Any]) -> None:
    product = products()[build_example(cover.request)["product_id"]]
    assert product["active"]
    assert (product["prefix"], product["route_name"]) == (cover.prefix, cover.route)
    assert cover.insurer in {"", product["provider"]}
    assert get_cover(cover.prefix, cover.route) is cover


@every
def test_its_example_fills_every_field(cover: Cover[Any]) -> None:
    fields_ = cover.request.model_fields
    left_out = {name for name, field in fields_.items() if any(isinstance(m, InsuredOnce) for m in get_metadata(field))}
    assert set(build_example(cover.request)) == set(fields_) - left_out
    assert left_out == ({"loan_account_number"} if cover.route == "buy-credit-life" else set())
    assert all(field.examples for name, field in fields_.items() if name in left_out)


@every
def test_its_certificate_says_what_is_insured(cover: Cover[Any]) -> None:
    assert [mark.line for _, mark in fields.list_insured(cover.request) if mark.line]


@every
def test_each_missing_required_field_is_named(cover: Cover[Any]) -> None:
    for name, field in cover.request.model_fields.items():
        for blank in (None, "  "):
            sent = {**build_example(cover.request), name: blank}
            assert faults(cover.request, sent) == ({name: "is required"} if field.is_required() else {})


@every
def test_everything_that_is_wrong_is_said_at_once(cover: Cover[Any]) -> None:
    required = {name for name, field in cover.request.model_fields.items() if field.is_required()}
    assert set(faults(cover.request, {})) == required
    assert set(faults(cover.request, {name: {"x": 1} for name in cover.request.model_fields})) >= required


@every
def test_a_value_of_no_list_is_refused_by_name(cover: Cover[Any]) -> None:
    for name, value in marked(cover, fields.Pick, fields.Choice).items():
        wrong = [*value, "no such word"] if isinstance(value, list) else "no such word"
        (field,) = faults(cover.request, body(cover, **{name: wrong}))
        assert field.split(".")[0] == name


@every
def test_a_listed_value_is_taken_in_any_case_and_kept_as_listed(cover: Cover[Any]) -> None:
    plain = validate(cover.request, build_example(cover.request))
    for name, value in marked(cover, fields.Pick, fields.Choice).items():
        shouted = [word.upper() for word in value] if isinstance(value, list) else value.upper()
        found = validate(cover.request, body(cover, **{name: shouted}))
        assert getattr(found, name) == getattr(plain, name)


@every
def test_what_it_does_not_know_is_named_and_never_kept(cover: Cover[Any]) -> None:
    sent = {**build_example(cover.request), **dict.fromkeys(NEVER_TAKEN, "1")}
    assert cover.request.list_ignored(sent) == sorted(NEVER_TAKEN)
    assert not set(NEVER_TAKEN) & set(validate(cover.request, sent).model_dump())


@every
def test_a_misspelt_optional_field_is_refused_with_the_suggestion(cover: Cover[Any]) -> None:
    for name, field in cover.request.model_fields.items():
        if not field.is_required():
            wrong = f"{name[:-1]}{name[-1] * 2}"
            sent = {
                **body(cover, **{name: None}),
                wrong: build_example(cover.request).get(name, (field.examples or [None])[0]),
            }
            assert faults(cover.request, sent) == {wrong: f"is not known, did you mean {name}?"}


@every
def test_control_characters_are_refused_in_every_text(cover: Cover[Any]) -> None:
    for name, value in build_example(cover.request).items():
        if isinstance(value, str):
            for character in "\x00\x07\n\x9f\xad\u061c\u200b\u200e\u2028\u202e\ufeff":
                assert name in faults(cover.request, body(cover, **{name: f"{value[0]}{character}{value[1:]}"}))


@every
def test_no_text_is_without_a_limit_and_none_breaks_the_reader(cover: Cover[Any]) -> None:
    for name, value in build_example(cover.request).items():
        for wrong in BROKEN:
            if isinstance(value, str) or not isinstance(wrong, bool):
                assert name in {field.split(".")[0] for field in faults(cover.request, body(cover, **{name: wrong}))}


@every
def test_no_refusal_repeats_what_was_sent(cover: Cover[Any]) -> None:
    wrong = "22212345678x-{braces}-%s"
    messages = faults(cover.request, dict.fromkeys(cover.request.model_fields, wrong))
    assert messages
    assert not any("22212345678" in message for message in messages.values())


@every
def test_what_its_insurer_is_sent_is_plain_data_with_the_premium(cover: Cover[Any]) -> None:
    sent = made(cover)
    plain = json.loads(json.dumps(sent["payload"]))
    assert plain == sent["payload"]
    assert sent["price"]["total"] in plain.values()


@every
def test_the_steps_end_in_the_total(cover: Cover[Any]) -> None:
    price = made(cover)["price"]
    assert price["steps"][-1]["amount"] == price["total"]


@every
def test_what_is_kept_reads_back_as_the_same_request(cover: Cover[Any]) -> None:
    request = validate(cover.request, build_example(cover.request))
    assert validate(cover.request, request.model_dump(mode="json", exclude_none=True)) == request


@every
def test_a_pending_or_renewed_policy_can_tell_what_was_bought(cover: Cover[Any]) -> None:
    request = validate(cover.request, build_example(cover.request))
    charged = rates(request.product_id)
    submitted = request.model_dump(mode="json", exclude_none=True)
    term = cover.next_term(submitted, charged, clock.today())
    assert term.start_on == term.activation_on == clock.today()
    assert term.expiration_on is not None
    if cover.initial_state.active and cover.route not in {"buy-travel", "buy-credit-life", "buy-marine-import-cover"}:
        assert term == cover.term(request, charged)


def test_no_cover_begins_further_ahead_than_its_product_is_sold() -> None:
    """A first day that the buyer chooses is at most a year ahead, or as many days as the product's own figure says."""
    chosen = {cover.key: cover.starts_by for cover in COVERS if cover.starts_by}
    assert chosen == {
        "buy-credit-life": "loan_start_date",
        "buy-travel": "departure_date",
        "insurer-b/buy-home-content-cover": "insurance_start_date",
        "insurer-b/buy-office-content-cover": "insurance_start_date",
        "insurer-d/buy-mini-comprehensive": "insurance_start_date",
        "insurer-e/buy-marine-import-cover": "shipping_date",
    }
    wrong = {}
    with clock.freeze(STILL):
        for cover in COVERS:
            named = {cover.starts_by, *(name for name in cover.request.model_fields if name.endswith("start_date"))}
            for name in named - {None}:
                for own, days, fault in (({}, 1825, []), ({}, 1826, [name]), ({MOST_DAYS_AHEAD: 30}, 31, [name])):
                    found = started(cover, name, clock.add_days(clock.today(), days), own)
                    if found != fault:
                        wrong[cover.key, name, days] = found
    assert wrong == {}


def started(cover: Cover[Any], name: str, day: date, own: dict[str, Any]) -> list[str]:
    """The fields at fault of a cover that begins on a day, by rates with figures of their own."""
    changed = {name: str(day)} | ({"arrival_date": str(clock.add_days(day, 5))} if name == "departure_date" else {})
    request = validate(cover.request, body(cover, **changed))
    charged = rates(request.product_id)
    try:
        offer(cover, request, rates(request.product_id, meta={**charged.meta, **own}))
    except InvalidInput as refused:
        return [fault.field for fault in refused.faults]
    return []
