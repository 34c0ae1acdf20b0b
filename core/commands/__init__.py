"""The commands of `coverdesk`, a file for each subject."""

ACTOR = "command line"
