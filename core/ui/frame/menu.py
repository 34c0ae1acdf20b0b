"""The menu: every screen once, with its section and the roles that may open it (contract A1).

A screen is drawn by a function of a module under pages/, which is imported once, when the screen is first opened.
"""

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final

from core.services.people.staff import Person
from core.settings import ROOT
from core.ui.frame import frame

# An installed wheel has pages/ among what it ships, where Python does not look by itself.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@dataclass(frozen=True, slots=True)
class Screen:
    """A page: `path` is its file under pages/ and, after a "#", its name where a file draws several screens.

    The name, or the file's, is its URL; hidden pages are reached by links.
    """

    title: str
    path: str
    icon: str
    roles: tuple[str, ...]
    hidden: bool = field(default=False, kw_only=True)

    @property
    def section(self) -> str:
        """Return the section of the menu, which is that of its folder."""
        return self.path.partition("/")[0].capitalize()

    @property
    def purpose(self) -> str:
        """Return what it is for, as those read it who look for it or may not open it."""
        return _PURPOSES[self.path]

    @property
    def address(self) -> str:
        """Return the URL path of the page."""
        return frame.address_of(self.path)

    def load(self) -> Callable[[], None]:
        """Return what draws it: `draw` of pages/sales/purchases.py, or its `draw_purchase` for "...py#purchase"."""
        file, _, name = self.path.partition("#")
        module = import_module(f"pages.{file.removesuffix('.py').replace('/', '.')}")
        drawn: Callable[[], None] = getattr(module, f"draw_{name}" if name else "draw")
        return drawn

    def draw(self) -> None:
        """Draw the screen."""
        self.load()()


_SALES = ("operations", "finance")
_CUSTOMERS = ("operations", "claims")
_POLICIES = ("operations", "claims", "supervisor")
_CLAIMS = ("claims", "supervisor")
_OPERATIONS = ("operations",)
_BOOKS = ("operations", "supervisor")
_FINANCE = ("finance",)
_ADMIN = ("admin",)
_PRIVACY = ("compliance",)
SCREENS: tuple[Screen, ...] = (
    Screen("Dashboard", "sales/dashboard.py", "monitoring", _SALES),
    Screen("Purchases", "sales/purchases.py", "receipt_long", _SALES),
    Screen("Purchase", "sales/purchases.py#purchase", "receipt", _SALES, hidden=True),
    # Listed before the policies: a person's first screen is their home, and this one is the claim officers'.
    Screen("Queue", "claims/queue.py", "inbox", _CLAIMS),
    Screen("Claim", "claims/claim.py", "gavel", _CLAIMS, hidden=True),
    Screen("Lodge a claim", "claims/lodge.py", "note_add", _CLAIMS),
    Screen("My tasks", "claims/tasks.py", "task_alt", _CLAIMS),
    Screen("Performance", "claims/performance.py", "speed", _CLAIMS),
    Screen("Renewals", "sales/renewals.py", "autorenew", _SALES),
    Screen("Due for renewal", "sales/due.py", "event_upcoming", _SALES),
    Screen("Customers", "sales/customers.py", "group", _CUSTOMERS),
    Screen("Customer", "sales/customers.py#customer", "person", _POLICIES, hidden=True),
    Screen("Policy search", "policies/search.py", "search", _POLICIES),
    Screen("Awaiting insurer", "policies/awaiting.py", "hourglass_top", _OPERATIONS),
    Screen("Policy", "policies/policy.py", "policy", _POLICIES, hidden=True),
    Screen("Credit life", "buy/credit_life.py", "calculate", _OPERATIONS),
    Screen("Buy", "buy/buy.py", "shopping_cart", _OPERATIONS),
    Screen("Loan books", "buy/loan_books.py", "menu_book", _BOOKS),
    Screen("Loan book", "buy/loan_book.py", "menu_book", _BOOKS, hidden=True),
    Screen("Movements", "finance/movements.py", "swap_vert", _SALES),
    Screen("Movement", "finance/movements.py#movement", "swap_vert", _SALES, hidden=True),
    Screen("Statements", "finance/statements.py", "request_quote", _FINANCE),
    Screen("Statement", "finance/statements.py#statement", "request_quote", _FINANCE, hidden=True),
    Screen("Payments", "finance/payments.py", "payments", _FINANCE),
    Screen("Payment", "finance/payments.py#payment", "payments", _FINANCE, hidden=True),
    Screen("Payout", "finance/payout.py", "payments", _FINANCE, hidden=True),
    Screen("Credit notes", "finance/credit_notes.py", "undo", _FINANCE),
    Screen("Credit note", "finance/credit_notes.py#credit_note", "undo", _FINANCE, hidden=True),
    Screen("Ageing", "finance/ageing.py", "hourglass_bottom", _FINANCE),
    Screen("Claims to pay", "finance/claim_payments.py", "gavel", _FINANCE),
    Screen("Bordereaux", "finance/bordereaux.py", "assignment_turned_in", _FINANCE),
    Screen("Bordereau", "finance/bordereaux.py#bordereau", "assignment_turned_in", _FINANCE, hidden=True),
    Screen("Reconcile", "finance/reconcile.py", "balance", _FINANCE),
    Screen("Reconciliation", "finance/reconciliation.py", "balance", _FINANCE, hidden=True),
    Screen("Difference", "finance/reconciliation.py#difference", "balance", _FINANCE, hidden=True),
    Screen("Month close", "finance/close.py", "lock_clock", _FINANCE),
    Screen("Exports", "finance/exports.py", "file_export", _SALES),
    Screen("Export", "finance/exports.py#export", "receipt_long", _SALES, hidden=True),
    Screen("Data requests", "compliance/requests.py", "contact_mail", _PRIVACY),
    Screen("Data request", "compliance/requests.py#request", "contact_mail", _PRIVACY, hidden=True),
    Screen("Retention", "compliance/retention.py", "auto_delete", _PRIVACY),
    Screen("Erasure", "compliance/retention.py#erasure", "auto_delete", _PRIVACY, hidden=True),
    Screen("Breaches", "compliance/breaches.py", "gpp_bad", _PRIVACY),
    Screen("Breach", "compliance/breaches.py#breach", "gpp_bad", _PRIVACY, hidden=True),
    Screen("Complaints", "compliance/complaints.py", "feedback", _PRIVACY),
    Screen("Complaint", "compliance/complaints.py#complaint", "feedback", _PRIVACY, hidden=True),
    Screen("Returns and licences", "compliance/returns.py", "event_note", _PRIVACY),
    Screen("Return", "compliance/returns.py#filing", "event_note", _PRIVACY, hidden=True),
    Screen("Figures", "compliance/figures.py", "tune", _PRIVACY),
    Screen("Staff", "admin/staff.py", "group", _ADMIN),
    Screen("Person", "admin/staff.py#person", "person", _ADMIN, hidden=True),
    Screen("API keys", "admin/keys.py", "key", _ADMIN),
    Screen("API key", "admin/keys.py#key", "vpn_key", _ADMIN, hidden=True),
    Screen("Products", "admin/products.py", "inventory_2", _OPERATIONS),
    Screen("Product", "admin/product.py", "inventory_2", _OPERATIONS, hidden=True),
    Screen("Rates", "admin/rates.py", "price_change", _ADMIN, hidden=True),
    Screen("Distributors and insurers", "admin/partners.py", "handshake", _ADMIN),
    Screen("Distributor", "admin/partners.py#distributor", "storefront", _ADMIN, hidden=True),
    Screen("Insurer", "admin/partners.py#insurer", "shield", _ADMIN, hidden=True),
    Screen("Webhooks", "admin/webhooks.py", "webhook", _ADMIN),
    Screen("Endpoint", "admin/webhooks.py#webhook", "webhook", _ADMIN, hidden=True),
    Screen("Delivery", "admin/webhooks.py#delivery", "outbox", _ADMIN, hidden=True),
    Screen("Agreement", "admin/agreement.py", "contract", _ADMIN, hidden=True),
    Screen("Audit log", "admin/audit_log.py", "history", _ADMIN),
    Screen("Entry", "admin/audit_log.py#audit_entry", "history", _ADMIN, hidden=True),
    Screen("E-mail texts", "admin/mail_texts.py", "mail", _ADMIN),
    Screen("System", "admin/system.py", "dns", _ADMIN),
)
# Purposes by path, shown to those who may not open the screen and in the command palette.
_PURPOSES: Final[Mapping[str, str]] = {
    "sales/dashboard.py": "The figures of sales: premium, policies, commissions, renewals, and what is stuck.",
    "sales/purchases.py": "Every sale with its customer, its policy and the split of the money.",
    "sales/purchases.py#purchase": "One sale with its customer, its policy and the split of the money.",
    "claims/queue.py": "The claims to be worked on, by the days left of the 60.",
    "claims/claim.py": "One claim: its documents, its cover, its history and the decisions on it.",
    "claims/tasks.py": "What is to be done on claims, by the day it is due.",
    "claims/lodge.py": "Take a claim in for a caller, on any policy.",
    "claims/performance.py": "How long claims take and how they are decided.",
    "sales/renewals.py": "Every further term of a policy with the split of the money.",
    "sales/due.py": "The policies whose cover ends soon or has just ended.",
    "sales/customers.py": "The people and businesses who bought a policy.",
    "sales/customers.py#customer": "One customer with all purchases, renewals, policies and claims.",
    "policies/search.py": "Policies by number, plate, name, e-mail or phone.",
    "policies/awaiting.py": "The policies that their insurer has not accepted yet.",
    "policies/policy.py": "One policy: its cover, certificate, money, claims and history.",
    "buy/credit_life.py": "Price credit life step by step, and sell it.",
    "buy/buy.py": "Sell any cover other than credit life.",
    "buy/loan_books.py": "A lender's loans of a month from one file: one person uploads it, another confirms it.",
    "buy/loan_book.py": "One loan book: what is in it, and the result of each row.",
    "finance/movements.py": "Find the money of any sale, refund or adjustment, and what no insurer has taken yet.",
    "finance/movements.py#movement": (
        "Trace one amount to its sale, and correct it by an adjustment that two people make."
    ),
    "finance/statements.py": "Prepare, approve and send what each party is owed for a month.",
    "finance/statements.py#statement": (
        "Check one party's account of a month line by line, and take it to the next step."
    ),
    "finance/payments.py": "What is due with each party, and the payments that settle it.",
    "finance/payments.py#payment": "One payment and the statements that it settles.",
    "finance/payout.py": "One payout with its payments and its bank file.",
    "finance/credit_notes.py": "What goes back to customers, approved and paid by different people.",
    "finance/credit_notes.py#credit_note": "One credit note with its term, its arithmetic and its shares.",
    "finance/ageing.py": "What is payable and receivable with each party, by how long it waits.",
    "finance/claim_payments.py": "The payments of claims that supervisors have handed to finance.",
    "finance/bordereaux.py": "Premium and claims of a month as they are reported to each insurer.",
    "finance/bordereaux.py#bordereau": "One bordereau with its rows and its files.",
    "finance/reconcile.py": "The file of an insurer or the bank against our records of a month.",
    "finance/reconciliation.py": "One file that was compared, with its differences.",
    "finance/reconciliation.py#difference": "One difference with its explanation and history.",
    "finance/close.py": "The checklist of a month, its closing by two people, and its journal.",
    "finance/exports.py": "The files that were exported, with their receipts.",
    "finance/exports.py#export": "The receipt of one exported file.",
    "compliance/requests.py": "What people ask about their data, by the days left to answer.",
    "compliance/requests.py#request": "One request: identity, records, pack, erasure and outcome.",
    "compliance/retention.py": "Records past their retention period, erased by two people, and records on hold.",
    "compliance/retention.py#erasure": "One erasure: what it takes, who decided, and its certificate.",
    "compliance/breaches.py": "Breaches of personal data, with the hours left to notify.",
    "compliance/breaches.py#breach": "One breach: what was opened, the risk, and who was told.",
    "compliance/complaints.py": "Complaints by insurer, and premiums that were not notified in time.",
    "compliance/complaints.py#complaint": "One complaint and its answer.",
    "compliance/returns.py": "What is due to authorities, and the licences of distributors.",
    "compliance/returns.py#filing": "One return: prepared, checked and sent.",
    "compliance/figures.py": "Deadlines and limits with their source, and the figures of a year as a file.",
    "admin/staff.py": "The people who sign in here, and their roles.",
    "admin/staff.py#person": "One colleague: roles, limit and sessions.",
    "admin/keys.py": "The keys with which distributors reach the API.",
    "admin/keys.py#key": "One key of a distributor.",
    "admin/products.py": "What is sold, at which prices and commissions.",
    "admin/product.py": "One product with its prices and commissions over time.",
    "admin/rates.py": "A change of the rates of a product.",
    "admin/partners.py": "The distributors that sell and the insurers that carry the risk.",
    "admin/partners.py#distributor": "One distributor with its keys, products and figures.",
    "admin/partners.py#insurer": "One insurer and its connection.",
    "admin/agreement.py": "Enter the terms agreed with a distributor or insurer, and the account where it is paid.",
    "admin/webhooks.py": "Register the endpoints to which events are sent, and see whether they arrive.",
    "admin/webhooks.py#webhook": "Change one endpoint or its secret, replay events to it, and see what reached it.",
    "admin/webhooks.py#delivery": "Read one event as it was sent to an endpoint, and the answer to each try.",
    "admin/audit_log.py": "Who changed what, and when.",
    "admin/audit_log.py#audit_entry": "One entry of the audit log.",
    "admin/mail_texts.py": "What the desk writes to policyholders and distributors.",
    "admin/system.py": "The state of the store, the queue and the server.",
}


def allowed_screens(person: Person) -> list[Screen]:
    """Return the screens that a person may open, in menu order; the first visible one is their home."""
    return [screen for screen in SCREENS if person.has_role(*screen.roles)]


def refused_screens(person: Person) -> list[Screen]:
    """Return the screens that this person may not open."""
    return [screen for screen in SCREENS if not person.has_role(*screen.roles)]


def screen_of(path: str) -> Screen:
    """Return the screen of a page file."""
    return next(screen for screen in SCREENS if screen.path == path)


def open_to(screen: Screen) -> str:
    """Return which roles may open a screen: "open to the roles claims, supervisor and admin"."""
    *others, last = [*(role for role in screen.roles if role != "admin"), "admin"]
    return f"open to the roles {', '.join(others)} and {last}" if others else f"open to the role {last} only"
