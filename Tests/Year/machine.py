"""What PostgreSQL, simulator and product are made to believe: one clock, and disks that are full."""

import datetime
import os
import time

UTC = datetime.timezone.utc
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Clock:
    """Tests/Shims/clock.c reads from a file by how many seconds the clock is off."""

    def __init__(self, path):
        self.path = path
        self._offset = 0
        self.environment = {"CLOCK_FILE": path}
        self._write()

    def now(self):
        return datetime.datetime.fromtimestamp(time.time() + self._offset, UTC)

    def milliseconds(self):
        return int((time.time() + self._offset) * 1000)

    def set(self, moment):
        """Sets the clock, forwards or back; it then runs on at its usual pace."""
        self._offset = int(moment.timestamp() - time.time())
        self._write()

    def _write(self):
        # Replaced as a whole: a process may read it at any time.
        with open(self.path + ".new", "w") as file:
            file.write(f"{self._offset:+d}\n")
        os.chmod(self.path + ".new", 0o644)
        os.replace(self.path + ".new", self.path)


class Disk:
    """Tests/Shims/disk.c asks for a file whether the disk is full."""

    def __init__(self, path):
        self._path = path
        self.environment = {"DISK_FULL": path}

    def fill(self):
        open(self._path, "w").close()
        os.chmod(self._path, 0o644)

    def make_room(self):
        if os.path.exists(self._path):
            os.remove(self._path)


class Machine:
    """The clock of all processes, and the disks of the database and of the published files."""

    def __init__(self, libraries, path):
        self.libraries = ":".join(libraries)
        self.clock = Clock(path + ".moment")
        self.database_disk = Disk(path + ".full")
        self.output_disk = Disk(path + ".full-output")
        self.database_environment = self._with(self.database_disk)
        self.environment = self._with(self.output_disk)

    def _with(self, disk):
        return {**os.environ, "LD_PRELOAD": self.libraries, **self.clock.environment, **disk.environment}

    def remove(self):
        for disk in (self.database_disk, self.output_disk):
            disk.make_room()
        os.remove(self.clock.path)
