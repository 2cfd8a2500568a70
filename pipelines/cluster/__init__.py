"""An index of several shards, on one machine or on a Ray cluster."""
