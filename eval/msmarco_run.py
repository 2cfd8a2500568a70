"""MS MARCO runs: the ranked documents of each query, `qid<TAB>docid<TAB>rank`, without scores.

Source: the submission format of the MS MARCO passage ranking task.
"""
