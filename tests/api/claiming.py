"""Lodging claims over the API, for the tests of claims."""

from typing import Any

import httpx

from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from tests import papers
from tests.api.conftest import Client
from tests.conftest import Partner

LODGE = "/v1/claims/credit-life"
PAPER = ("paper.pdf", papers.pdf())


class Lodge:
    """One credit life policy in test mode, and claims of a borrower who lost the job, with both papers."""

    def __init__(self, client: Client, partner: Partner, **changed: Any) -> None:
        self._client, self._key = client, partner.test_key
        self.number = policy_number(client, partner.test_key, **changed)
        self.fields = {
            "policy_number": self.number,
            "incident_type": "Loss of job",
            "accidental": "false",
            "loan_offer_date": "2026-08-01",
            "loan_repayment_date": "2027-08-01",
            "loan_amount": "100000",
            "pending_repayment_amount": "75000.5",
        }

    def __call__(
        self, *, key: str | None = None, headers: dict[str, str] | None = None, **changed: Any
    ) -> httpx.Response:
        """Lodge a claim; what is given changes it, None leaves out."""
        papers_ = {"loan_offer_letter": PAPER, "employment_termination_letter": PAPER}
        parts = {name: value for name, value in {**self.fields, **papers_, **changed}.items() if value is not None}
        return self._client.post(
            LODGE,
            key=key or self._key,
            headers=headers or {},
            data={name: value for name, value in parts.items() if isinstance(value, str)},
            files={name: value for name, value in parts.items() if not isinstance(value, str)} or {"": ("", b"")},
        )


def policy_number(client: Client, key: str, **changed: Any) -> str:
    body = {**build_example(CREDIT_LIFE.request), **changed}
    answer = client.post("/v1/products/buy-credit-life", key=key, json=body)
    assert answer.status_code == 201, answer.text
    number: str = answer.json()["data"]["meta"]["policy_number"]
    return number


def claim_of(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 201, answer.text
    claim: dict[str, Any] = answer.json()["data"]["claim"]
    return claim


def faults_of(answer: httpx.Response) -> dict[str, str]:
    assert answer.status_code == 400, answer.text
    return {fault["field"]: fault["message"] for fault in answer.json()["errorData"]}


def upload(client: Client, key: str, content: bytes = papers.pdf()) -> str:
    answer = client.post("/v1/upload-file", key=key, files={"file": ("a", content)})
    link: str = answer.json()["data"]["file_url"]
    return link


def path_in(link: str) -> str:
    return link.removeprefix("http://127.0.0.1:8501")


def total(client: Client, key: str) -> int:
    count: int = client.get("/v1/claims", key=key).json()["data"]["total_count"]
    return count
