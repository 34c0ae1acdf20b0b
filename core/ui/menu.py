"""The menu: every screen once, with its section and the roles that have it (contract A1)."""

from dataclasses import dataclass

from core.services.staff import Person


@dataclass(frozen=True, kw_only=True, slots=True)
class Screen:
    """One page: `path` is its file under pages/, its stem is its address; hidden ones are reached by links."""

    section: str
    title: str
    path: str
    icon: str
    roles: tuple[str, ...]
    hidden: bool = False

    @property
    def address(self) -> str:
        """The page's part of the URL: "sales/purchases.py" -> "purchases"."""
        return self.path.rpartition("/")[2].removesuffix(".py")


_SALES = ("operations", "finance")
_POLICIES = ("operations", "claims")
SCREENS: tuple[Screen, ...] = (
    Screen(section="Sales", title="Dashboard", path="sales/dashboard.py", icon="monitoring", roles=_SALES),
    Screen(section="Sales", title="Purchases", path="sales/purchases.py", icon="receipt_long", roles=_SALES),
    Screen(section="Sales", title="Purchase", path="sales/purchase.py", icon="receipt", roles=_SALES, hidden=True),
    Screen(section="Policies", title="Policy search", path="policies/search.py", icon="search", roles=_POLICIES),
    Screen(section="Policies", title="Policy", path="policies/policy.py", icon="policy", roles=_POLICIES, hidden=True),
    Screen(section="Buy", title="Credit life", path="buy/credit_life.py", icon="calculate", roles=("operations",)),
    Screen(section="Buy", title="Buy", path="buy/buy.py", icon="shopping_cart", roles=("operations",)),
)


def allowed(person: Person) -> list[Screen]:
    """The screens that a person has, in the order of the menu; the first visible one is their home."""
    return [screen for screen in SCREENS if person.may(*screen.roles)]


def refused(person: Person) -> list[Screen]:
    """The screens whose address refuses this person."""
    return [screen for screen in SCREENS if not person.may(*screen.roles)]
