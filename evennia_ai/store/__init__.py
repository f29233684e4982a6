"""The only code that reads and writes the tables. Plain data in, plain data out."""
