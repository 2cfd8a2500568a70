"""What an answer, or the lack of one, rests on: words, probabilities, evidence, ranks."""
