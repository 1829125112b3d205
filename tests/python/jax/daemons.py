"""Starts daemons of a cluster on the loopback interface."""

import os
import re
import subprocess
import tempfile


def start(*flags):
    """Starts a daemon; returns it, its unix socket's address, and HOST:PORT."""
    folder = tempfile.TemporaryDirectory()
    local = f"unix:{folder.name}/hlod.sock"
    daemon = subprocess.Popen([os.environ["HLOD_DAEMON"], "--listen", "tcp:127.0.0.1:0", "--listen", local, "--compile-cache", "none",
                               "--log-level", "error", *flags], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    daemon.folder = folder
    port, listening = None, False
    for line in daemon.stdout:
        found = re.match(r"hlod: listening on (?:tcp:)?127\.0\.0\.1:(\d+)", line)
        port = found.group(1) if found else port
        listening |= line.startswith("hlod: listening on unix:")
        if port and listening:
            return daemon, local, f"127.0.0.1:{port}"
    raise AssertionError(f"hlod ended with {daemon.wait()}")


def start_for(case, *flags):
    """Starts a daemon as `start` does, which ends with the test case."""
    started = start(*flags)

    def end():
        started[0].kill()
        started[0].communicate()
        started[0].folder.cleanup()

    case.addCleanup(end)
    return started
