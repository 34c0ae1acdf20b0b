"""Backup, snapshots, disk space, statistics and the files beside the database."""
