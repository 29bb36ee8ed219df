"""One request of `rondo batch` in a process of its own, which a hostile template may end without harm to others."""
import json
import subprocess
import time


def ask(program, request, timeout_s):
    """(the reply, seconds); a reply with `error` where the program ended without one or took longer."""
    started = time.monotonic()
    try:
        done = subprocess.run([program, "batch"], input=json.dumps(request) + "\n", capture_output=True, text=True,
                              timeout=timeout_s, check=False)
        reply = json.loads(done.stdout) if done.stdout else {"error": {"message": f"the program ended with {done.returncode}"}}
    except subprocess.TimeoutExpired:
        reply = {"error": {"message": f"took longer than {timeout_s} s"}}
    return reply, time.monotonic() - started
