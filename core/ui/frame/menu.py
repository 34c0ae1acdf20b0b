"""The menu: every screen once, with its section and the roles that may open it (contract A1).

A screen is a module under pages/ that is imported once, when it is first opened, and drawn by its `draw()`.
"""

import sys
from dataclasses import dataclass
from importlib import import_module

from core.services.people.staff import Person
from core.settings import ROOT

# An installed wheel has pages/ among what it ships, where Python does not look by itself.
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))


@dataclass(frozen=True, kw_only=True, slots=True)
class Screen:
    """A page: `path` is its module under pages/, the stem of which is its URL; hidden pages are reached by links."""

    section: str
    title: str
    path: str
    icon: str
    roles: tuple[str, ...]
    hidden: bool = False

    @property
    def address(self) -> str:
        """Return the URL path of the page: "sales/purchases.py" -> "purchases"."""
        return self.path.rpartition("/")[2].removesuffix(".py")

    @property
    def module(self) -> str:
        """Return the name of its module: "sales/purchases.py" -> "pages.sales.purchases"."""
        return f"pages.{self.path.removesuffix('.py').replace('/', '.')}"

    def draw(self) -> None:
        """Draw the screen."""
        import_module(self.module).draw()


_SALES = ("operations", "finance")
_CUSTOMERS = ("operations", "claims")
_POLICIES = ("operations", "claims", "supervisor")
_CLAIMS = ("claims", "supervisor")
_PRODUCTS = ("operations",)
_BOOKS = ("operations", "supervisor")
_FINANCE = ("finance",)
_ADMIN = ("admin",)
_PRIVACY = ("compliance",)
SCREENS: tuple[Screen, ...] = (
    Screen(section="Sales", title="Dashboard", path="sales/dashboard.py", icon="monitoring", roles=_SALES),
    Screen(section="Sales", title="Purchases", path="sales/purchases.py", icon="receipt_long", roles=_SALES),
    Screen(section="Sales", title="Purchase", path="sales/purchase.py", icon="receipt", roles=_SALES, hidden=True),
    # Listed before the policies: a person's first screen is their home, and this one is the claim officers'.
    Screen(section="Claims", title="Queue", path="claims/queue.py", icon="inbox", roles=_CLAIMS),
    Screen(section="Claims", title="Claim", path="claims/claim.py", icon="gavel", roles=_CLAIMS, hidden=True),
    Screen(section="Claims", title="Lodge a claim", path="claims/lodge.py", icon="note_add", roles=_CLAIMS),
    Screen(section="Claims", title="My tasks", path="claims/tasks.py", icon="task_alt", roles=_CLAIMS),
    Screen(section="Claims", title="Performance", path="claims/performance.py", icon="speed", roles=_CLAIMS),
    Screen(section="Sales", title="Renewals", path="sales/renewals.py", icon="autorenew", roles=_SALES),
    Screen(section="Sales", title="Due for renewal", path="sales/due.py", icon="event_upcoming", roles=_SALES),
    Screen(section="Sales", title="Customers", path="sales/customers.py", icon="group", roles=_CUSTOMERS),
    Screen(section="Sales", title="Customer", path="sales/customer.py", icon="person", roles=_POLICIES, hidden=True),
    Screen(section="Policies", title="Policy search", path="policies/search.py", icon="search", roles=_POLICIES),
    Screen(
        section="Policies",
        title="Awaiting insurer",
        path="policies/awaiting.py",
        icon="hourglass_top",
        roles=("operations",),
    ),
    Screen(section="Policies", title="Policy", path="policies/policy.py", icon="policy", roles=_POLICIES, hidden=True),
    Screen(section="Buy", title="Credit life", path="buy/credit_life.py", icon="calculate", roles=("operations",)),
    Screen(section="Buy", title="Buy", path="buy/buy.py", icon="shopping_cart", roles=("operations",)),
    Screen(section="Buy", title="Loan books", path="buy/loan_books.py", icon="menu_book", roles=_BOOKS),
    Screen(section="Buy", title="Loan book", path="buy/loan_book.py", icon="menu_book", roles=_BOOKS, hidden=True),
    Screen(section="Finance", title="Movements", path="finance/movements.py", icon="swap_vert", roles=_SALES),
    Screen(
        section="Finance", title="Movement", path="finance/movement.py", icon="swap_vert", roles=_SALES, hidden=True
    ),
    Screen(
        section="Finance", title="Statements", path="finance/statements.py", icon="request_quote", roles=("finance",)
    ),
    Screen(
        section="Finance",
        title="Statement",
        path="finance/statement.py",
        icon="request_quote",
        roles=("finance",),
        hidden=True,
    ),
    Screen(section="Finance", title="Payments", path="finance/payments.py", icon="payments", roles=_FINANCE),
    Screen(section="Finance", title="Payment", path="finance/payment.py", icon="payments", roles=_FINANCE, hidden=True),
    Screen(section="Finance", title="Payout", path="finance/payout.py", icon="payments", roles=_FINANCE, hidden=True),
    Screen(section="Finance", title="Credit notes", path="finance/credit_notes.py", icon="undo", roles=_FINANCE),
    Screen(
        section="Finance", title="Credit note", path="finance/credit_note.py", icon="undo", roles=_FINANCE, hidden=True
    ),
    Screen(section="Finance", title="Ageing", path="finance/ageing.py", icon="hourglass_bottom", roles=_FINANCE),
    Screen(section="Finance", title="Claims to pay", path="finance/claim_payments.py", icon="gavel", roles=_FINANCE),
    Screen(
        section="Finance",
        title="Bordereaux",
        path="finance/bordereaux.py",
        icon="assignment_turned_in",
        roles=_FINANCE,
    ),
    Screen(
        section="Finance",
        title="Bordereau",
        path="finance/bordereau.py",
        icon="assignment_turned_in",
        roles=_FINANCE,
        hidden=True,
    ),
    Screen(section="Finance", title="Reconcile", path="finance/reconcile.py", icon="balance", roles=_FINANCE),
    Screen(
        section="Finance",
        title="Reconciliation",
        path="finance/reconciliation.py",
        icon="balance",
        roles=_FINANCE,
        hidden=True,
    ),
    Screen(
        section="Finance", title="Difference", path="finance/difference.py", icon="balance", roles=_FINANCE, hidden=True
    ),
    Screen(section="Finance", title="Month close", path="finance/close.py", icon="lock_clock", roles=_FINANCE),
    Screen(section="Finance", title="Exports", path="finance/exports.py", icon="file_export", roles=_SALES),
    Screen(section="Finance", title="Export", path="finance/export.py", icon="receipt_long", roles=_SALES, hidden=True),
    *(
        Screen(
            section="Compliance", title=title, path=f"compliance/{page}.py", icon=icon, roles=_PRIVACY, hidden=is_hidden
        )
        for title, page, icon, is_hidden in (
            ("Data requests", "requests", "contact_mail", False),
            ("Data request", "request", "contact_mail", True),
            ("Retention", "retention", "auto_delete", False),
            ("Erasure", "erasure", "auto_delete", True),
            ("Breaches", "breaches", "gpp_bad", False),
            ("Breach", "breach", "gpp_bad", True),
            ("Complaints", "complaints", "feedback", False),
            ("Complaint", "complaint", "feedback", True),
            ("Returns and licences", "returns", "event_note", False),
            ("Return", "filing", "event_note", True),
            ("Figures", "figures", "tune", False),
        )
    ),
    Screen(section="Admin", title="Staff", path="admin/staff.py", icon="group", roles=("admin",)),
    Screen(section="Admin", title="Person", path="admin/person.py", icon="person", roles=("admin",), hidden=True),
    Screen(section="Admin", title="API keys", path="admin/keys.py", icon="key", roles=("admin",)),
    Screen(section="Admin", title="API key", path="admin/key.py", icon="vpn_key", roles=("admin",), hidden=True),
    Screen(section="Admin", title="Products", path="admin/products.py", icon="inventory_2", roles=_PRODUCTS),
    Screen(section="Admin", title="Product", path="admin/product.py", icon="inventory_2", roles=_PRODUCTS, hidden=True),
    Screen(section="Admin", title="Rates", path="admin/rates.py", icon="price_change", roles=_ADMIN, hidden=True),
    Screen(
        section="Admin", title="Distributors and insurers", path="admin/partners.py", icon="handshake", roles=_ADMIN
    ),
    Screen(
        section="Admin", title="Distributor", path="admin/distributor.py", icon="storefront", roles=_ADMIN, hidden=True
    ),
    Screen(section="Admin", title="Insurer", path="admin/insurer.py", icon="shield", roles=_ADMIN, hidden=True),
    Screen(section="Admin", title="Webhooks", path="admin/webhooks.py", icon="webhook", roles=_ADMIN),
    Screen(section="Admin", title="Endpoint", path="admin/webhook.py", icon="webhook", roles=_ADMIN, hidden=True),
    Screen(section="Admin", title="Delivery", path="admin/delivery.py", icon="outbox", roles=_ADMIN, hidden=True),
    Screen(section="Admin", title="Agreement", path="admin/agreement.py", icon="contract", roles=_ADMIN, hidden=True),
    Screen(section="Admin", title="Audit log", path="admin/audit_log.py", icon="history", roles=_ADMIN),
    Screen(section="Admin", title="Entry", path="admin/audit_entry.py", icon="history", roles=_ADMIN, hidden=True),
    Screen(section="Admin", title="E-mail texts", path="admin/mail_texts.py", icon="mail", roles=_ADMIN),
    Screen(section="Admin", title="System", path="admin/system.py", icon="dns", roles=("admin",)),
)


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
    """Return which roles may open a screen: "open to claims or supervisor, and to admin"."""
    others = [role for role in screen.roles if role != "admin"]
    return f"open to {' or '.join(others)}, and to admin" if others else "open to admin only"
