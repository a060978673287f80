r"""The Interchange Format for Bayesian networks (BIF 0.15), as bnlearn, pgmpy and JavaBayes write it.

::

    network unknown {
      property author = me;
    }
    variable rain {
      type discrete [ 2 ] { no, yes };
    }
    probability ( wet | rain ) {
      (no) 0.9, 0.1;
      (yes) 0.1, 0.9;
    }

What is read: blocks in any order; ``//`` and ``/* */`` comments; names and states of any characters but the separators,
or in double quotes; rows in any order, ``default`` rows, a ``table`` instead of rows (`tables` says its order); commas
between words may be missing; properties are skipped.

What is written besides the format: labels that are no plain words stand in double quotes with the escapes of JSON
(`labels`), and properties whose names begin with ``fishernet_`` note what the format has no place for: types of states,
cut points, the number of rows. Numbers have as many digits as bring the same bits back.
"""

from fishernet.files.bif.reader import read_bif
from fishernet.files.bif.writer import write_bif

__all__ = ["read_bif", "write_bif"]
