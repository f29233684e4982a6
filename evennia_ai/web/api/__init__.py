"""What machines read: the logs as REST and the figures for Prometheus."""
