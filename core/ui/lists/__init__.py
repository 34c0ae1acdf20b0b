"""Lists of records on a screen: filters, saved views, columns, orders, pages, and rows that are links."""
