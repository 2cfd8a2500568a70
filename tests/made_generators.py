"""Tiny models that write, with random weights, as transformers saves them, and readings of what they do."""

from __future__ import annotations

from pathlib import Path

import torch
from made_readers import LETTERS, WORDS

FAMILIES = ("T5", "Bart", "GPT2", "Llama")
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def writer(folder: Path, family: str, seed: int = 0, scale: float = 0.3, template: str = CHAT, **changes):
    """The folder of a model of the family; `scale` says how far its scores are apart."""
    import transformers

    tokenizer = tokenizer_of(family, template)
    sizes = SIZES[family] | {"vocab_size": len(tokenizer) + 2, "pad_token_id": 0, "eos_token_id": 1}
    head = "LMHeadModel" if family == "GPT2" else "ForConditionalGeneration"
    head = "ForCausalLM" if family == "Llama" else head
    config = getattr(transformers, f"{family}Config")(**sizes | changes)
    network = getattr(transformers, f"{family}{head}")(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in network.named_parameters():
            is_norm = "norm" in name.lower() or "ln_" in name
            start = 1.0 if is_norm and name.endswith("weight") else 0.0
            weight.copy_(start + scale * torch.randn(weight.shape, generator=generator))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


SIZES = {
    "T5": {"d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_decoder_layers": 2, "num_heads": 2}
    | {"decoder_start_token_id": 0, "dropout_rate": 0.1},
    "Bart": {"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2}
    | {"decoder_attention_heads": 2, "encoder_ffn_dim": 32, "decoder_ffn_dim": 32}
    | {"max_position_embeddings": 600, "decoder_start_token_id": 1, "bos_token_id": 2}
    | {"forced_eos_token_id": None},
    "GPT2": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 600, "bos_token_id": 1},
    "Llama": {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 32}
    | {"num_key_value_heads": 2, "max_position_embeddings": 900, "bos_token_id": 2},
}


def tokenizer_of(family: str, template: str = CHAT):
    """SentencePiece's unigrams for T5, bytes for the others; Llama's has a chat template."""
    import transformers

    if family == "T5":
        return transformers.PreTrainedTokenizerFast(
            tokenizer_object=t5_unigrams(), pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
        )
    made = transformers.PreTrainedTokenizerFast(
        tokenizer_object=byte_level(bos=family != "GPT2", eos=family == "Bart"),
        **{"pad_token": "<pad>", "eos_token": "</s>", "bos_token": "<s>"},
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
    )
    made.add_tokens(["<tool_call>", "  "])
    if family == "Llama":
        made.chat_template = template
    return made


def t5_unigrams():
    """Here `</s>` is an ordinary piece of the vocabulary too, as in T5's own; it stands behind each text."""
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors

    special = ["<pad>", "</s>", "<unk>"]
    scored = [*((one, 0.0) for one in special), *((f"▁{word}", -2.0) for word in WORDS)]
    scored += [(one, -3.0) for one in ("▁", *LETTERS, *"</>|_[]:\n")]
    made = Tokenizer(models.Unigram(scored, unk_id=2))
    made.add_special_tokens(special)
    made.normalizer = normalizers.NFKC()
    made.pre_tokenizer, made.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    made.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return made


def byte_level(bos: bool, eos: bool):
    """Bytes and a few merges; `<s>` before a text and `</s>` behind it where that is the family's way."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    merges = [("Ġ", "m"), ("Ġm", "i"), ("l", "l"), ("Ġmi", "ll"), ("<", "/")]
    letters = ["<pad>", "</s>", "<s>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    vocabulary = {one: at for at, one in enumerate([*letters, *("".join(merge) for merge in merges)])}
    made = Tokenizer(models.BPE(vocabulary, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    around = f"{'<s> ' if bos else ''}$A{' </s>' if eos else ''}"
    special = [("<s>", 2), ("</s>", 1)]
    made.post_processor = processors.TemplateProcessing(single=around, special_tokens=special)
    return made
