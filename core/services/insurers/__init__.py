"""Submissions to insurers: the queue, their answers, and the health of each connection."""
