"""Tiny randomly initialised encoders of every family, with tokenizers, saved as transformers saves them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

_KNOWN = "the a cat dog sat on mat ran over lazy fox jumps quick brown old man sea house blue wind it is was not of and to"
WORDS = _KNOWN.split()
LAYERS = 3
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789.,?!@#%")
SIZES = {"hidden_size": 32, "num_hidden_layers": LAYERS, "num_attention_heads": 4, "intermediate_size": 64}
SCALE = {"initializer_range": 0.3}  # large enough for attention to matter


def texts(count: int, seed: int, longest: int = 12) -> list[str]:
    """Texts of two or more known words."""
    chance = random.Random(seed)
    return [" ".join(chance.choices(WORDS, k=chance.randint(2, longest))) + chance.choice([".", "", "?"]) for _ in range(count)]


ODD = [
    "Ünïcödé text, with accents",
    "unseenword 12345 @#%",
    "  spaces   around  ",
    "The CAT",
    "cat cat cat",
    "it's [SEP] here",
    "the <pad> cat </s> [PAD]",
]


def word_piece(folder: Path, kind: Any) -> None:
    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS), *WORDS, "##s"]
    kind(vocab={piece: index for index, piece in enumerate(pieces)}, model_max_length=64).save_pretrained(folder)


def byte_level(folder: Path, kind: Any, limit: int | None = 64) -> None:
    """Byte-level BPE, in which a word with its space differs from one without."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", "[CLS]", "[SEP]", "[PAD]", "[UNK]", "[MASK]", "<|endoftext|>"]
    trained = Tokenizer(models.BPE())
    trained.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False)
    trained.train_from_iterator(texts(200, 1), trainer)
    trained.model.save(str(folder))
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    lines = (folder / "merges.txt").read_text(encoding="utf-8").splitlines()
    merges = [tuple(line.split()) for line in lines if not line.startswith("#version")]
    for name in ("vocab.json", "merges.txt"):
        (folder / name).unlink()
    kind(vocab=vocabulary, merges=merges, **({"model_max_length": limit} if limit else {})).save_pretrained(folder)


def unigram(folder: Path, kind: Any, special: list[str], limit: int | None = 64, **settings: Any) -> None:
    pieces = [(piece, 0.0) for piece in special] + [("▁", -3.0)] + [("▁" + word, -4.0) for word in WORDS]
    pieces += [(letter, -7.0) for letter in LETTERS]
    kind(vocab=pieces, **settings, **({"model_max_length": limit} if limit else {})).save_pretrained(folder)


def _save(folder: Path, kind: Any, config: Any) -> Path:
    import torch

    torch.manual_seed(0)
    kind(config).save_pretrained(folder)
    return folder


def bert(folder: Path) -> Path:
    from transformers import BertConfig, BertModel, BertTokenizer

    word_piece(folder, BertTokenizer)
    return _save(folder, BertModel, BertConfig(vocab_size=200, max_position_embeddings=64, **SIZES, **SCALE))


def roberta(folder: Path) -> Path:
    from transformers import RobertaConfig, RobertaModel, RobertaTokenizer

    byte_level(folder, RobertaTokenizer)
    config = RobertaConfig(vocab_size=420, max_position_embeddings=66, pad_token_id=1, **SIZES, **SCALE)
    return _save(folder, RobertaModel, config)


def bart(folder: Path) -> Path:
    from transformers import BartConfig, BartModel, BartTokenizer

    byte_level(folder, BartTokenizer)
    sizes = {
        "d_model": 32,
        "encoder_layers": LAYERS,
        "decoder_layers": 1,
        "encoder_attention_heads": 4,
        "decoder_attention_heads": 4,
    }
    config = BartConfig(vocab_size=420, max_position_embeddings=64, encoder_ffn_dim=64, decoder_ffn_dim=64, init_std=0.3, **sizes)
    return _save(folder, BartModel, config)


def xlm_roberta(folder: Path) -> Path:
    from transformers import XLMRobertaConfig, XLMRobertaModel, XLMRobertaTokenizer

    unigram(folder, XLMRobertaTokenizer, ["<s>", "<pad>", "</s>", "<unk>"])
    config = XLMRobertaConfig(vocab_size=200, max_position_embeddings=66, pad_token_id=1, **SIZES, **SCALE)
    return _save(folder, XLMRobertaModel, config)


def deberta(folder: Path) -> Path:
    from transformers import DebertaConfig, DebertaModel, DebertaTokenizer

    byte_level(folder, DebertaTokenizer)
    relative = {
        "relative_attention": True,
        "pos_att_type": ["c2p", "p2c"],
        "position_biased_input": False,
        "max_relative_positions": 16,
    }
    return _save(folder, DebertaModel, DebertaConfig(vocab_size=420, max_position_embeddings=64, **relative, **SIZES, **SCALE))


def deberta_v2(folder: Path, limit: int | None = 64) -> Path:
    from transformers import DebertaV2Config, DebertaV2Model, DebertaV2Tokenizer

    unigram(folder, DebertaV2Tokenizer, ["[PAD]", "[CLS]", "[SEP]", "[UNK]"], limit, unk_id=3)
    relative = {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "position_buckets": 8, "position_biased_input": False}
    config = DebertaV2Config(
        vocab_size=200,
        max_position_embeddings=64,
        conv_kernel_size=3,
        conv_act="gelu",
        share_att_key=True,
        **relative,
        **SIZES,
        **SCALE,
    )
    return _save(folder, DebertaV2Model, config)


def albert(folder: Path) -> Path:
    from transformers import AlbertConfig, AlbertModel, AlbertTokenizer

    unigram(folder, AlbertTokenizer, ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"])
    return _save(
        folder, AlbertModel, AlbertConfig(vocab_size=200, embedding_size=16, max_position_embeddings=64, **SIZES, **SCALE)
    )


def modernbert(folder: Path) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import ModernBertConfig, ModernBertModel, PreTrainedTokenizerFast

    pieces = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *("##" + letter for letter in LETTERS), *WORDS]
    tokenizer = Tokenizer(models.WordPiece({piece: index for index, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)])
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names).save_pretrained(folder)
    config = ModernBertConfig(
        vocab_size=200, max_position_embeddings=64, local_attention=8, global_attn_every_n_layers=2, pad_token_id=0,
        cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3, **SIZES, **SCALE,
    )  # fmt: skip
    return _save(folder, ModernBertModel, config)


def t5(folder: Path) -> Path:
    from transformers import T5Config, T5ForConditionalGeneration, T5Tokenizer

    unigram(folder, T5Tokenizer, ["<pad>", "</s>", "<unk>"], extra_ids=0)
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": LAYERS, "num_decoder_layers": 1, "num_heads": 4}
    return _save(folder, T5ForConditionalGeneration, T5Config(vocab_size=200, initializer_factor=1.0, **sizes))


def byt5(folder: Path, limit: int | None = 64) -> Path:
    from transformers import ByT5Tokenizer, T5Config, T5ForConditionalGeneration

    ByT5Tokenizer(**({"model_max_length": limit} if limit else {})).save_pretrained(folder)
    sizes = {"d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": LAYERS, "num_decoder_layers": 1, "num_heads": 4}
    config = T5Config(vocab_size=384, feed_forward_proj="gated-gelu", tie_word_embeddings=False, **sizes)
    return _save(folder, T5ForConditionalGeneration, config)


def distilbert(folder: Path) -> Path:
    from transformers import BertTokenizer, DistilBertConfig, DistilBertModel

    word_piece(folder, BertTokenizer)
    config = DistilBertConfig(
        vocab_size=200, max_position_embeddings=64, dim=32, n_layers=LAYERS, n_heads=4, hidden_dim=64, **SCALE
    )
    return _save(folder, DistilBertModel, config)


def electra(folder: Path) -> Path:
    from transformers import BertTokenizer, ElectraConfig, ElectraModel

    word_piece(folder, BertTokenizer)
    return _save(
        folder, ElectraModel, ElectraConfig(vocab_size=200, embedding_size=16, max_position_embeddings=64, **SIZES, **SCALE)
    )


def xlnet(folder: Path) -> Path:
    from transformers import XLNetConfig, XLNetModel, XLNetTokenizer

    unigram(folder, XLNetTokenizer, ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>"])
    return _save(folder, XLNetModel, XLNetConfig(vocab_size=200, d_model=32, n_layer=LAYERS, n_head=4, d_inner=64, **SCALE))


FAMILIES: dict[str, Callable[[Path], Path]] = {
    "bert": bert,
    "xlm-roberta": xlm_roberta,
    "deberta": deberta,
    "deberta-v2": deberta_v2,
    "albert": albert,
    "modernbert": modernbert,
    "t5": t5,
    "byt5": byt5,
    "distilbert": distilbert,
    "electra": electra,
    "xlnet": xlnet,
}
"""Families for which bert-score is right with today's transformers."""

SPACED: dict[str, Callable[[Path], Path]] = {"roberta": roberta, "bart": bart}
"""Families whose leading space bert-score loses with today's transformers."""
