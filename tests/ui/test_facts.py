"""Facts of a record: a label and its value on one line, and a sentence below its label."""

import pytest

from core.ui.kit import facts

BASIS = "The moment a movement is recorded, as days in Africa/Lagos"


def test_a_sentence_stands_below_its_label_and_begins_where_that_does(monkeypatch: pytest.MonkeyPatch) -> None:
    below: dict[str, str] = {}
    monkeypatch.setattr(facts, "grid", lambda values, **_: below.update(values))
    for label, value in (("Date basis", BASIS), ("VAT", "₦903.56"), ("Prepared", "Demo finance, 3 Nov 2026, 00:00")):
        facts.line(label, value)
    assert below == {"Date basis": BASIS}
