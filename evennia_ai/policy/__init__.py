"""Pure decisions: plain data in, a frozen decision out. No clock, no random, no I/O, no logging."""
