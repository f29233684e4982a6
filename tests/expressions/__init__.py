"""Every regular expression of the package, and hostile text for each."""
