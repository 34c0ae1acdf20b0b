"""Claims: intake, lists, officer review, status workflow and reports."""
