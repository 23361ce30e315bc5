"""What benchmarks are made of: clips, captions and words by category, and a map of them."""

from collections.abc import Mapping, Sequence
from itertools import chain

import numpy as np

from audiocapbench.benchmarks import Benchmark, Selection
from audiocapbench.data import Sample
from audiocapbench.errors import ReportError
from audiocapbench.metrics.encoders import load
from audiocapbench.metrics.names import parse_name
from audiocapbench.metrics.ptb.tokenizer import tokens_of
from audiocapbench.report.page.plots import map_sheet
from audiocapbench.table import Column, Findings, Row, Table, ValueWithInterval

_FEWEST, _SEED = 5, 0
_FORMS = {"share": "%", "minutes": ".3f", "words_a_caption": ".3f"}
_WORDS = "Words are lower-case tokens of the COCO captions tools, without punctuation."

Groups = Mapping[str, Sequence[Sample]]


def grouped(benchmarks: Sequence[Benchmark], by: str, draw: int | None = None) -> Groups:
    """Samples, or a draw of each benchmark, by ``category``, ``benchmark`` or a common detail."""
    found: dict[str, list[Sample]] = {}
    for benchmark in benchmarks:
        for one in Selection(sample=draw).of(benchmark):
            own = {**one.details, "category": one.category, "benchmark": benchmark.name}
            if own.get(by) is None:
                known = ", ".join(sorted(own))
                raise ReportError(f"{benchmark.name}: {one.id} has no {by!r}; it has {known}")
            found.setdefault(str(own[by]), []).append(one)
    return dict(sorted(found.items()))


def corpus_report(title: str, groups: Groups, by: str) -> Findings:
    """Clips and their share, captions, their lengths and their vocabulary, group by group."""
    every = list(chain.from_iterable(groups.values()))
    clips = len({one.clip.sha256 for one in every})
    rows: list[Row] = []
    for name, own in [("all", every), *groups.items()]:
        seconds = {one.clip.sha256: one.clip.duration_s for one in own}
        words = [tokens_of(text) for one in own for text in one.references]
        rows.append(
            {
                by: name,
                "clips": len(seconds),
                "share": ValueWithInterval(len(seconds) / clips),
                "minutes": ValueWithInterval(sum(seconds.values()) / 60 or None),
                "captions": len(words),
                "words_a_caption": ValueWithInterval(float(np.mean([len(one) for one in words]))),
                "vocabulary": len({word for one in words for word in one}),
            }
        )
    columns = [Column(name, form=_FORMS.get(name, "")) for name in rows[0]]
    table = Table(title, rows, columns, [_WORDS], name="groups")
    return Findings([table], {"title": title, "by": by, "notes": [_WORDS]})


def corpus_map(groups: Groups, encoder: str) -> tuple[str, str]:
    """A map on which what is alike lies close together, as SVG, and how it was made."""
    samples = list(chain.from_iterable(groups.values()))
    if len(samples) < _FEWEST:
        raise ReportError(f"a map needs {_FEWEST} samples, and there are {len(samples)}")
    if encoder.partition("[")[0] == "clap":
        from audiocapbench.metrics.clap.scoring import clip_vectors

        vectors = clip_vectors([one.clip for one in samples], **parse_name(encoder).options)
        made = f"audio by {encoder}"
    else:
        found = load(encoder)
        vectors = found.encode([one.references[0] for one in samples])
        made = f"first captions by {found.name}"
    ends = np.cumsum([len(own) for own in groups.values()])[:-1]
    try:
        from sklearn.manifold import TSNE
    except ImportError:
        hint = "pip install 'audiocapbench[plots]'"
        raise ReportError(f"a map needs scikit-learn: {hint}") from None
    near = min(30.0, (len(vectors) - 1) / 3)
    projection = TSNE(2, perplexity=near, init="pca", metric="cosine", random_state=_SEED)
    points = np.split(np.asarray(projection.fit_transform(vectors)), ends)
    label = f"{len(samples):,} samples, {made}, t-SNE"
    return map_sheet(dict(zip(groups, points, strict=True)), label), label
