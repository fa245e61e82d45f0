"""The gateway: `app` takes a request, `routes` finds who answers it, a `visit` asks and tells.

Each dialect has a folder: `read` makes a client's words ours, `voice` tells the reply in the
client's, `routes` names its paths. What several of them share lies here, beside `app`.
"""
