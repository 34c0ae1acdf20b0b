"""Insurers on the other side of the network: what they are sent, what they may answer, and a sandbox of one."""
