"""Play the scenes of `policy.scenes` with the real engine, in memory, and without effect."""
