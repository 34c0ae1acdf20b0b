"""Backup, snapshots, disk space, planner statistics and files beside the database."""
