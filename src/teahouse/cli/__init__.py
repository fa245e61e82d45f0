"""The terminal: every command is a client of the server, which it starts when none runs."""
