"""Lists of records on a screen: filters, columns, orders, pages, and rows that are links."""
