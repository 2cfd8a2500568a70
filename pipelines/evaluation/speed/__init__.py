"""Speed beside that of other programs: each engine in a process of its own, measured in turns.

A comparison (`comparisons`) is one kind of work that our engine and its peers do on the same corpus. An
engine is one file in `engines`; `rounds` measures all of a comparison, `report` says what came out and where.
"""
