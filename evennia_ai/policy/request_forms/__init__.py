"""How a model is asked: the form of a request, and its messages in an order it accepts."""
