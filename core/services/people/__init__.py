"""Staff: accounts, passwords, sessions, invitations; and the transfers by which anybody is paid."""
