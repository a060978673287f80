"""The figures that P2 prints in section 7.4, as printed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """What the paper says of one data set; nats, and milliseconds for the times."""

    kl_training: float
    """Table 1: KL of the training rows to the truth."""
    kl_dn: tuple[float, float, float]
    """Table 1: KL of the dependency network's output rows, three trials."""
    kl_bn: tuple[float, float, float]
    """Table 1: the same of the Bayesian network."""
    inputs_0: tuple[int, ...]
    """Table 2: what node 0 looks at."""
    entropy_0: float
    """Table 2: H(X0)."""
    entropy_given_0: float
    """Table 2: H(X0 | Y0)."""
    training_to_manifold_0: float
    """Table 2: KL of the training rows to E(theta_0)."""
    truth_to_manifold_0: str
    """Table 2: KL of the truth to E(theta_0)."""
    training_to_manifolds: float
    """Table 3: the first one averaged over the nodes."""
    truth_to_manifolds: str
    """Table 3: the second one averaged over the nodes."""
    evaluations_dn: int
    """Table 4."""
    evaluations_bn: int
    """Table 4."""
    time_dn: int
    """Table 4: CPU time."""
    time_bn: int
    """Table 4: CPU time."""


PUBLISHED = {
    "BN20-37S": Published(
        4.14, (1.43, 1.43, 1.43), (0.78, 0.78, 0.78), (1, 2, 4, 19),
        0.68, 0.41, 0.41, "0.17", 0.47, "4.5E-2", 1616, 16945, 17, 73,
    ),
    "BN20-37L": Published(
        0.67, (0.69, 0.69, 0.69), (0.69, 0.69, 0.70), (1, 2, 3, 4, 6, 7, 11, 19),
        0.68, 0.22, 0.09, "1.3E-3", 0.17, "1.1E-3", 2129, 23797, 2466, 13127,
    ),
    "Ising5x5S": Published(
        3.87, (1.37, 1.36, 1.39), (1.37, 1.37, 1.37), (1, 5),
        0.69, 0.44, 0.36, "2.9E-3", 0.28, "7.0E-3", 2497, 32298, 25, 144,
    ),
    "Ising5x5L": Published(
        1.16, (1.17, 1.18, 1.19), (1.16, 1.15, 1.16), (1, 5),
        0.69, 0.44, 0.19, "1.4E-5", 0.16, "5.3E-5", 2545, 42365, 2419, 22676,
    ),
}  # fmt: skip
