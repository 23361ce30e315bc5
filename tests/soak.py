"""The soak: the same command again and again while everything around it fails.

Two users start it, who cannot see each other's processes. Processes are killed and interrupted,
SQLite is locked and PostgreSQL restarted, the provider refuses, stalls and answers nonsense. At the
end of every round all answers must be there, each asked for once beyond what was in flight at a
kill, and no process may have died with a traceback; of batches under a budget see
``soak_batches.py``.

``python tests/soak.py --minutes 5`` prints what happened; it exits 1 if a promise was broken.
"""

import argparse
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import strangers
from audiocapbench.data.outcome import Status
from audiocapbench.errors import StoreAwayError
from audiocapbench.store import Store
from fakes import faults
from fakes.faults import Fault, Plan
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion
from folders import write_folder
from forks import Forked
from locking import locked
from postgres_server import NoServerError, PostgresServer
from soak_batches import BATCHED, BatchRound
from whole_run import clip_of

CLIPS, IN_FLIGHT, USERS, LEASE_S = 100, 4, (61001, 61002), 15.0
VERDICT = json.dumps({"accuracy": 8, "completeness": 6, "hallucination": 9, "reasoning": "Good."})
STORMS: list[list[Fault | None]] = [
    [faults.throttled()] * 6,
    [faults.throttled("1")] * 2,
    [faults.status(500), faults.status(503), None] * 3,
    [faults.reset(), None] * 3,
    [faults.half(), faults.malformed(), faults.wrong_type(), None] * 2,
]

NOTES = {
    "files of answers taken in": "were taken in from",
    "waits for the store": "waiting for the store",
    "waits for another process": "that are being asked",
}


class Provider:
    """Answers slowly, each clip with its own words, and counts what it has answered."""

    def __init__(self, draw: random.Random) -> None:
        self._draw, self._lock = draw, threading.Lock()
        self.answers: Counter[str] = Counter()
        self.verdicts: Counter[str] = Counter()

    def reply(self, request: Request) -> dict[str, Any]:
        """What a captioner says of a clip, or a judge of a caption."""
        with self._lock:
            pause = self._draw.uniform(0.02, 0.4)
        time.sleep(pause)
        judged = re.search("“(Sound .*?)”", request.body.decode())
        with self._lock:
            if judged is not None or b"input_audio" not in request.body:
                self.verdicts[judged[1] if judged else "?"] += 1
                return completion(VERDICT)
            clip = clip_of(request)
            self.answers[clip] += 1
        return completion(f"Sound {clip}")


@dataclass
class Tally:
    """What was done and what came of it."""

    done: Counter[str] = field(default_factory=Counter)
    questions: int = 0
    repeated: int = 0
    allowed: int = 0
    lost: int = 0
    problems: list[str] = field(default_factory=list)

    def line(self, name: str) -> str:
        """One line of the summary."""
        acts = ", ".join(f"{count} {act}" for act, count in sorted(self.done.items()))
        return (
            f"{name}: {acts}\n  {self.questions} answers of providers, {self.lost} lost, "
            f"{self.repeated} asked again of {self.allowed} that were in flight at a kill, "
            f"{len(self.problems)} broken promises"
        )


class Round:
    """One store from empty to complete, in spite of everything."""

    def __init__(self, place: Path, url: str, draw: random.Random, tally: Tally) -> None:
        self.place, self.url, self.draw, self.tally = place, url, draw, tally
        self.provider = Provider(random.Random(draw.random()))
        self.safe: set[str] = set()
        self.processes: list[Forked] = []
        self.kills = self.unheard = 0

    def run(self, seconds: float, disturb: Callable[[], str]) -> None:
        """Disturb for so long, then let it finish and hold it to its promises."""
        with OpenAIServer(key=None, reply=self.provider.reply) as server:
            began = time.monotonic()
            while time.monotonic() - began < seconds:
                self._reap()
                if len(self.processes) < 2:
                    seen = len(server.requests)
                    self._start(server)
                    self._wait_for_a_question(server, seen)
                time.sleep(self.draw.uniform(0, 1.5))
                self._act(server, disturb)
                self._check_kept()
            server.plan = Plan()
            for process in list(self.processes):
                self._wait(process)
            self._start(server)
            self._wait(self.processes[-1], must_end_well=True)
        self._check_end()

    def _start(self, server: OpenAIServer) -> None:
        model = f"endpoint/fake@{server.base_url}"
        told = ["run", "tones", "--model", model, "--judge", f"endpoint/judge@{server.base_url}"]
        told += ["--metrics", "rouge_l", "--concurrency", str(IN_FLIGHT), "--yes", "--json"]
        told += ["--store", self.url]
        own = {"XDG_STATE_HOME": str(self.place / "state"), "PYTHONFAULTHANDLER": "1"}
        how: dict[str, Any] = {"cwd": self.place, "env": os.environ | own}
        how |= {"stdin": subprocess.DEVNULL, "stderr": subprocess.PIPE}
        user = self.draw.choice(USERS)
        with (self.place / "out").open("a") as out:
            if strangers.why_not() is None:
                process = strangers.start_hidden(user, *told, stdout=out, lease_s=LEASE_S, **how)
                self.tally.done[f"commands of user {user}"] += 1
            else:
                process = Forked("-m", "audiocapbench", *told, stdout=out, **how)
                self.tally.done["commands"] += 1
        self.processes.append(process)

    def _wait_for_a_question(self, server: OpenAIServer, seen: int) -> None:
        """Most of the trouble shall come while something is asked, some before."""
        began, longest = time.monotonic(), self.draw.uniform(0, 20)
        while len(server.requests) == seen and time.monotonic() - began < longest:
            time.sleep(0.05)

    def _act(self, server: OpenAIServer, disturb: Callable[[], str]) -> None:
        process = self.draw.choice(self.processes)
        act = self.draw.choice(["kill", "interrupt", "interrupt twice", "storm", "store", "store"])
        match act:
            case "kill":
                process.kill()
                self.kills += 1
            case "interrupt":
                process.send_signal(signal.SIGINT)
            case "interrupt twice":
                process.send_signal(signal.SIGINT)
                time.sleep(0.3)
                process.send_signal(signal.SIGINT)
                self.kills += 1
                self._end_within(process, 10)
            case "storm":
                storm = self.draw.choice(STORMS)
                server.plan = Plan(storm)
                # Of these the provider has answered, and the one who asked has not heard it.
                self.unheard += sum(one is not None and one.kind == "half" for one in storm)
            case _:
                act = disturb()
        self.tally.done[f"× {act}"] += 1

    def _end_within(self, process: Forked, seconds: float) -> None:
        try:
            process.wait(seconds)  # twice what is promised: the machine is busy
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGABRT)  # it says where it is
            _, err = process.communicate()
            self.processes.remove(process)
            words = f"Ctrl-C twice did not end a process in {seconds:g} s: {err[-3000:]}"
            self.tally.problems.append(words)

    def _reap(self) -> None:
        for process in [one for one in self.processes if one.poll() is not None]:
            self._wait(process)

    def _wait(self, process: Forked, *, must_end_well: bool = False) -> None:
        try:
            _, err = process.communicate(timeout=240)
        except subprocess.TimeoutExpired:
            process.kill()
            _, err = process.communicate()
            self.tally.problems.append(f"a command did not end: {err[-2000:]}")
        self.processes.remove(process)
        code = process.returncode
        expected = (0,) if must_end_well else (0, 1, 2, 130, -signal.SIGKILL, -signal.SIGINT)
        # Whoever interrupts Python while it starts hears of it from Python, not from us.
        is_ours = "audiocapbench/cli/__init__.py" in err or code != -signal.SIGINT
        if ("Traceback" in err and is_ours) or code not in expected:
            self.tally.problems.append(f"exit code {code}: {err[-3000:]}")
        if code == 2:
            self.tally.done["gave up waiting for the store"] += 1
            if not re.search("locked|connect|store|closed|starting|terminat", err):
                self.tally.problems.append(f"exit code 2: {err[-3000:]}")
        for act, words in NOTES.items():
            if words in err:
                self.tally.done[act] += err.count(words)

    def _answers(self) -> dict[str, str]:
        try:
            with Store.open(self.url) as store:
                runs = store.runs()
                found = store.outcomes(runs[0].id) if runs else {}
        except StoreAwayError:
            return dict.fromkeys(self.safe, "")
        if len(runs) > 1:
            self.tally.problems.append("the same command began a second run")
        good = [one for one in found.values() if one.reply.status is Status.OK]
        for one in good:
            if one.reply.text != f"Sound {one.audio_sha256}":
                self.tally.problems.append(f"{one.sample_id} has the answer of another clip")
        return {one.sample_id: one.reply.text for one in good}

    def _check_kept(self) -> None:
        now = set(self._answers())
        if not self.safe <= now:
            self.tally.lost += len(self.safe - now)
            self.tally.problems.append(f"{len(self.safe - now)} answers that were stored are gone")
        self.safe |= now

    def _check_end(self) -> None:
        self._check_kept()
        with Store.open(self.url) as store:
            judged = [one for one in store.judgements(1) if one.status is Status.OK]
        missing = 2 * CLIPS - len(self.safe) - len(judged)
        if missing:
            self.tally.lost += missing
            self.tally.problems.append(f"{missing} answers or judgements are missing at the end")
        asked = [*self.provider.answers.values(), *self.provider.verdicts.values()]
        repeated, allowed = sum(asked) - len(asked), self.kills * IN_FLIGHT + self.unheard
        self.tally.questions += sum(asked)
        self.tally.repeated += repeated
        self.tally.allowed += allowed
        if repeated > allowed:
            self.tally.problems.append(f"{repeated} asked again, {allowed} were in flight")
        left = [*self.place.glob("*.unsaved-*"), *self.place.glob("state/*/*")]
        if left:
            self.tally.problems.append(f"files were not taken in: {left}")


@contextmanager
def sqlite_round(place: Path, draw: random.Random) -> Iterator[tuple[str, Callable[[], str]]]:
    """A store in a file, which another process locks now and then."""

    def lock() -> str:
        if (place / "soak.db").exists():
            with locked(place / "soak.db"):
                time.sleep(draw.uniform(0.5, 5))
        return "store locked"

    yield str(place / "soak.db"), lock


@contextmanager
def postgres_round(
    server: PostgresServer, number: int, draw: random.Random
) -> Iterator[tuple[str, Callable[[], str]]]:
    """A store on a server that restarts now and then."""

    def restart() -> str:
        mode = draw.choice(["fast", "immediate"])
        server.stop(mode)
        time.sleep(draw.uniform(0, 3))
        server.start()
        return f"restart ({mode})"

    yield server.create(f"soak_{number}"), restart


def soak(seconds: float, seed: int, round_s: float = 25.0) -> dict[str, Tally]:
    """Rounds over both kinds of stores, in turn, until the time is up; at least one of each."""
    draw = random.Random(seed)
    tallies = {"SQLite": Tally(), "PostgreSQL": Tally()}
    began = time.monotonic()
    with ExitStack() as stack:
        try:
            server = stack.enter_context(PostgresServer())
        except NoServerError:
            server = None
            del tallies["PostgreSQL"]
        number = 0
        while number < len(tallies) or time.monotonic() - began < seconds:
            name = list(tallies)[number % len(tallies)]
            with tempfile.TemporaryDirectory(prefix="audiocapbench-soak-") as folder:
                place = Path(folder)
                write_folder(place / "tones", CLIPS)
                world = (
                    sqlite_round(place, draw)
                    if name == "SQLite" or server is None
                    else postgres_round(server, number, draw)
                )
                with world as (url, disturb):
                    Round(place, url, draw, tallies[name]).run(round_s, disturb)
                    model = BATCHED[number // len(tallies) % 2]
                    batched = BatchRound(place, url, draw, model)
                    batched.run(round_s / 2, disturb)
                    tallies[name].done += batched.done
                    tallies[name].problems += batched.problems
            tallies[name].done["rounds"] += 1
            number += 1
    return tallies


def main() -> None:
    """Soak for so many minutes and say what happened."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=12)
    given = parser.parse_args()
    # A shell's background job ignores Ctrl-C, and so would every process that is started here.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tallies = soak(given.minutes * 60, given.seed)
    users = "two users" if (why := strangers.why_not()) is None else f"one user, for {why}"
    lines = [f"soak of {given.minutes:g} minutes, seed {given.seed}, {users}"]
    lines += [tally.line(name) for name, tally in tallies.items()]
    problems = [one for tally in tallies.values() for one in tally.problems]
    sys.stdout.write("\n".join([*lines, *problems]) + "\n")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
