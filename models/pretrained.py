"""Loads tokenizers and transformer trunks from a folder: safetensors only, no remote code, finite weights.

A plain BERT is computed by `bert` and needs no transformers, whose import takes longer than the rest of a
question; every other model, and every model that is trained, is one of transformers.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch
from torch import nn

from spanwise.errors import ModelRejected

from .bert import BertConfig, bert_span_model, bert_trunk
from .checkpoint import Checkpoint, read_checkpoint, read_config, require_finite, weight_names
from .locate import WEIGHTS
from .model_folder import checked_folder
from .plain_tokenizer import PlainTokenizer

VOCABULARIES = (
    *("tokenizer.json", "vocab.txt", "vocab.json"),
    *("sentencepiece.bpe.model", "spiece.model", "spm.model"),
)
SPAN_HEAD = "qa_outputs."  # the start and the end vector, as transformers names them
_LOCAL = {"local_files_only": True, "trust_remote_code": False}


def load_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a model folder; ModelRejected when the folder has none that can be read."""
    return PlainTokenizer.open(folder) or load_library_tokenizer(folder)


def load_library_tokenizer(folder: Path) -> Any:
    """The fast tokenizer of a folder as transformers makes it, which also decodes and knows chat templates.

    ModelRejected when the folder has none that can be read.
    """
    from transformers import AutoTokenizer

    if not any((folder / name).is_file() for name in VOCABULARIES):
        raise ModelRejected(f"{folder} holds no tokenizer: none of {', '.join(VOCABULARIES)}")
    with _named(folder):
        tokenizer = AutoTokenizer.from_pretrained(
            str(folder), use_fast=True, local_files_only=True, trust_remote_code=False
        )
    if not tokenizer.is_fast:
        raise ModelRejected(f"{folder}: its tokenizer cannot tell where in a text its tokens are")
    return tokenizer


def load_encoder_trunk(folder: Path) -> nn.Module:
    """The encoder of a model folder, in float32 and in inference mode, without attention dropout.

    ModelRejected for one that has a decoder too, and when a weight is missing: it would be a random one.
    """
    checkpoint = plain_bert(folder)
    if checkpoint and (trunk := bert_trunk(checkpoint)):
        return trunk
    from transformers import AutoModel

    network = load_network(AutoModel, folder, may_lack=("pooler.",))
    config: Any = network.config
    if config.is_encoder_decoder:
        raise ModelRejected(f"{folder} is a {config.model_type} with a decoder, expected an encoder alone")
    return network


def load_span_reader(folder: Path) -> nn.Module:
    """The question-answering model of a folder, in float32 and in inference mode.

    ModelRejected for a model with another head, or with none: it would be read by a random one.
    """
    checkpoint = plain_bert(folder)
    if checkpoint and (model := bert_span_model(checkpoint)):
        return model
    found = load_span_model(folder)
    if not any(name.startswith(SPAN_HEAD) for name in weight_names(folder)):
        kinds = read_config(folder).get("architectures")
        raise ModelRejected(f"{folder} is no question-answering model ({kinds}): it lacks {SPAN_HEAD}weight")
    return found


def load_span_model(folder: Path) -> nn.Module:
    """The question-answering model of a folder, to be trained: a trunk with one start and one end vector.

    A folder without such a head (the base) gets a fresh one, drawn from torch's generator. ModelRejected
    for one with a decoder, or whose library has another kind of head for it.
    """
    from transformers import AutoModelForQuestionAnswering

    network = load_network(AutoModelForQuestionAnswering, folder, may_lack=(SPAN_HEAD,))
    config: Any = network.config
    if config.is_encoder_decoder:
        raise ModelRejected(f"{folder} is a {config.model_type} with a decoder, expected an encoder alone")
    if getattr(getattr(network, SPAN_HEAD[:-1], None), "out_features", None) != 2:
        raise ModelRejected(f"{folder}: a {config.model_type} has no head of one start and one end vector")
    return network


def load_config(folder: Path) -> Any:
    """The settings of a folder as transformers knows them; ModelRejected for what it does not know."""
    from transformers import AutoConfig

    checked_folder(folder)
    with _named(folder):
        return AutoConfig.from_pretrained(str(folder), **_LOCAL)


def load_network(factory: Any, folder: Path, may_lack: tuple[str, ...] = ()) -> nn.Module:
    """What `factory` makes of a folder: from safetensors, finite, with all weights but `may_lack`."""
    config = load_config(folder)
    if hasattr(config, "attention_probs_dropout_prob"):
        config.attention_probs_dropout_prob = 0.0
    with _named(folder):
        model, found = factory.from_pretrained(
            str(folder),
            config=config,
            use_safetensors=True,
            attn_implementation=None,  # fused where the model has it; never what the folder says
            dtype=torch.float32,
            output_loading_info=True,
            **_LOCAL,
        )
    missing = [name for name in sorted(found["missing_keys"]) if not name.startswith(may_lack)]
    if missing:
        raise ModelRejected(f"{folder} lacks {len(missing)} of its weights, such as {missing[0]}")
    require_finite(model.state_dict(), folder)
    network: nn.Module = model.eval()
    return network


def check_vocabulary(tokenizer: Any, model: nn.Module, source: object) -> None:
    """Raises ModelRejected when the tokenizer makes ids for which the model has no embedding."""
    rows = model.get_input_embeddings().num_embeddings  # type: ignore[operator]
    most = max(tokenizer.get_vocab().values(), default=0)
    if most >= rows:
        raise ModelRejected(
            f"{source}: its tokenizer makes ids up to {most}, its vocabulary has {rows} words"
        )


def plain_bert(folder: Path) -> Checkpoint | None:
    """Settings and finite weights of a folder if it is a plain BERT in one file."""
    checked_folder(folder)
    if not (folder / WEIGHTS).is_file() or BertConfig.read(read_config(folder)) is None:
        return None
    checkpoint = read_checkpoint(folder)
    require_finite(checkpoint.weights, folder)
    return checkpoint


@contextmanager
def _named(folder: Path) -> Iterator[None]:
    """Loading without progress bars and news; what fails is a ModelRejected that names the folder."""
    from transformers.utils import logging

    before = logging.get_verbosity()
    logging.set_verbosity_error()  # a fresh head is expected here, not news
    logging.disable_progress_bar()
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # the library has no common root for what a folder can do to it
        raise ModelRejected(f"the model in {folder} cannot be loaded: {error}") from error
    finally:
        logging.set_verbosity(before)
