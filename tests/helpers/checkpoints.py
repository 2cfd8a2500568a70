"""Tiny question-answering checkpoints with random weights, each with a tokenizer of its family's kind."""

from pathlib import Path

import torch

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
WORDS = ("the", "mill", "was", "built", "by", "Ada", "Rook", "who")
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.,?"
SIZES = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 256,
}


def question_answerer(folder: Path, family: str = "Bert", head: str = "QuestionAnswering", **changes) -> Path:
    """A checkpoint of the family, as transformers saves it; `head` names another one than that of spans."""
    import transformers

    tokenizer = family_tokenizer(family)
    sizes = SIZES | {"vocab_size": len(tokenizer), "pad_token_id": tokenizer.pad_token_id}
    if family == "DebertaV2":  # as in DeBERTa-v3: no segments, positions only relative
        sizes |= {"type_vocab_size": 0, "relative_attention": True, "position_biased_input": False}
        sizes |= {"pos_att_type": ["p2c", "c2p"], "position_buckets": 16, "share_att_key": True}
        sizes |= {"norm_rel_ebd": "layer_norm"}
    config = getattr(transformers, f"{family}Config")(**sizes | changes)
    network = getattr(transformers, f"{family}For{head}" if head else f"{family}Model")(config)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():  # large enough that logits differ
        for name, weight in network.named_parameters():
            start = 1.0 if "Norm" in name and name.endswith("weight") else 0.0
            weight.copy_(start + 0.4 * torch.randn(weight.shape, generator=generator))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def family_tokenizer(family: str):
    """WordPiece, byte-level BPE with `</s></s>` between texts, or SentencePiece's unigrams."""
    import transformers

    if family == "Roberta":
        return transformers.RobertaTokenizerFast(tokenizer_object=byte_pairs())
    if family == "DebertaV2":
        return transformers.DebertaV2TokenizerFast(tokenizer_object=unigrams())
    return transformers.BertTokenizerFast(vocab=pieces(), do_lower_case=False)


def pieces() -> dict[str, int]:
    listed = [*SPECIAL, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    return {piece: number for number, piece in enumerate(listed)}


def byte_pairs():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    letters = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    merges = [("Ġ", "m"), ("Ġm", "i"), ("l", "l"), ("Ġmi", "ll")]
    listed = [*letters, *("".join(merge) for merge in merges)]
    vocabulary = {piece: number for number, piece in enumerate(listed)}
    made = Tokenizer(models.BPE(vocabulary, merges))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    return made


def unigrams():
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    scored = [*((name, 0.0) for name in SPECIAL), *((f"▁{word}", -2.0) for word in WORDS)]
    scored += [(letter, -3.0) for letter in ("▁", *LETTERS)]
    made = Tokenizer(models.Unigram(scored, unk_id=1))
    made.add_special_tokens(list(SPECIAL))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS]:0 $A:0 [SEP]:0",
        pair="[CLS]:0 $A:0 [SEP]:0 $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return made
