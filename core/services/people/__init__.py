"""The people who sign in: accounts, passwords, sessions, invitations."""
