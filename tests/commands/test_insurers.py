"""Commands of the insurers' side: what they refuse, and that the sandbox's words are written down."""

import pytest

from core.errors import InvalidSetting
from core.insurers import sandbox
from core.settings import ROOT, Insurer, Settings, settings
from tests.commands.command_line import coverdesk


def test_sandbox_refuses_a_word_that_it_does_not_know() -> None:
    assert coverdesk("sandbox-insurer", "--always", "sings").returncode == 2


def test_every_word_of_the_sandbox_is_documented() -> None:
    page = (ROOT / "docs" / "insurers.md").read_text()
    assert [word for word in sandbox.BEHAVIOURS if f"| `{word}` |" not in page] == []


@pytest.mark.parametrize(
    ("name", "value", "wants"),
    [
        ("INSURER_A_URL", "https://user:secret@insurer.example", "bare address"),
        ("INSURER_B_TEST_URL", "http://insurer.example", "must be https"),
        ("INSURER_C_KEY", "line\nbreak-in-it", "visible ASCII"),
        ("INSURER_C_KEY", "short", "visible ASCII"),
    ],
)
def test_unsafe_connection_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, wants: str
) -> None:
    monkeypatch.setenv(f"COVERDESK_{name}", value)
    settings.cache_clear()
    with pytest.raises(InvalidSetting, match=f"COVERDESK_{name}: .*{wants}") as refused:
        settings()
    assert "secret" not in str(refused.value)
    settings.cache_clear()


def test_test_records_have_an_address_of_their_own_or_a_sandbox() -> None:
    real, sandboxed = "https://insurer.example", "http://127.0.0.1:8600"

    def insurer_a(**given: str) -> Settings:
        return Settings(insurers={"insurer-a": Insurer(**given)})

    assert insurer_a(url=real).insurer_url("insurer-a", is_live=False) is None
    assert insurer_a(url=sandboxed).insurer_url("insurer-a", is_live=False) == sandboxed
    both = insurer_a(url=real, test_url="https://test.insurer.example")
    assert both.insurer_url("insurer-a", is_live=False) == "https://test.insurer.example"
    assert both.insurer_url("insurer-a") == real
