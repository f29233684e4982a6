"""An embedder for tests: a word is a direction, whatever it means."""

from zlib import crc32

import numpy as np


class BagOfWords:
    def __init__(self, dimensions=64, name="bag of words"):
        self.dimensions = dimensions
        self.name = name

    def embed(self, texts):
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for word in text.lower().split():
                vector[crc32(word.encode()) % self.dimensions] += 1.0
        return vectors
