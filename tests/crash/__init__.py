"""Faults to survive: servers and databases that are killed, disks that are full, requests that meet."""
