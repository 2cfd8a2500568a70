"""The one text analyzer, used alike on passages and on questions."""
