"""Small indices of memories, and what a search finds in them."""

import numpy as np

from evennia_ai.memory.index import MemoryIndex

DAY = 86_400.0
MAY_8 = 1_683_547_200.0  # 2023-05-08 12:00 UTC


class LettersEmbedder:
    """Texts with the same letters are near each other."""

    name = "letters"
    dimensions = 26

    def embed(self, texts):
        counts = [[text.lower().count(chr(97 + i)) for i in range(26)] for text in texts]
        vectors = np.array(counts, dtype=np.float32).reshape(-1, 26)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors / np.where(lengths > 0, lengths, 1)


def filled(*texts, embedder=None):
    index = MemoryIndex(embedder)
    for number, text in enumerate(texts):
        index.add(f"m{number}", text)
    return index


def found(index, query, k=10, **more):
    return [name for name, *_ in index.find(query, k, **more)]
