"""Retries, the circuit breaker, budgets, and the fair queue."""
