"""Ready models of strings, for those who have none of their own."""

from fishernet.models.sequences.ready.pair_hmm import pair_hmm_dna, pair_hmm_from_substitutions, pair_hmm_protein

__all__ = ["pair_hmm_dna", "pair_hmm_from_substitutions", "pair_hmm_protein"]
