"""Training on a borrowed GPU machine: no network, little room for files, half an hour.

`data.prepare` makes on this machine all that needs a network, a tokenizer or an index; `steps` run on the
other one with torch, safetensors, tokenizers and numpy, and join the readers that come back.
"""
