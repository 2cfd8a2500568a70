"""Ranking measures as trec_eval defines them, spelled as ir_measures spells them; one file each."""
