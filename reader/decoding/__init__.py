"""From a model's next-token scores to text: greedy, beam, sampling, contrastive; when to stop; presets."""
