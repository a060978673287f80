"""Kernels of strings from models of what produced them (P3, 12.1).

Two strings are alike when one hidden cause is likely to have given both: ``k(s, t)`` is the sum over the causes h of
``P(h) P(s | h) P(t | h)``. The cause is one of a list of models (`MarginalizationKernel`), a hidden state at each
position (`HiddenBinomialKernel`), a hidden path (`HmmKernel`), or a trajectory whose states may give no symbol
(`PairHmmKernel`), so that strings of any lengths are compared by all their alignments at once. All of them are made as
logarithms; `log=True` gives those, and `Normalized` takes cosines from them, so that nothing underflows.
"""

from fishernet.kernels.strings.hidden_binomial import HiddenBinomialKernel
from fishernet.kernels.strings.hmm import HmmKernel
from fishernet.kernels.strings.marginalization import MarginalizationKernel
from fishernet.kernels.strings.pair_hmm import PairHmmKernel

__all__ = ["HiddenBinomialKernel", "HmmKernel", "MarginalizationKernel", "PairHmmKernel"]
