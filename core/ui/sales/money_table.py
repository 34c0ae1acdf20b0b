"""Tables of amounts (written, refunded, remaining), each split into its shares: of many sales, or of one."""

from collections.abc import Mapping

import streamlit as st

from core.desk.sale import PremiumShare, SaleDetail
from core.money import Split
from core.states.policies import PolicyStage
from core.ui.kit import facts, words


def draw_split(sale: SaleDetail) -> None:
    """Draw the shares as lines; after a refund, a table of written, refunded and kept with sums in both directions."""
    if not sale.refunded_minor:
        for part in sale.premium_shares:
            facts.line(_label(part), words.naira(part.amount_minor))
        return
    whole = PremiumShare(name="Premium", amount_minor=sale.total_minor, refunded_minor=sale.refunded_minor)
    rows = "\n".join(map(_row, (*sale.premium_shares, whole)))
    st.markdown(f"| | Written | Given back | Kept |\n|:---|---:|---:|---:|\n{rows}")
    if sale.stage == PolicyStage.DECLINED:
        st.caption(
            f"The insurer declined this sale on {words.day(sale.ended_at)}: cover never began, the whole premium"
            " went back, and nobody keeps a commission."
        )
    elif whole.net_minor:
        st.caption("Insurer, platform and distributor each gave back their share.")
    else:
        st.caption("The whole premium went back, and nobody keeps a commission.")


def _row(part: PremiumShare) -> str:
    amounts = (part.amount_minor, part.refunded_minor, part.net_minor)
    return f"| {words.plain(_label(part))} | {' | '.join(map(words.naira, amounts))} |"


def _label(part: PremiumShare) -> str:
    rate = f" · {words.percent(part.basis_points / 10_000, 2)}" if part.basis_points is not None else ""
    return f"{part.name}{rate}"


_NOTHING = Split(0, 0, 0)
_HEAD = "| | Premium | Insurers' share | Platform commission | Distributor commission |\n|:---|---:|---:|---:|---:|"


def draw(rows: Mapping[str, Split]) -> None:
    """Draw one row per amount: its total, and the three shares that add up to it."""
    lines = [
        (label, parts.total_minor, parts.provider_share_minor, parts.mca_profit_minor, parts.distributor_profit_minor)
        for label, parts in rows.items()
    ]
    shown = (f"| {label} | {' | '.join(map(words.naira, amounts))} |" for label, *amounts in lines)
    st.markdown("\n".join((_HEAD, *shown)))


def balance(gross: Split, given_back: Split, adjusted: Split = _NOTHING) -> dict[str, Split]:
    """Return the amounts written, refunded, adjusted (if any) and remaining."""
    corrected = {"Adjusted": adjusted} if adjusted != _NOTHING else {}
    return {"Written": gross, "Given back": given_back, **corrected, "Net": gross - given_back + adjusted}
