"""Facts in conversation: names, numbers and promises, and whether a text holds them."""
