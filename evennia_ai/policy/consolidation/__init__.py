"""What sleep derives from memories: attributes, importance scores."""
