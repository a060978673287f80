"""A campaign of hostile calls: every reader, every public function, every bound function of the core.

``python -m tests.fuzz --seconds 20`` runs it, for hours if told so; each finding is one line with the words that repeat
it, such as ``python -m tests.fuzz readers 1000017``. Three parts make cases from a seed, each case the same every time:

- ``readers``: files that the library wrote itself, with bytes, pieces and words changed;
- ``public``: valid calls of everything public, with one or two arguments replaced or damaged;
- ``core``: calls of the bound classes, written down while the library worked, with one array or number changed.

The answer to a case is a value or an error of ours that is one sentence; of a wrong Python type it may be Python's own
TypeError or AttributeError (of the core: ValueError or TypeError). Every other error, a hang and a crash is a finding.
The cases run in processes of their own, so that a crash is told.

Under sanitizers: build the module with ``-DFISHERNET_CHECK=addresses`` (as ``make core-test`` does, but
without ``-DFISHERNET_TEST=ON``), put it in the place of ``src/fishernet/_core*.so``, and run with
``LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libstdc++.so)"`` and
``ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1``. ``--memory 0`` is then needed: the sanitizer maps far more
than is there.
"""
