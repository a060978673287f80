"""The experiments of P2, "Reconsidering Dependency Networks from an Information Geometry Perspective", section 7.

``python -m studies.dependency_networks`` computes Tables 1 to 4 again, beside the printed figures, and what the paper
argues without figures: where the sampler ends, how it gets there, and what clamping changes.
"""
