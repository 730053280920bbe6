"""Commands of a shell that are answered by processes forked from one that has imported the package.

To start the command ``odrf`` takes more than a second; what it does on the pages takes less.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path

__all__ = ["answer_commands"]

# Waits for the exit status; none comes if the process that answers is killed.
COMMAND = """#!{python} -IS
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as channel:
    channel.connect({address!r})
    asked = json.dumps([os.getcwd(), sys.argv[1:]]).encode()
    socket.send_fds(channel, [asked], [0, 1, 2])
    sys.exit(int(channel.recv(10)))
"""
SECONDS = 1.0  # between looks whether the process that has begun this is still there


def answer_commands(folder: str) -> None:
    """Put a command ``odrf`` into the folder, and answer it as long as this process lives."""
    address = str(Path(folder, "socket"))
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen()
    script = Path(folder, "odrf")
    script.write_text(COMMAND.format(python=sys.executable, address=address))
    script.chmod(0o755)
    parent = os.getpid()
    if os.fork() == 0:
        _serve(listener, parent)
    listener.close()


def _serve(listener: socket.socket, parent: int) -> None:
    """Fork for each command until the parent has ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that answer
    listener.settimeout(SECONDS)
    while os.getppid() == parent:
        try:
            channel, _ = listener.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            _answer(channel)
        channel.close()
    os._exit(0)


def _answer(channel: socket.socket) -> None:
    """Be the command, with the files, the folder and the words of the one that asks."""
    from odrf.cli import main  # noqa: PLC0415

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    channel.setblocking(True)
    message, files, _, _ = socket.recv_fds(channel, 1 << 16, 3)
    for number, file in enumerate(files):
        os.dup2(file, number)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(k, "w" if k else "r") for k in range(3))
    folder, words = json.loads(message)
    os.chdir(folder)
    sys.argv = ["odrf", *words]
    status = 1
    try:
        status = main()
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        channel.send(b"%d" % status)
        os._exit(status)
