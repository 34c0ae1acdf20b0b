"""The insurers' side of the network: client, answers, faults, and a sandbox insurer."""
