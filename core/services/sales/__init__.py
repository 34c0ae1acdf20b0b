"""Reading sales: lists, totals and the dashboard figures."""
