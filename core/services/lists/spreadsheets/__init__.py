"""Rows as CSV and XLSX: typed columns, formulas made harmless, workbooks."""
