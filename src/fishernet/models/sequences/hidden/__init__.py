"""The parts of a hidden Markov model: trajectories, counts, strings drawn and enumerated."""
