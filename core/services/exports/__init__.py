"""Exports: each kind declared once, written as CSV or workbook, with a receipt that can be run again."""
