"""The soak of batches under a budget: killed and started again, by OpenAI's and Gemini's servers.

Every answer is dear and its usage is told. In the end each question was billed once at most, each
paid answer is in the store, the ledger says what was billed, and the budget held to one answer.
"""

import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from audiocapbench.data.outcome import Status
from audiocapbench.models.registry import price_of
from audiocapbench.store import Store
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.gemini_batches import GeminiBatchServer
from fakes.gemini_server import content
from fakes.http_server import Request
from fakes.openai_batches import OpenAIBatchServer, completion
from forks import Forked

BATCHED = ("openai/gpt-audio", "gemini/gemini-2.5-flash")
READ, HEARD = 60, 3
STORMS: list[list[Fault | None]] = [
    [faults.throttled("1")] * 2,
    [faults.status(500), None, faults.status(503), None],
    [faults.reset(), None] * 2,
    [faults.half(), None, faults.malformed()],
]


class BatchRound:
    """One store, from empty until everything is answered or the budget is spent."""

    def __init__(self, place: Path, url: str, draw: random.Random, model: str) -> None:
        self.place, self.url, self.draw, self.model = place, url, draw, model
        self.is_gemini = model.startswith("gemini/")
        price = price_of(model)
        assert price is not None
        self.price = price.in_batches()
        self.budget = draw.choice([0.02, 0.1, 0.4]) * (0.25 if self.is_gemini else 1.0)
        self.written: list[int] = []
        self.processes: list[Forked] = []
        self.problems: list[str] = []
        self.done: Counter[str] = Counter()

    def run(self, seconds: float, disturb: Callable[[], str]) -> None:
        """Disturb for so long, let it finish, hold it to its promises."""
        with ExitStack() as stack:
            server = stack.enter_context(self._server())
            began = time.monotonic()
            while time.monotonic() - began < seconds:
                self._reap()
                if len(self.processes) < 2:
                    self._start(server)
                time.sleep(self.draw.uniform(0, 1.5))
                self._act(server, disturb)
            server.plan = Plan()
            for process in list(self.processes):
                self._wait(process)
            for _ in range(3):
                self._start(server)
                if self._wait(self.processes[-1]) == 0:
                    break
            self._check(server)

    def _server(self) -> Any:
        if not self.is_gemini:
            return OpenAIBatchServer(reply=self._completion)
        server = GeminiBatchServer()
        server.answers = lambda lines: [self._line(server, line) for line in lines]
        return server

    def _tokens(self) -> int:
        self.written.append(self.draw.randint(300, 1_000))
        return self.written[-1]

    def _completion(self, _request: Request) -> dict[str, Any]:
        usage = {"prompt_tokens": READ, "completion_tokens": self._tokens()}
        usage["prompt_tokens_details"] = {"audio_tokens": HEARD}  # type: ignore[assignment]
        return completion(f"Sound {len(self.written)}") | {"usage": usage}

    def _line(self, server: GeminiBatchServer, line: dict[str, Any]) -> dict[str, Any]:
        server.billed[json.dumps(line["request"])] += 1
        usage = {"promptTokenCount": READ, "candidatesTokenCount": self._tokens()}
        heard = [{"modality": "AUDIO", "tokenCount": HEARD}]
        usage["promptTokensDetails"] = heard  # type: ignore[assignment]
        reply = content(f"Sound {len(self.written)}", usageMetadata=usage)
        return {"key": line["key"], "response": reply}

    def _usd(self, written: int) -> float:
        heard = HEARD * (self.price.audio_in or 0)
        read = (READ - HEARD) * self.price.text_in
        return (read + heard + written * self.price.out) / 1e6

    def _start(self, server: Any) -> None:
        told = ["run", "tones", "--model", self.model, "--batch", "--metrics", "rouge_l", "--yes"]
        told += ["--budget", str(self.budget), "--limit", "40", "--json", "--store", self.url]
        state = {"XDG_STATE_HOME": str(self.place / "state")}
        process = Forked(
            "-m",
            "audiocapbench",
            *told,
            cwd=self.place,
            env={**os.environ, **server.settings, **state},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.processes.append(process)
        self.done["commands with batches"] += 1

    def _act(self, server: Any, disturb: Callable[[], str]) -> None:
        process = self.draw.choice(self.processes)
        act = self.draw.choice(["kill", "kill", "interrupt", "storm", "store"])
        match act:
            case "kill":
                process.kill()
            case "interrupt":
                process.send_signal(signal.SIGINT)
            case "storm":
                server.plan = Plan(self.draw.choice(STORMS))
            case _:
                act = disturb()
        self.done[f"× {act}"] += 1

    def _reap(self) -> None:
        for process in [one for one in self.processes if one.poll() is not None]:
            self._wait(process)

    def _wait(self, process: Forked) -> int:
        try:
            _, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
            self.problems.append(f"a command did not end: {err[-2000:]}")
        self.processes.remove(process)
        code = process.returncode or 0
        if "Traceback" in err and code != -signal.SIGINT:
            self.problems.append(f"exit code {code}: {err[-3000:]}")
        is_spent = "the budget is spent" in err or "is too small" in err
        return 0 if is_spent else code

    def _check(self, server: Any) -> None:
        with Store.open(self.url) as store:
            runs = [run.id for run in store.runs() if run.model == self.model]
            outcomes = store.outcomes(runs[0]) if runs else {}
            entries = store.ledger.entries(model=self.model)
        good = {one.reply.text for one in outcomes.values() if one.reply.status is Status.OK}
        billed = [self._usd(written) for written in self.written]
        said = sum(row.counted for row in entries if row.state == "billed")
        dearest = max(billed, default=0.0)
        words = f"${sum(billed):.4f} billed of ${self.budget:g}, ${said:.4f} in the ledger"
        twice = sum(count - 1 for count in server.billed.values())
        for is_broken, what in (
            (twice, f"{twice} questions were billed twice"),
            (len(good) != len(billed), f"{len(billed)} answers were paid, {len(good)} are kept"),
            (abs(said - sum(billed)) > 1e-9, f"the ledger is wrong: {words}"),
            (sum(billed) > self.budget + dearest, f"over the budget: {words}"),
            (any(row.state == "in a batch" for row in entries), "rows wait for a batch"),
        ):
            if is_broken:
                self.problems.append(f"{self.model}: {what}")
        self.done["batches"] += len(server.batches)
