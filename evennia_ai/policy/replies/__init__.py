"""What a model's reply is: calls written as text, words that may be spoken, parts that stream."""
