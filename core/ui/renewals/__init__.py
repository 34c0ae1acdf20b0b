"""Tables of renewals, calls about them, and the switch of the reminders."""
