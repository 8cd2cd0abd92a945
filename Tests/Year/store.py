"""The simulated App Store."""

import email.utils
import json
import os
import time
import urllib.request

from process import Process

FIRST_ID = 430_000_000_000_000
BLOCK = 100_000


def customer_of(transaction_id):
    """Every customer has a block of transaction IDs."""
    return (int(transaction_id) - FIRST_ID) // BLOCK


class Store:
    def __init__(self, bin, directory, machine, logs, options):
        self.directory = directory
        self._command = [bin + "/appstore-simulator", "serve", "--directory", directory] + options
        self._machine = machine
        self._logs = logs
        self._process = None
        self.start()

    def start(self):
        ready = self.directory + "/ready.json"
        if os.path.exists(ready):
            os.remove(ready)
        self._process = Process(self._command, self._machine.environment, self._logs + "/simulator")
        while not os.path.exists(ready):
            if not self._process.running():
                raise RuntimeError("the simulator ended: " + self._process.errors())
            time.sleep(0.02)
        self.url = json.load(open(ready))["baseURL"]

    def stop(self):
        if self._process:
            self._process.kill()

    def resident_kib(self):
        return self._process.resident_kib()

    def advance(self, **step):
        """Returns the transaction IDs of the changes."""
        return [change["transactionId"] for change in self._ask("POST", "advance", step)["changes"]]

    def set_faults(self, *rules):
        self._ask("PUT", "faults", {"rules": list(rules)})

    def set_delivery_faults(self, *rules):
        self._ask("PUT", "delivery-faults", {"rules": list(rules)})

    def world(self):
        return self._lines("world")

    def actions(self):
        return self._lines("actions")

    def deliveries(self):
        return self._lines("deliveries")

    def settle(self, seconds=30):
        """Waits until every post that is due has been made."""
        self._wait(seconds, lambda now: not any(line.get("nextAttemptDate", now + 1) <= now for line in self.deliveries()))

    def agree(self):
        """Waits until the answers have the date of the clock: the server renews it each second."""

        def agrees(now):
            self._request("GET", "pages/999999999")
            return abs(self._date.timestamp() * 1000 - now) < 30_000

        self._wait(30, agrees)

    def _wait(self, seconds, is_done):
        until = time.monotonic() + seconds
        while not is_done(self._machine.clock.milliseconds()):
            if time.monotonic() > until:
                raise TimeoutError("the store did not follow the clock")
            time.sleep(0.05)

    def _lines(self, path):
        return [json.loads(line) for line in self._request("GET", path).splitlines() if line]

    def _ask(self, method, path, body=None):
        return json.loads(self._request(method, path, body))

    def _request(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/simulator/{path}", data=data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                self._date = email.utils.parsedate_to_datetime(answer.headers["Date"])
                return answer.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path} {body}: {error.read().decode()}") from error
