"""Where everything is kept: tables, the two ways in (`reading`, `writing`), migrations, the demonstration."""
