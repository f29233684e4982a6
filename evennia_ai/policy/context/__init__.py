"""What a prompt holds of the log, and how many tokens it takes."""
