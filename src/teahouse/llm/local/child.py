"""The process that holds a local model: llama.cpp's server on a free loopback port.

`python -m teahouse.llm.local.child --model FILE --threads N --context N --parent PID` prints one
line of JSON, `{"url", "key", "pid"}`, as soon as it can answer. It lives no longer than its parent:
the kernel kills it on Linux, and the end of its standard input everywhere. It asks nobody anything,
and only those who have the key may ask it.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from http.client import HTTPConnection
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

from teahouse.core import ids

_SLOTS = 3  # a talk, the question for a tool, and one more talk each keep what they have read
_CACHE_MB = 256
_LOAD_S = 300.0
_LOOK_S = 0.05
_DEATH_SIGNAL, _KILL = 1, 9  # PR_SET_PDEATHSIG, SIGKILL


def main() -> None:
    given = _arguments()
    _die_with_parent(given.parent)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever the engine prints, the answer stands alone
    key = ids.new_secret()
    server = _serve(given, key)  # it serves while it is held
    url = str(server.listening_address)
    _wait_until_healthy(url)
    print(json.dumps({"url": url, "key": key, "pid": os.getpid()}), file=out, flush=True)
    threading.Event().wait()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="teahouse.llm.local.child")
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--context", type=int, default=8192)
    parser.add_argument("--embeddings", action="store_true", help="give vectors, and no replies")
    parser.add_argument("--parent", type=int, default=os.getppid())
    return parser.parse_args()


def _die_with_parent(parent: int) -> None:
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, _KILL, 0, 0, 0)
        if os.getppid() != parent:  # it went before the kernel was told
            os._exit(1)

    def watch() -> None:
        while os.read(0, 1024):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


def _serve(given: argparse.Namespace, key: str) -> Any:
    engine: Any = import_module("xllamacpp")
    parameters = engine.CommonParams()
    parameters.model.path = given.model
    parameters.model_alias = {"local"}
    parameters.n_ctx = given.context
    if given.embeddings:
        parameters.embedding = True
        parameters.pooling_type = engine.llama_pooling_type.LLAMA_POOLING_TYPE_LAST
    parameters.n_parallel = _SLOTS
    parameters.kv_unified = True  # the slots share one context instead of a third each
    parameters.cache_ram_mib = _CACHE_MB
    parameters.slot_prompt_similarity = 0.5
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [key]
    parameters.cors_origins = "null"
    parameters.ui = False
    parameters.offline = True
    parameters.endpoint_slots = False
    parameters.verbosity = 1
    for cpu in (parameters.cpuparams, parameters.cpuparams_batch):
        cpu.n_threads = given.threads
    return engine.Server(parameters)


def _wait_until_healthy(url: str) -> None:
    address = urlsplit(url)
    deadline = time.monotonic() + _LOAD_S
    while time.monotonic() < deadline:
        connection = HTTPConnection(address.hostname or "127.0.0.1", address.port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            pass
        finally:
            connection.close()
        threading.Event().wait(_LOOK_S)
    sys.exit("the model was not loaded in time")


if __name__ == "__main__":
    main()
