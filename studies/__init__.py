"""The experiments of the papers, one study each: ``python -m studies.NAME [--quick] [--data DIR]``.

`classify`, `dependency_networks`, `fmpl`, `knn_mi`, `qnml`, `sequences`, `similarity` and `summarize` write tables of
numbers as JSON to ``docs/studies/results`` and figures beside them; ``python -m studies.tables NAME`` prints the
tables as Markdown. The reports, ``docs/studies/*.md``, are written by hand around these.
"""
