"""The commands of `coverdesk`, a file for each subject."""
