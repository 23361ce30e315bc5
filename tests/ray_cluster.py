"""A Ray cluster of real ``ray start`` processes on this machine, which a test may kill parts of."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from needs import needs

# As ``ray start`` is where neither ray[client] nor ray[default] is installed: their servers, which
# nobody asks here, take a third of what a node costs.
_RAY = """
import sys
from ray._private import utils
from ray.scripts import scripts

utils.get_dashboard_dependency_error = lambda: ImportError("not wanted")
scripts.get_ray_client_dependency_error = utils.get_dashboard_dependency_error
sys.exit(scripts.main())
"""
_HEAD = ("--head", "--include-dashboard=false", "--no-monitor")
_QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    # A dead node refuses at once, and is noticed in a second or two instead of a quarter of a
    # minute; one that lives may be slow to answer.
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "300",
    "RAY_health_check_timeout_ms": "30000",
    "RAY_health_check_failure_threshold": "3",
}


class LocalCluster:
    """A head and other nodes.

    Attributes:
        address: Where the head is, as ``ray start`` prints it.
        nodes: The processes of ``ray start --block``, the head's first.
    """

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address = f"127.0.0.1:{port}"
        self._folder = folder
        self.nodes = [self._start(*_HEAD, f"--port={port}")]
        self._await_head()

    def add_node(self) -> int:
        """Start another node with one CPU; its number."""
        self.nodes.append(self._start(f"--address={self.address}"))
        return len(self.nodes) - 1

    def _start(self, *words: str) -> subprocess.Popen[bytes]:
        where = ["--temp-dir", str(self._folder)] if "--head" in words else []
        sizes = ["--num-cpus=1", "--object-store-memory=80000000", "--disable-usage-stats"]
        sizes.append("--include-log-monitor=false")
        with (self._folder / f"node-{len(words)}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-c", _RAY, "start", "--block", *words, *sizes, *where],
                env=os.environ | _QUIET,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def _await_head(self) -> None:
        host, port = self.address.split(":")
        until = time.monotonic() + 120
        while time.monotonic() < until and self.nodes[0].poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex((host, int(port))) == 0:
                    return
            time.sleep(0.1)
        raise AssertionError("the head of the cluster does not start")

    def await_nodes(self, count: int) -> None:
        """Wait until so many nodes have joined the cluster that this process has joined."""
        needs("ray")
        import ray

        until = time.monotonic() + 120
        while sum(node["Alive"] for node in ray.nodes()) != count:
            assert time.monotonic() < until, f"there are not {count} nodes"
            time.sleep(0.1)

    def processes(self, node: int, name: str) -> list[int]:
        """Process ids on a node whose name begins so: raylet, ray::_Worker."""
        return [pid for pid, known in _descendants(self.nodes[node].pid) if known.startswith(name)]

    def close(self) -> None:
        """End every process that was started, and those that these started."""
        pids = {pid for node in self.nodes for pid, _ in _descendants(node.pid)}
        for node in self.nodes:
            pids |= {pid for pid, _ in _session(node.pid)}
            node.kill()
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        for node in self.nodes:
            node.wait()


def _table() -> list[tuple[int, int, int, str]]:
    """Process id, parent, session and name of every process."""
    words = ["ps", "-ww", "-eo", "pid=,ppid=,sess=,args="]
    lines = subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split(None, 3) for line in lines]
    return [(int(a), int(b), int(c), name) for a, b, c, name in (row for row in rows if row[3:])]


def _named(args: str) -> str:
    return Path(args.split(maxsplit=1)[0]).name if not args.startswith("ray::") else args


def _descendants(root: int) -> list[tuple[int, str]]:
    table, found = _table(), {root}
    for _ in range(5):
        found |= {pid for pid, parent, _, _ in table if parent in found}
    return [(pid, _named(args)) for pid, _, _, args in table if pid in found]


def _session(leader: int) -> list[tuple[int, str]]:
    return [(pid, _named(args)) for pid, _, session, args in _table() if session == leader]


@contextmanager
def local_cluster(nodes: int = 2) -> Iterator[LocalCluster]:
    """A cluster of so many nodes, whose folder has a short path for the sake of its sockets."""
    with TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:
        cluster = LocalCluster(Path(folder))
        try:
            for _ in range(nodes - 1):
                cluster.add_node()
            yield cluster
        finally:
            cluster.close()
