"""A process that is measured, behind a protocol of lines: fields separated by tabs, and one line for each."""
import os
import subprocess


class Worker:
    """Runs until close()."""

    def __init__(self, command, **variables):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env=dict(os.environ, TZ="UTC", **variables), stderr=subprocess.DEVNULL)

    def ask(self, *fields):
        """The fields of the answer; raises RuntimeError with the worker's message."""
        try:
            self.process.stdin.write("\t".join(map(str, fields)) + "\n")
            self.process.stdin.flush()
            status, *answer = self.process.stdout.readline().rstrip("\n").split("\t")
        except BrokenPipeError:
            status, answer = "", []
        if status != "ok":
            raise RuntimeError(answer[0] if answer else "the worker ended")
        return answer

    def close(self):
        self.process.stdin.close()
        self.process.wait()
