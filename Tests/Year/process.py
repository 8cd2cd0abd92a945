"""Child processes under the clock of the year, with what they cost."""

import os
import signal
import subprocess
import time


class Process:
    """A process whose output goes to files, so that it never waits for a reader."""

    def __init__(self, command, environment, log):
        self.name = os.path.basename(command[0])
        self.log = log
        with open(log + ".out", "wb") as out, open(log + ".err", "wb") as err:
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment, start_new_session=True
            )
        self.pid = self._child.pid
        self._began = time.monotonic()
        self.code = None
        self.seconds = self.cpu = 0.0
        self.peak_kib = 0

    def running(self):
        # The kernel's figure for a child that has ended includes the memory of this process, which started it.
        self.peak_kib = self._kib("VmHWM") or self.peak_kib
        return self._wait(os.WNOHANG) is None

    def wait(self, seconds):
        """Waits until it ends, and ends it after so many seconds; returns itself."""
        until = time.monotonic() + seconds
        while self.running():
            if time.monotonic() > until:
                self.signal(signal.SIGKILL)
                self._wait(0)
                raise TimeoutError(f"{self.name} did not end within {seconds} s: {self.errors()[-2000:]}")
            time.sleep(0.01)
        return self

    def signal(self, number):
        if self.code is None:
            os.kill(self.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self._wait(0)

    def output(self):
        return open(self.log + ".out", errors="replace").read()

    def errors(self):
        return open(self.log + ".err", errors="replace").read()

    def resident_kib(self):
        return self._kib("VmRSS")

    def _kib(self, name):
        """A line of the kernel's status of the process; 0 when it has ended."""
        if self.code is None:
            for line in open(f"/proc/{self.pid}/status"):
                if line.startswith(name + ":"):
                    return int(line.split()[1])
        return 0

    def _wait(self, options):
        """The exit code, or None while it runs; -N after signal N."""
        if self.code is None:
            pid, status, usage = os.wait4(self.pid, options)
            if pid == 0:
                return None
            self.code = os.waitstatus_to_exitcode(status)
            self._child.returncode = self.code
            self.seconds = time.monotonic() - self._began
            self.cpu = usage.ru_utime + usage.ru_stime
        return self.code
