"""The experiments of the papers, one study each: ``python -m studies.NAME [--quick] [--data DIR]``.

Every module that has a report in ``docs/studies`` is one. It writes tables of numbers as JSON to
``docs/studies/results`` and figures beside them; ``--help`` says how long it takes, ``--part`` computes a part alone,
``--seed`` uses other seeds. ``python -m studies.tables NAME`` prints the tables as Markdown, puts them into the report
(``--update``), and counts what other seeds change (``--beside``). The reports, ``docs/studies/*.md``, are written by
hand around these, and their sentences are held to the tables by ``tests/studies/test_*_sentences.py``.
"""
