"""Retries, the circuit breaker, prices, and what one person may cause."""
