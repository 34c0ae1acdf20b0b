"""The filters of the policy search; like those of the sales, their whole state is kept in the URL."""

from dataclasses import dataclass

from core.services.dimensions import Choices
from core.services.people.staff import Person
from core.services.policies.policies import PolicyFilter
from core.ui.kit import url_state
from core.ui.lists import periods, saved_views
from core.ui.sales import sales_filters, search_box
from core.ui.sales.sales_filters import Asked
from core.ui.sales.search_box import SearchText


@dataclass(frozen=True, slots=True)
class Search:
    """The parsed query parameters of the search, and its text."""

    box: SearchText
    asked: Asked[PolicyFilter]

    @property
    def fault(self) -> str | None:
        """The reason why the text cannot be searched."""
        return self.box.fault


def read(names: Choices) -> Search:
    """Read the search from the URL; unknown values of a choice are dropped, a wrong text is shown beside its field."""
    box = search_box.read()
    given = {**box.address, **{name: _known(name) for name in ("force", "role")}}
    return Search(box, sales_filters.read(PolicyFilter, names, usual=periods.ALL, given=given))


def _known(parameter: str) -> list[str]:
    fields = (field for field in PolicyFilter.FIELDS.values() if field.address == parameter)
    found = url_state.one_of(parameter, next(fields).options)  # type: ignore[attr-defined]
    return [found] if found else []


def draw(search: Search, names: Choices, person: Person) -> None:
    """Draw the search field and the filters in one line."""
    sales_filters.draw(
        search.asked,
        names,
        search=lambda: search_box.draw(PolicyFilter.FIELDS["find"], search.box),
        leave_out=("find",),
        beside=lambda: saved_views.draw("policies/search.py", person),
    )
    search_box.complain(search.box)
