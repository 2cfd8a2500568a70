"""Tiny models for the tests: BERTs of two layers, in the layouts of this project and of others."""

import json
from pathlib import Path

import numpy as np
import torch

from spanwise.models.batching import PackedTokens
from spanwise.models.load import tuned_backbone
from spanwise.models.model_files import find_base
from spanwise.models.token_model import TokenModel, TokenModelSettings, save_token_model

FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt")
LANGUAGES = ("the mill", "die Mühle", "le moulin", "мельница", "水车")
SIZES = {
    "vocab_size": 30522,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 512,
}
SKIPLIST = ("[CLS]", "[SEP]", ".", ",", "-", "!")


def tiny_config():
    from transformers import BertConfig

    return BertConfig(**SIZES)


def tiny_span_model(folder: Path, seed: int = 0) -> Path:
    """A question-answering model with random weights, saved as safetensors with the base's tokenizer."""
    from transformers import BertForQuestionAnswering

    torch.manual_seed(seed)
    BertForQuestionAnswering(tiny_config()).save_pretrained(folder)
    copy_tokenizer(folder)
    return folder


def tiny_mpnet(folder: Path) -> Path:
    """An MPNet with random weights, a plain folder of transformers without a head."""
    from transformers import MPNetConfig, MPNetModel

    torch.manual_seed(0)
    return saved(MPNetModel(MPNetConfig(**SIZES | {"max_position_embeddings": 514})), folder)


def tiny_encoder(folder: Path, seed: int = 0) -> Path:
    """An encoder with random weights, a plain folder of transformers."""
    from transformers import BertModel

    torch.manual_seed(seed)
    return saved(BertModel(tiny_config()), folder)


def classifier(folder: Path, num_labels: int = 1, seed: int = 0) -> Path:
    """A cross-encoder: a sequence classification model of transformers."""
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(seed)
    return saved(BertForSequenceClassification(BertConfig(**SIZES, num_labels=num_labels)), folder)


def sentence_model(folder: Path, pooling: str = "mean", similarity: str = "cosine") -> Path:
    """A folder of SentenceTransformer with prompts, a limit of 24 tokens and a layer of 8 outputs."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Dense, Transformer
    from sentence_transformers.sentence_transformer.modules import Pooling

    backbone = Transformer(str(tiny_encoder(folder / "backbone")), max_seq_length=24)
    torch.manual_seed(1)
    modules = [backbone, Pooling(16, pooling_mode=pooling), Dense(16, 8)]
    prompts = {"query": "query: ", "document": "text: "}
    model = SentenceTransformer(modules=modules, prompts=prompts, similarity_fn_name=similarity, device="cpu")
    model.save_pretrained(str(folder / "saved"))
    return folder / "saved"


def multi_vector_model(folder: Path) -> Path:
    """A folder of MultiVectorEncoder with prompts and a skip list."""
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    backbone = Transformer(str(tiny_encoder(folder / "backbone")), max_seq_length=24)
    torch.manual_seed(1)
    names = {"module_input_name": "token_embeddings", "module_output_name": "token_embeddings"}
    layer = Dense(16, 8, bias=False, activation_function=torch.nn.Identity(), **names)
    mask = MultiVectorMask(skiplist_words=[".", ","])
    modules = [backbone, layer, mask, Normalize(module_input_name="token_embeddings")]
    model = MultiVectorEncoder(
        modules=modules, prompts={"query": "query: ", "document": "text: "}, device="cpu"
    )
    model.save_pretrained(str(folder / "saved"))
    return folder / "saved"


def multilingual_model(folder: Path) -> Path:
    """A SentenceTransformer over an XLM-RoBERTa with word pieces of several languages."""
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import RobertaProcessing
    from transformers import PreTrainedTokenizerFast, XLMRobertaConfig, XLMRobertaModel

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    letters = sorted(set("".join(LANGUAGES)) - {" "})
    pieces = [*special, "▁", *letters, *(f"▁{word}" for text in LANGUAGES for word in text.split())]
    tokenizer = Tokenizer(Unigram([(piece, -float(i)) for i, piece in enumerate(pieces)], unk_id=3))
    tokenizer.pre_tokenizer = Metaspace()
    tokenizer.post_processor = RobertaProcessing(("</s>", 2), ("<s>", 0))
    names = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=30, **names)
    fast.save_pretrained(folder / "backbone")
    config = SIZES | {"vocab_size": len(pieces), "max_position_embeddings": 34}
    torch.manual_seed(0)
    saved(XLMRobertaModel(XLMRobertaConfig(**config)), folder / "backbone", tokenizer=False)
    SentenceTransformer(str(folder / "backbone"), device="cpu").save_pretrained(str(folder / "saved"))
    return folder / "saved"


def tiny_token_model(folder: Path, seed: int = 0, max_length: int | None = None) -> Path:
    """A token model over the base with random heads and one changed weight."""
    model = TokenModel(
        changed_base(seed),
        layer(16, seed + 12),
        layer(384, seed + 10),
        layer(384, seed + 11),
        TokenModelSettings(max_length, SKIPLIST),
    )
    save_token_model(folder, model)
    return folder


def changed_base(seed: int = 0):
    """The base with a changed normalisation of its embeddings."""
    backbone, _ = tuned_backbone()
    noise = torch.randn(384, generator=torch.Generator().manual_seed(seed))
    backbone.embeddings.LayerNorm.bias += 0.1 * noise
    return backbone


def layer(n_out: int, seed: int) -> torch.nn.Linear:
    """A linear layer of 384 inputs with random weights and a bias that counts."""
    linear = torch.nn.Linear(384, n_out)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in linear.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator))
    return linear


def of_family(family: str, **changes):
    """A model of transformers in memory, with weights so large that each layer changes the states."""
    import transformers

    sizes = SIZES | {"vocab_size": 99, "hidden_size": 32, "intermediate_size": 64}
    sizes |= {"max_position_embeddings": 520} | changes
    torch.manual_seed(1)
    model = getattr(transformers, f"{family}Model")(getattr(transformers, f"{family}Config")(**sizes))
    for parameter in model.parameters():
        torch.nn.init.normal_(parameter, std=0.2)
    return model.eval()


def tokens_of(lengths, seed=0) -> PackedTokens:
    """Sequences of these lengths for `of_family`."""
    random = np.random.default_rng(seed)
    return PackedTokens.of([random.integers(5, 99, size=length).tolist() for length in lengths])


def saved(network, folder: Path, tokenizer: bool = True) -> Path:
    """The network with weights so large that texts differ, as safetensors with the base's tokenizer."""
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if weight.dim() > 1 and "LayerNorm" not in name:
                weight.mul_(8)
    network.save_pretrained(folder)
    if tokenizer:
        copy_tokenizer(folder)
    return folder


def copy_tokenizer(folder: Path) -> None:
    for name in FILES:
        (folder / name).write_bytes((find_base() / name).read_bytes())


def change(path: Path, **changes: object) -> None:
    """Changes settings in a JSON file."""
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | changes), encoding="utf-8")
