"""Speaks the Model Context Protocol, as a client of others' tools and as a server of our agents.

`servers` holds all that are configured, `link` keeps one of them connected, `connection` is a
session that is up, over `child` (stdio) or `remote` (HTTP). These and `offer`, the server, import
the SDK, so they are imported when first needed.
"""
