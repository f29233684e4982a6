"""What a probe asks an endpoint, and how the answers are graded."""
