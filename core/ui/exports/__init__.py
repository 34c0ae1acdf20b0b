"""Exports on a screen: the buttons, the progress, the receipts."""
