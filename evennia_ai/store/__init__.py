"""The only code that reads and writes the tables: plain data in, plain data out."""
