"""Processes forked from one that has imported the package: starting them takes no time.

Each has files, an environment and a folder of its own, and ends as the interpreter ends.
"""

from __future__ import annotations

import atexit
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache

__all__ = ["Forked", "become", "serve"]

# A fit loads the machine code that others need.
SERVER = """
import gc
import sys
import matplotlib.pyplot
import numpy as np
import pandas as pd
import odrf.cli
from forked import become, serve
rows = pd.DataFrame(np.random.default_rng(1).normal(size=(60, 3)), columns=["a", "b", "y"])
fit = odrf.odrf("y ~ .", rows, n_trees=3, blend=False, seed=1)
fit.summary(), fit.predict(rows), fit.importance()
gc.collect()
gc.freeze()
asked = serve(int(sys.argv[1]))
if asked is not None:
    become(**asked)
"""
STDOUT, STDERR = 1, 2


class Forked:
    """A process that runs a module or some code, with the methods of `subprocess.Popen` in use."""

    def __init__(self, arguments, env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        self.stdout, out = _written(stdout)
        self.stderr, err = _written(stderr)
        asked = {"arguments": list(map(str, arguments)), "env": env or {}, "folder": os.getcwd()}
        self.pid = _answer(asked, [out, err])
        self.returncode = None
        for file, given in ((out, stdout), (err, stderr)):
            if given == subprocess.PIPE:
                os.close(file)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.returncode is None:
            self.communicate()
        for file in (self.stdout, self.stderr):
            if file is not None:
                file.close()

    def send_signal(self, number):
        """Send a signal; the process is there until it is waited for."""
        os.kill(self.pid, number)

    def communicate(self, timeout=60):
        """Return what it writes until it ends; end it if that takes longer than the timeout."""
        late = threading.Timer(timeout, self.send_signal, [signal.SIGKILL])
        late.start()
        with ThreadPoolExecutor(2) as pool:
            out, err = pool.map(lambda file: file and file.read(), [self.stdout, self.stderr])
            self.returncode = os.waitstatus_to_exitcode(_answer({"pid": self.pid}, []))
        late.cancel()
        return out, err


def _written(target):
    """Return a file to read, if the target is a pipe, and the number of the file to write."""
    if target != subprocess.PIPE:
        return None, target if isinstance(target, int) else target.fileno()
    reading, writing = os.pipe()
    return open(reading, encoding="utf-8"), writing


@cache
def _channel():
    """Start the server, which ends when the channel is closed."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    search = os.pathsep.join([root, os.path.dirname(os.path.abspath(__file__))])
    env = {**os.environ, "PYTHONPATH": search, "MPLBACKEND": "agg", "ODRF_QUIET": "1"}
    command = [sys.executable, "-c", SERVER, str(there.fileno())]
    server = subprocess.Popen(command, env=env, pass_fds=[there.fileno()])
    there.close()
    atexit.register(server.wait)
    atexit.register(here.close)
    return here


def _answer(asked, files):
    socket.send_fds(_channel(), [json.dumps(asked).encode()], files)
    return int(_channel().recv(100))


def serve(number):
    """Fork for each message; return what a new process is to do, and None when there is no more."""
    channel = socket.socket(fileno=number)
    while True:
        message, files, _, _ = socket.recv_fds(channel, 1 << 16, 2)
        if not message:
            return None
        asked = json.loads(message)
        if "pid" in asked:
            channel.send(b"%d" % os.waitpid(asked["pid"], 0)[1])
            continue
        pid = os.fork()
        if pid == 0:
            channel.close()
            for number, file in zip((STDOUT, STDERR), files, strict=True):
                os.dup2(file, number)
                os.close(file)
            return asked
        for file in files:
            os.close(file)
        channel.send(b"%d" % pid)


def become(arguments, env, folder):
    """Do in this process what Python does with the arguments ``-m MODULE`` or ``-c CODE``."""
    os.chdir(folder)
    os.environ.update(env)
    kind, what, *rest = arguments
    sys.argv = [kind, *rest]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
