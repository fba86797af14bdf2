"""A Slurm cluster of one node on this machine: `with SlurmCluster(directory) as cluster: …`.

It needs Debian's slurm-wlm and munge, and root. Its daemons, keys, ports and state are its own, so
that it does not touch a cluster that the machine may belong to.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel", "scontrol")
_START, _STOP = 60.0, 20.0  # seconds for the node to be ready, and for a daemon to end
_EXPIRE = 5  # seconds that Slurm waits before it starts a requeued job again; 120 by default


def missing() -> str:
    """Return why no cluster can be started here, "" if one can."""
    absent = [name for name in _PROGRAMS if shutil.which(name) is None]
    if absent:
        return f"{', '.join(absent)} not installed (on Debian: apt-get install slurm-wlm munge)"
    return "" if os.geteuid() == 0 else "needs root"


class SlurmCluster:
    """The daemons of a cluster whose only node has `cpus` CPUs; folder: an empty directory."""

    def __init__(self, folder: Path, cpus: int = 4) -> None:
        self.folder, self._cpus = folder, cpus
        self._conf = folder / "slurm.conf"
        self._daemons: list[subprocess.Popen[bytes]] = []

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which Slurm's commands use this cluster."""
        return {**os.environ, "SLURM_CONF": str(self._conf)}

    def __enter__(self) -> SlurmCluster:
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(subprocess.SubprocessError):
            self.ask("scancel", "--user=root")
            self._wait_for("", ["squeue", "--noheader"], _STOP)
        self._stop()

    def ask(self, *command: str) -> str:
        """Run one of Slurm's commands and return what it prints."""
        done = subprocess.run(command, env=self.environment, check=True, capture_output=True,
                              text=True, timeout=_START)  # fmt: skip
        return done.stdout

    def jobs(self) -> dict[str, dict[str, str]]:
        """Return the properties of all jobs and tasks by `NUMBER` or `NUMBER_TASK`."""
        found = {}
        for line in self.ask("scontrol", "show", "job", "--oneliner").splitlines():
            facts = dict(item.split("=", 1) for item in line.split() if "=" in item)
            if "JobId" in facts:
                task = facts.get("ArrayTaskId")
                array = facts.get("ArrayJobId", facts["JobId"])
                found[array if task is None else f"{array}_{task}"] = facts
        return found

    def _start(self) -> None:
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir()
        self._conf.write_text(self._configuration())
        key = self.folder / "munge" / "key"
        key.write_bytes(secrets.token_bytes(1024))
        key.chmod(0o600)
        munge = [
            f"--{name}={self.folder / 'munge' / name}"
            for name in ("pid-file", "log-file", "seed-file")
        ]
        self._run("munged", "--foreground", "--force", f"--key-file={key}",
                  f"--socket={self._socket}", *munge)  # fmt: skip
        self._until(self._socket.exists, "munged")
        self._run("slurmctld", "-D", "-f", str(self._conf))
        self._run("slurmd", "-D", "-f", str(self._conf))
        self._wait_for("idle", ["sinfo", "--noheader", "--format=%T"], _START)

    @property
    def _socket(self) -> Path:
        return self.folder / "munge" / "socket"

    def _configuration(self) -> str:
        host = socket.gethostname().partition(".")[0]
        ports = _free_ports(2)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        folder = self.folder
        return "\n".join([
            "ClusterName=wordgeom",
            f"SlurmctldHost={host}(127.0.0.1)",
            f"SlurmctldPort={ports[0]}",
            f"SlurmdPort={ports[1]}",
            "SlurmUser=root",
            "SlurmdUser=root",
            "AuthType=auth/munge",
            f"AuthInfo=socket={self._socket},cred_expire={_EXPIRE}",
            "CredType=cred/munge",
            f"StateSaveLocation={folder / 'state'}",
            f"SlurmdSpoolDir={folder / 'spool'}",
            f"SlurmctldPidFile={folder / 'slurmctld.pid'}",
            f"SlurmdPidFile={folder / 'slurmd.pid'}",
            f"SlurmctldLogFile={folder / 'slurmctld.log'}",
            f"SlurmdLogFile={folder / 'slurmd.log'}",
            "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none",
            "MpiDefault=none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "AccountingStorageType=accounting_storage/none",
            "JobAcctGatherType=jobacct_gather/none",
            "SlurmdParameters=config_overrides",  # more CPUs than the machine has are allowed
            "ReturnToService=2",
            "KillWait=5",
            "MinJobAge=3600",
            f"NodeName={host} NodeAddr=127.0.0.1 CPUs={self._cpus} RealMemory={memory}",
            "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP",
            "",
        ])  # fmt: skip

    def _run(self, *command: str) -> None:
        """Start a daemon, whose output goes to a file."""
        with (self.folder / f"{command[0]}.out").open("wb") as out:
            daemon = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=subprocess.STDOUT)  # fmt: skip
        self._daemons.append(daemon)

    def _until(self, ready: object, what: str) -> None:
        """Wait until `ready()`; raises RuntimeError if a daemon ends or the time is up."""
        assert callable(ready)
        for _ in _steps(_START):
            if ready():
                return
            for daemon in self._daemons:
                if daemon.poll() is not None:
                    name = str(daemon.args[0]) if isinstance(daemon.args, Sequence) else what
                    said = (self.folder / f"{name}.out").read_text(errors="replace")[-1000:]
                    raise RuntimeError(f"{name} ended with status {daemon.returncode}: {said}")
        raise RuntimeError(f"{what} is not ready after {_START:.0f} seconds")

    def _wait_for(self, printed: str, command: list[str], seconds: float) -> None:
        """Wait until a command of Slurm prints a text; it may fail before."""
        for _ in _steps(seconds):
            with contextlib.suppress(subprocess.SubprocessError):
                if self.ask(*command).strip() == printed:
                    return
        raise RuntimeError(f"{command[0]} does not print {printed!r} after {seconds:.0f} seconds")

    def _stop(self) -> None:
        """End the daemons, the last one first."""
        for daemon in reversed(self._daemons):
            daemon.terminate()
            try:
                daemon.wait(_STOP)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self._daemons.clear()


def _steps(seconds: float) -> Iterator[None]:
    """Yield several times a second until the time is up."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield
        time.sleep(0.2)


def _free_ports(number: int) -> list[int]:
    """Return ports that nothing listens to."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(number)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
