"""The Fisher kernel of a model, and of networks where variables are hidden or cells are missing."""
