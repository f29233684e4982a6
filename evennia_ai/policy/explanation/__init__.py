"""Why an assistant spoke as it did: what stood in a prompt, and where its words come from."""
