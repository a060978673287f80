"""The searches over structures, one a file: each is a `fishernet.learn.search.Search`."""
