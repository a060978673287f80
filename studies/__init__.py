"""The experiments of the papers, one study each: ``python -m studies.NAME [--quick] [--data DIR]``.

`classify`, `dependency_networks`, `drift`, `fmpl`, `knn_mi`, `local_structure`, `missing`, `qnml`, `sequences`,
`similarity` and `summarize` write tables of numbers as JSON to ``docs/studies/results`` and figures beside them;
``--help`` says how long each takes, ``--part`` computes a part alone. ``python -m studies.tables NAME`` prints the
tables as Markdown. The reports, ``docs/studies/*.md``, are written by hand around these.
"""
