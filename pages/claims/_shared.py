"""Words that the queue and the review of a claim share."""

from core.services.claims.workflow.clock import Clock


def days_left(clock: Clock) -> str:
    """Return the time left of the 60 days, in a few words."""
    if clock.is_decided:
        return "Decided"
    days = abs(clock.days_left)
    number = f"{days} {'day' if days == 1 else 'days'}"
    if clock.is_overdue:
        over = f"{number} over" if days else "Just over"
        return f"Paused, {over}" if clock.is_waiting else over
    return f"Paused, {days} left" if clock.is_waiting else number


def colour_of(clock: Clock) -> str:
    """Return the colour of the days left: red once they are over."""
    return "red" if clock.is_overdue and not clock.is_decided else ""
