"""What sleep makes of memories: attributes, reflections, scores, what may be forgotten."""
