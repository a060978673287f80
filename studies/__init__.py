"""The papers' experiments, one part each: ``python -m studies.NAME [--quick]`` from the repository's folder."""
