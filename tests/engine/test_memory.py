"""A long run needs no more memory than a short one.

A clip is 480 kB as sent and 640 kB as it travels: 10,000 of them would be 6 GB. A run that kept
every fifth would fail here. What may grow is bounded: a few MB of cached pages for each of the
store's connections.
"""

from pathlib import Path

import numpy as np
import pytest
import soundfile

from fakes.http_server import Request
from fakes.openai_server import OpenAIServer
from folders import write_lines
from whole_run import outcomes, start_anew, wait_until

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

FILES, QUESTIONS = 5, 500
WARM, MOST_GROWTH_MB = 0.2, 40.0

needs_proc = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="memory of a process is read from /proc"
)


class Counted(list[Request]):
    """Counts requests and forgets them: the server shares its memory with the test."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0

    def append(self, _request: Request) -> None:
        self.seen += 1


def write_questions(root: Path) -> None:
    """Many questions about a handful of clips of half a minute."""
    for number in range(FILES):
        times = np.arange(240_000) / 8_000
        tone = 0.3 * np.sin(2 * np.pi * (300 + 100 * number) * times)
        soundfile.write(root / f"{number}.wav", tone, 8_000)
    write_lines(
        root,
        [
            {
                "file_name": f"{index % FILES}.wav",
                "id": f"question_{index}",
                "instruction": f"Describe the sound as if for listener {index}.",
                "references": ["A steady tone."],
            }
            for index in range(QUESTIONS)
        ],
    )


def resident_mb(process_id: int) -> float:
    """Memory of a process, in MB, as far as it is in RAM."""
    status = Path(f"/proc/{process_id}/status").read_text()
    (line,) = [one for one in status.splitlines() if one.startswith("VmRSS:")]
    return int(line.split()[1]) / 1000


@needs_proc
@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_clips(tmp_path: Path) -> None:
    (tmp_path / "tones").mkdir()
    write_questions(tmp_path / "tones")
    arrived = Counted()
    sizes: list[float] = []
    with OpenAIServer(key=None) as server:
        server.requests = arrived
        process = start_anew(tmp_path, f"endpoint/fake@{server.base_url}", "--concurrency", "16")

        def all_asked() -> bool:
            # What comes after the last question is scoring, which holds all answers at once.
            asked = arrived.seen >= QUESTIONS or process.poll() is not None
            if arrived.seen >= WARM * QUESTIONS and not asked:
                sizes.append(resident_mb(process.pid))
            return asked

        wait_until(all_asked, 300)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert len(outcomes(tmp_path)) == QUESTIONS
    assert max(sizes) - sizes[0] < MOST_GROWTH_MB
