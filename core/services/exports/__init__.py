"""Exports: kinds declared once, written as CSV or XLSX, with a receipt that allows a repeat."""
