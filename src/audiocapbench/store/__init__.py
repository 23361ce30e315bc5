"""What is kept: runs, outcomes, scores, judgements and cached responses."""

from audiocapbench.store.cache import cache_key
from audiocapbench.store.connect import DEFAULT_STORE
from audiocapbench.store.records import Dataset, Run, RunLine, RunSpec
from audiocapbench.store.store import Store

__all__ = ["DEFAULT_STORE", "Dataset", "Run", "RunLine", "RunSpec", "Store"]
__all__ += ["cache_key"]
