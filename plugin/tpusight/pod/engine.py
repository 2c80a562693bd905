# SPDX-License-Identifier: MIT
"""Where workers run: on this machine, or on the nodes of a Ray cluster. Both have the same four methods."""
import concurrent.futures
import contextlib
import os
import socket
import threading
import urllib.parse
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable, Dict, Iterator, List, Optional, Protocol

from .._program import TpusightError, found_program
from . import store, worker
from .worker import RayWorker, Worker

_CLOSE_S = 10
CONNECT_S = 30  # for a cluster to answer: Ray itself asks for minutes


class Engine(Protocol):
    nodes: Dict[str, int]  # the number of tasks that each can run at once
    names: Dict[str, str]  # what people call a node

    def submit(self, node: str, method: str, *args: Any) -> "Future[Any]":
        """Calls a method of the node's worker. A worker that is gone raises."""

    def ship(self, path: str) -> Any:
        """A file for all nodes: what Worker.fetch() takes."""

    def restart(self, node: str) -> bool:
        """After a worker was lost: whether the node is still there, and has another one."""

    def close(self) -> None:
        """Ends all workers; what they have begun is given up."""


class Local:
    """Threads and processes of this machine."""

    def __init__(self, jobs: Optional[int] = None) -> None:
        slots = jobs or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else jobs or os.cpu_count() or 1
        program = found_program()
        self.nodes, self.names = {"local": slots}, {"local": "this machine"}
        self.worker = Worker(worker.version_of(program), program)
        self.threads = ThreadPoolExecutor(slots)

    def submit(self, node: str, method: str, *args: Any) -> "Future[Any]":
        return self.threads.submit(getattr(self.worker, method), *args)

    def ship(self, path: str) -> str:
        return path

    def restart(self, node: str) -> bool:
        return True  # a thread is not lost

    def close(self) -> None:
        self.worker.close()
        self.threads.shutdown()


def _listens(address: str) -> None:
    """Raises OSError where nothing listens at HOST:PORT or ray://HOST:PORT. Other addresses ("auto") are Ray's to look up."""
    place = urllib.parse.urlsplit(address if "://" in address else f"//{address}")
    if place.hostname and place.port:
        socket.create_connection((place.hostname, place.port), CONNECT_S).close()


def _within(seconds: float, call: Callable[[], Any]) -> None:
    """Makes the call, and raises what it raises. After this time it is left to itself: a thread cannot be ended."""
    done: Future[Any] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as e:  # also a SystemExit of Ray's
            done.set_exception(e)

    threading.Thread(target=run, daemon=True).start()
    try:
        done.result(seconds)
    except (TimeoutError, concurrent.futures.TimeoutError) as e:
        raise TimeoutError(f"no answer within {seconds:.3g} s") from e


@contextlib.contextmanager
def _without_log() -> Iterator[None]:
    """What Ray's library writes to the standard error of the process while it tries again and again; ours is one line."""
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    os.close(nowhere)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def _ray() -> Any:
    try:
        import ray
    except ImportError as e:
        raise TpusightError("Ray is not installed (pip install 'tpusight[ray]', or --local for this machine alone)") from e
    return ray


class Ray:
    """An actor on each node of a cluster that is there already. It takes no CPU from Ray's count: a job may hold them all."""

    def __init__(self, address: str, jobs: Optional[int] = None) -> None:
        self.ray = _ray()
        self.has_begun = not self.ray.is_initialized()
        if self.has_begun:
            self._connect(address)
        for module in (worker, store):  # nodes need not have this package
            self.ray.cloudpickle.register_pickle_by_value(module)
        alive = [node for node in self.ray.nodes() if node["Alive"]]
        self.nodes = {node["NodeID"]: jobs or max(1, int(node["Resources"].get("CPU", 1))) for node in alive}
        self.names = {node["NodeID"]: f"{node['NodeName']} ({node['NodeID'][:8]})" for node in alive}
        program = found_program()
        self.version, self.program = worker.version_of(program), self.ship(program)
        self.actors = {node: self._actor(node) for node in self.nodes}

    def _connect(self, address: str) -> None:
        try:
            _listens(address)
            with _without_log():
                _within(CONNECT_S, lambda: self.ray.init(address=address, log_to_driver=False, logging_level="ERROR"))
        except (OSError, RuntimeError, ValueError, SystemExit) as e:  # a ConnectionError is an OSError
            raise TpusightError(f"{address}: no Ray cluster answers there ({e})") from e

    def _actor(self, node: str) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
        where = NodeAffinitySchedulingStrategy(node, soft=False)
        made = self.ray.remote(RayWorker).options(num_cpus=0, max_concurrency=self.nodes[node] + 2, scheduling_strategy=where)
        return made.remote(self.version, self.program)

    def submit(self, node: str, method: str, *args: Any) -> "Future[Any]":
        return getattr(self.actors[node], method).remote(*args).future()

    def ship(self, path: str) -> List[Any]:
        with open(path, "rb") as f:
            return [self.ray.put(f.read())]

    def restart(self, node: str) -> bool:
        is_alive = any(one["Alive"] for one in self.ray.nodes() if one["NodeID"] == node)
        with contextlib.suppress(Exception):  # it is gone already
            self.ray.kill(self.actors[node])
        if is_alive:
            self.actors[node] = self._actor(node)
        return is_alive

    def close(self) -> None:
        closing = [self.submit(node, "close") for node in self.nodes]
        concurrent.futures.wait(closing, timeout=_CLOSE_S)
        for actor in self.actors.values():
            self.ray.kill(actor)
        if self.has_begun:
            self.ray.shutdown()
