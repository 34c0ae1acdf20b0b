"""The filters of credit notes: when, of whom, and where they stand."""

from core.services.filters.declaration import Filter, Ids, of
from core.services.filters.fields import NAMED, Days, Members, Words
from core.services.windows import Span
from core.states.credit_notes import CreditNoteState
from core.store.schema.tables import CreditNote

_STATES = {state.value: state.value for state in CreditNoteState}


class CreditNoteFilter(Filter, on=(CreditNote,)):
    """Filter of the list of credit notes."""

    created: Span = of(Days(label="Made", column="created_at", address="from to", screen="Made"))
    provider_ids: Ids = of(
        Members(
            label="Insurer",
            names="provider",
            column="provider_id",
            address="provider",
            help=NAMED,
            anything="All insurers",
        )
    )
    distributor_ids: Ids = of(
        Members(
            label="Distributor",
            names="distributor",
            column="distributor_id",
            address="distributor",
            help=NAMED,
            anything="All distributors",
        )
    )
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
