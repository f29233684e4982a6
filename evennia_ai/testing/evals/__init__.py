"""Play the scenes of `policy.evals` with the real engine, in memory, and without effect."""
