"""What builders and admins type."""
