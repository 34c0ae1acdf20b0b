"""The filters of credit notes: when, of whom, and where they stand."""

from core.services.lists.filters.catalogue import members_of
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import Days, Words
from core.services.lists.windows import Span
from core.states.finance import CreditNoteState
from core.store.schema.tables import CreditNote

_STATES = {state.value: state.value for state in CreditNoteState}


class CreditNoteFilter(Filter, on=(CreditNote,)):
    """Filter of the list of credit notes."""

    created: Span = of(Days(label="Made", column="created_at", address="from to", screen="Made"))
    provider_ids: Ids = of(members_of("provider"))
    distributor_ids: Ids = of(members_of("distributor"))
    states: tuple[str, ...] = of(
        Words(
            label="State",
            column="state",
            address="state",
            options=_STATES,
            help=f"{', '.join(_STATES)}; repeat it for any of several.",
            anything="All states",
        )
    )
