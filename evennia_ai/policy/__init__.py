"""Pure decisions from plain data: no clock, no random, no I/O, no logging."""
