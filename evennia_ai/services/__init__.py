"""The composition root and the timers that all assistants share."""
