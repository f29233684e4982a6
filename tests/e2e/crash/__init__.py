"""The crash harness over the real server: kill -9, start again, and judge what is left."""
