"""Papers as their reader sees them: every page's text is what it has to be, and no cell reaches into another."""

import re
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from core import clock, money
from core.money import Split
from core.services.compliance import pack
from core.services.files import printing
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.services.finance.statements import files
from core.services.finance.statements.files import PaidLine, Paper
from core.services.mail.mail import CLAIM_LETTERS
from core.services.policies import certificates
from core.services.policies.certificates import CertificateFacts
from tests.every_case import every_case
from tests.papers import find_overflows, needs_poppler, read_pages

pytestmark = needs_poppler

AT = datetime(2026, 10, 1, 9, tzinfo=UTC)
NAMES = {f"p{place}": name for place, name in enumerate(("Third-party auto", "Goods in transit", "Credit life"))}
PEOPLE = ("Ngozi Okafor", "Olúwatóyìn Ṣóyínká", "Ibrahim Musa", "Ada O'Neil")
# Lines of a page of a statement: one page has the account alone.
LINES = 37
MARGIN = 38


def line(position: int) -> Any:
    """One line with figures of its own."""
    premium = 1_234_500 + position * 101
    return SimpleNamespace(
        occurred_at=AT + timedelta(minutes=position % 40_000),
        kind=("new", "renewal", "cancellation", "adjustment")[position % 4],
        policy_number=f"ACC/AR/10/26/HQ/{position}",
        customer=PEOPLE[position % len(PEOPLE)],
        product_id=f"p{position % len(NAMES)}",
        effective_at=AT,
        expires_at=datetime(2027, 10, 1, tzinfo=UTC),
        premium_minor=premium,
        rate_bp=1_750,
        commission_minor=-premium // 7,
        vat_minor=position % 900,
        withheld_minor=position % 700,
        net_minor=premium - premium // 7,
    )


def paper(lines: int, **changed: Any) -> Paper:
    """A statement with every row of its account."""
    amounts = ("opening", "premium", "earned", "clawback", "adjusted", "vat", "withheld", "paid", "closing")
    given: dict[str, Any] = {
        "title": "Account current",
        "number": "AC-0024",
        "account": "provider",
        "party": "Anchorline Insurance",
        "month": date(2026, 10, 1),
        **{f"{name}_minor": place * 1_000_003 for place, name in enumerate(amounts, 1)},
        "lines": lines,
        "sha256": "0123456789abcdef" * 4,
        "state": "Sent",
        "facts": {"names": NAMES, "said": {"Agreement": "AG/1", "VAT": "7.50 %. Finance Act"}},
    }
    return Paper(**{**given, **changed})


def figure(minor: int) -> str:
    return money.format_naira(minor).replace("₦", "")


def row_of(position: int) -> str:
    """The row of a line as it has to be read, in single blanks."""
    each = line(position)
    return " ".join(
        (
            str(position),
            f"{clock.to_lagos_day(each.occurred_at):%d/%m/%Y}",
            each.kind,
            each.policy_number,
            each.customer,
            NAMES[each.product_id],
            "01/10/26 – 01/10/27",
            figure(each.premium_minor),
            "17.50",
            figure(each.commission_minor),
            figure(each.vat_minor - each.withheld_minor),
            figure(each.net_minor),
        )
    )


def sums_of(lines: int) -> str:
    every = [line(position) for position in range(1, lines + 1)]
    tax = sum(each.vat_minor - each.withheld_minor for each in every)
    sums = (sum(getattr(each, name) for each in every) for name in ("premium_minor", "commission_minor", "net_minor"))
    premium, commission, net = sums
    return " ".join(map(figure, (premium, commission, tax, net)))


def rows_of(page: str) -> list[str]:
    return [" ".join(row.split()) for row in page.splitlines() if row.strip()]


def render(lines: int, **changed: Any) -> bytes:
    return files.render(paper(lines, **changed), [map(line, range(1, lines + 1))])


@every_case(("title", "account"), [("Commission statement", "distributor"), ("Account current", "provider")])
@every_case("pages", [1, 2, 12])
def test_every_line_of_a_statement_reads_as_its_figures(pages: int, title: str, account: str) -> None:
    lines = (pages - 1) * LINES
    content = render(lines, title=title, account=account)
    read = read_pages(content)
    assert len(read) == pages
    rows = [row for page in read[1:] for row in rows_of(page)]
    numbered = [row for row in rows if re.match(r"\d", row)]
    assert numbered == [row_of(position) for position in range(1, lines + 1)]
    assert find_overflows(content, margin=MARGIN) == []
    for label, minor in paper(lines, title=title, account=account).trailer:
        assert f"{label} {money.format_naira(minor)}" in rows_of(read[0])
    commissions = ("Commission earned", "Clawbacks")
    if account == "provider":
        commissions = ("Commission kept", "Commission given back")
    assert [row[0] for row in paper(lines, account=account).trailer][2:4] == list(commissions)
    for number, page in enumerate(read, 1):
        assert rows_of(page)[-1].endswith(f"Anchorline Insurance Page {number} of {pages}")
    for number, page in enumerate(read[1:], 1):
        label = "Total" if number == pages - 1 else "Carried forward"
        assert f"{label} {sums_of(number * LINES)}" in rows_of(page)


def test_the_number_of_a_page_has_its_thousands() -> None:
    page = printing.create("A long paper", created_at=AT)
    for _ in range(999):
        page.add_page()
    (last,) = read_pages(printing.finish(page, "A long paper"), 1_000)
    assert last.endswith("Page 1,000 of 1,000\n")


@pytest.mark.exhaustive
def test_a_statement_of_2900_pages_reads_at_its_beginning_middle_and_end() -> None:
    lines = 2_899 * LINES - 5
    content = render(lines)
    for page in (2, 3, 1_450, 2_899, 2_900):
        (read,) = read_pages(content, page, page)
        first = (page - 2) * LINES + 1
        wanted = [row_of(position) for position in range(first, min(first + LINES, lines + 1))]
        assert [row for row in rows_of(read) if re.match(r"\d", row)] == wanted
        assert find_overflows(content, margin=MARGIN, first=page, last=page) == []
    (last,) = read_pages(content, 2_900)
    assert f"Total {sums_of(lines)}" in rows_of(last)
    assert rows_of(last)[-1].endswith("Page 2,900 of 2,900")


def test_nothing_of_a_statement_overflows_however_long_it_is() -> None:
    long = line(1)
    long.policy_number = "POLICY/" + "0123456789" * 5
    long.customer = "Olúwatóyìn " * 12
    long.premium_minor = -(10**15) + 1
    long.net_minor = 10**15 - 1
    payments = tuple(
        PaidLine(
            payment_id=UUID(int=place), entry="paid", amount_minor=10**14, value_on=AT.date(), reference="TRF " * 30
        )
        for place in range(8)
    )
    reasons = {f"Basis {place}": "A source of a tax that is long. " * 12 for place in range(7)}
    content = files.render(
        paper(60, payments=payments, party="Insurance " * 20, state="Prepared", facts={"said": reasons}),
        [[long] * 60],
    )
    read = read_pages(content)
    stamped = [word for word in find_overflows(content, margin=MARGIN) if " " in word]
    assert [word for word in stamped if not re.match(r"\w{1,2} ", word)] == []
    assert "".join(read).count("-9,999,999,999,999.99") == 60, "a figure is never cut"
    assert re.sub(r"\s", "", "".join(read)).count("POLICY/") == 60
    assert all("Not approved" in page for page in read), "each page says so at its foot"
    ends = [word for word in re.findall(r"\S+", "".join(read)) if long.policy_number.endswith(word) and len(word) > 5]
    assert ends, "a long number goes on in the next line"


def test_a_statement_names_customers_and_covers_whole_however_long_they_are() -> None:
    long = [line(position) for position in range(1, 81)]
    for each in long[::2]:
        each.customer, each.product_id = "Chukwuemeka Nwachukwu-Ogunbanjo", "p9"
    names = {**NAMES, "p9": "Commercial comprehensive motor, extended to passengers"}
    content = files.render(paper(80, facts={"names": names}), [long])
    read = read_pages(content)
    rows = " ".join(row for page in read[1:] for row in rows_of(page))
    assert "…" not in rows
    for words in ("Chukwuemeka", "Nwachukwu-Ogunbanjo", "Commercial comprehensive", "extended to passengers"):
        assert rows.count(words) == 40, words
    assert find_overflows(content, margin=MARGIN) == []
    numbered = [int(row.split()[0]) for page in read[1:] for row in rows_of(page) if re.match(r"\d+ \d\d/", row)]
    assert numbered == list(range(1, 81)), "a row begins below the last line of the one before"


def test_letters_that_the_font_does_not_have_are_seen_to_be_missing() -> None:
    strange = line(1)
    strange.customer = "Ada 李 Obi"
    (_, page) = read_pages(files.render(paper(1, party="保险"), [[strange]]))
    assert "Ada \N{REPLACEMENT CHARACTER} Obi" in page


_LONGEST = max(CLAIM_LETTERS, key=lambda kind: len(CLAIM_LETTERS[kind][1]))


def letter(kind: str, times: int) -> tuple[str, str]:
    subject, body = CLAIM_LETTERS[kind]
    return subject, "\n\n".join(f"{part}. {body}" for part in range(1, times + 1))


@every_case(("kind", "pages"), [*((kind, 1) for kind in CLAIM_LETTERS), (_LONGEST, 2), (_LONGEST, 6)])
def test_every_letter_reads_as_its_text_on_every_page(kind: str, pages: int) -> None:
    subject, body = letter(kind, {1: 1, 2: 4, 6: 24}[pages])
    content = printing.render_letter(subject=subject, body=body, addressee="Ṣọlá Ọ̀ṣúnlàjà", at=AT, is_live=True)
    read = read_pages(content)
    assert {1: len(read) == 1, 2: len(read) == 2, 6: len(read) >= 6}[pages]
    bodies = [page[: page.rindex(subject)] for page in read]
    assert body.split() == " ".join(bodies).split(subject, 1)[1].split()
    assert all(page.split()[-4:] == ["Page", str(at), "of", str(len(read))] for at, page in enumerate(read, 1))
    assert find_overflows(content, margin=50) == []


def note(**changed: Any) -> CreditNoteRow:
    """A credit note that was paid."""
    absent = dict.fromkeys(CreditNoteRow.__dataclass_fields__)
    given: dict[str, Any] = {
        **absent,
        "id": UUID(int=7),
        "is_live": True,
        "number": "CN-0001",
        "provider": "Anchorline Insurance",
        "product": "Third-party auto",
        "distributor": "Swift Lenders",
        "policy_number": "ACC/AR/10/26/HQ/1",
        "customer": "Olúwatóyìn Ṣóyínká",
        "total_minor": 1_234_567,
        "parts": Split(1_234_567, 123_456, 123_457),
        "reason": "Sold the car",
        "explained": [{"step": "Premium paid", "working": "for 365 days", "amount": "15000.00"}],
        "created_at": AT,
        "state": "Paid",
        "payee": "Olúwatóyìn Ṣóyínká",
        "reference": "TRF 1",
        "value_on": AT.date(),
    }
    return CreditNoteRow(**{**given, **changed})


@every_case("copy", credit_note_reading.COPIES)
@every_case("steps", [1, 25, 75])
def test_every_page_of_a_credit_note_reads_as_its_figures(copy: str, steps: int) -> None:
    explained = [
        {"step": f"Step {at} of it", "working": f"day {at} of {steps}, at the rate", "amount": f"{at}.25"}
        for at in range(1, steps + 1)
    ]
    content = credit_note_reading.render(note(explained=explained, reason="Why it ended. " * 30), copy)
    read = read_pages(content)
    assert {1: len(read) == 1, 25: len(read) == 2, 75: len(read) > 2}[steps]
    rows = [row for page in read for row in rows_of(page)]
    wanted = [f"Step {at} of it day {at} of {steps}, at the rate ₦{at:,}.25" for at in range(1, steps + 1)]
    assert [row for row in rows if row.startswith("Step ")] == wanted
    assert rows.index(wanted[-1]) < rows.index("Payment")
    assert find_overflows(content, margin=MARGIN) == []


def facts(**changed: Any) -> CertificateFacts:
    absent = dict.fromkeys(CertificateFacts.__dataclass_fields__)
    given: dict[str, Any] = {
        **absent,
        "code": "a" * 26,
        "title": "Certificate of motor insurance",
        "insurer": "Anchorline Insurance",
        "policy_number": "ACC/AR/10/26/HQ/1",
        "holder": "Olúwatóyìn Ṣóyínká",
        "product": "Third-party auto",
        "covered": (("Plate", "LSD-123AB"), ("Engine", "ENG 1")),
        "start_at": AT,
        "expiration_at": datetime(2027, 10, 1, tzinfo=UTC),
        "premium_minor": 1_500_000,
        "issued_at": AT,
        "distributor": "Swift Lenders",
        "is_live": True,
    }
    return CertificateFacts(**{**given, **changed})


@every_case("number", ["ACC/AR/10/26/HQ/1", "W" * 60])
def test_a_certificate_is_one_page_on_which_nothing_overflows(number: str) -> None:
    content = certificates.render_certificate(
        replace(facts(), policy_number=number, insurer="Insurance of Nigeria " * 6)
    )
    (read,) = read_pages(content)
    for words in (number, "Olúwatóyìn Ṣóyínká", "LSD-123AB", "₦15,000.00"):
        assert words in read
    assert find_overflows(content, margin=48) == []


def test_the_pack_of_a_person_has_every_value_whole() -> None:
    lengths = [500, *[60] * 11]
    customer = [{f"a rather long name of a column {at}": f"{at} " + "word " * n} for at, n in enumerate(lengths)]
    content = {"records": {"customer": customer}, "files": [], "e-mails": [], "looked_at_by": []}
    made = pack.render("DR-2026-0001", "Ngozi Okafor", content)
    assert sum(page.split().count("word") for page in read_pages(made)) == sum(lengths)
    assert find_overflows(made, margin=44) == []
