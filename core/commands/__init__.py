"""The commands of `coverdesk`, one module per subject."""

ACTOR = "command line"
