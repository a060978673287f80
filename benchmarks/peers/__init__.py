"""One module a peer: its calls by name. They run in the peers' environment, which has NumPy but not fishernet."""
