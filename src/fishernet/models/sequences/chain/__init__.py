"""The parts of a Markov chain: how it moves between contexts, strings drawn, the information."""
