"""The product under test: its commands, its receiver, and the job files of the year."""

import json
import os
import signal
import time
import urllib.request

from process import Process


class Product:
    def __init__(self, bin, directory, machine, database, store, port):
        self.bin = bin
        self.directory = directory
        self.database = database
        self._machine = machine
        self._store = store
        self._port = port
        self._receiver = None
        self._count = 0
        self._started = []
        self.jobs = directory + "/jobs"
        os.makedirs(self.jobs, exist_ok=True)
        # The app and the key of the store's own job file.
        self._app = open(store.directory + "/job.yaml").read().split("transactionIds:")[0]
        self._app = self._app[self._app.index("app:"):]
        self._app = self._app.replace("privateKeyFile: ", f"privateKeyFile: {store.directory}/").replace(
            "trustedRoots: [root.cer]", f"trustedRoots: [{store.directory}/root.cer]"
        )

    def write_job(self, name, text):
        path = f"{self.jobs}/{name}.yaml"
        with open(path, "w") as file:
            file.write(f"version: 1\nname: {name}\n{self._app}\n{text}")
        return path

    def start(self, *arguments):
        self._count += 1
        environment = {**self._machine.environment, "DATABASE_URL": self.database.url, "STORELEDGER_DATABASE_DEADLINE": "5"}
        process = Process([self.bin + "/storeledger", *arguments], environment, f"{self.directory}/logs/{self._count % 40}")
        self._started = [other for other in self._started if other.running()] + [process]
        return process

    def call(self, *arguments, seconds=180):
        return self.start(*arguments).wait(seconds)

    def expect(self, *arguments, codes=(0,), seconds=180):
        done = self.call(*arguments, seconds=seconds)
        if done.code not in codes:
            raise Unexpected(f"storeledger {' '.join(arguments)} ended with {done.code}: {done.errors()[-1500:]}")
        return done

    def start_receiver(self):
        environment = {**self._machine.environment, "DATABASE_URL": self.database.url}
        self._receiver = Process(
            [self.bin + "/storeledger", "receive", self.jobs + "/nightly.yaml", "--listen", f"127.0.0.1:{self._port}"],
            environment, self.directory + "/logs/receiver",
        )
        until = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self._port}/health", timeout=5):
                    return
            except OSError:
                if not self._receiver.running() or time.monotonic() > until:
                    raise Unexpected(f"the receiver did not start: {self._receiver.errors()[-1500:]}")
                time.sleep(0.02)

    def kill_receiver(self):
        self._receiver.kill()

    def stop_receiver(self):
        """As systemd does; returns the exit code."""
        self._receiver.signal(signal.SIGTERM)
        return self._receiver.wait(60).code

    def stop(self):
        """Ends everything that still runs."""
        for process in self._started + ([self._receiver] if self._receiver else []):
            process.kill()

    def receiver_kib(self):
        return self._receiver.resident_kib()


class Unexpected(Exception):
    """The product did something else than it says."""


def summary(process):
    """The JSON that a command has printed, or None."""
    text = process.output().strip()
    return json.loads(text) if text else None
