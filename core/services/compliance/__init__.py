"""The privacy desk: requests of people, retention and erasure, breaches, returns and complaints (contract D1-D5)."""
