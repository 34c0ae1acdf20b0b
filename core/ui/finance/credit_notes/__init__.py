"""Credit notes on the screens: their table, the dialogs of their steps, and what is due by age."""
