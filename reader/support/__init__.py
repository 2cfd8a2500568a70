"""Whether a written sentence stands on the passages: aligned spans, facts compared, verdicts."""
