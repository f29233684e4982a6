"""Ways to a model: the loop thread, the clients, and the gateway in front of them."""
