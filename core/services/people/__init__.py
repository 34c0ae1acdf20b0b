"""Staff: accounts, passwords, sessions, invitations."""
