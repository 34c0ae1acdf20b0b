"""Status transitions of a claim and the other actions of an officer."""
