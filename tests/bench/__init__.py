"""Measurements on real servers, each with its bar: `make bench`."""
