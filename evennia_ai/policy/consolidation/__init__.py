"""What sleep derives from memories: attributes, reflections, importance scores."""
