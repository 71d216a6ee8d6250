# SPDX-License-Identifier: Apache-2.0
"""A Slurm of our own: slurmctld and two nodes on this machine, in a folder, on free ports of the loopback.

Each node is a slurmd in a process and a mount namespace of its own, so that killing its first process takes away all
that runs there, as when a machine goes; and a node may see another disk than its neighbour.  Nothing of the system's
own Slurm or munge is used or changed, and whatever is started here ends with the test.
"""
import os
import shutil
import signal
import socket
import subprocess
import time

NODES = ("n1", "n2")
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol", "sinfo", "unshare", "nsenter",
            "setpriv")

CONFIGURATION = """\
ClusterName=nigh{port}
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={port}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket,cred_expire={expire}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=1,sched_min_interval=100000
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
ReturnToService=2
SlurmdTimeout={timeout}
SlurmctldTimeout=30
InactiveLimit=0
KillWait=5
MinJobAge=300
{nodes}
PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP
"""


class NotHere(Exception):
    """Something that a cluster needs cannot be had; says what."""


def find(program):
    return shutil.which(program, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


def free_ports(count):
    """So many ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


def is_free(port):
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def wait_until(what, true, seconds=60):
    """Waits until true() is, and gives back what it said."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        said = true()
        if said:
            return said
        time.sleep(0.1)
    raise TimeoutError(f"waited {seconds} s in vain for {what}")


class Cluster:
    """Up from `with Cluster(FOLDER)` until its end."""

    def __init__(self, folder, cpus=1, timeout=10, expire=5):
        self.folder = os.path.abspath(folder)
        self.nodes = {}
        self.controller, self.ports = 0, {}
        self.daemons = []
        self.cpus, self.timeout, self.expire = cpus, timeout, expire
        self.environment = dict(os.environ, SLURM_CONF=f"{self.folder}/slurm.conf")
        for name in list(self.environment):  # what a user has set for a Slurm of his own
            if name.startswith(("SBATCH_", "SQUEUE_", "SINFO_")):
                del self.environment[name]

    def __enter__(self):
        missing = [program for program in PROGRAMS if find(program) is None]
        if missing:
            raise NotHere(f"no {', '.join(missing)} here; Debian has them as slurm-wlm and munge")
        if os.geteuid() != 0:
            raise NotHere("namespaces for the nodes need root")
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for process in [*self.nodes.values(), *reversed(self.daemons)]:
            process.kill()
            process.wait()

    def start(self):
        os.makedirs(f"{self.folder}/state")
        os.makedirs(f"{self.folder}/munge", mode=0o755)
        self.configure()
        self.start_munge()
        self.daemons.append(self.spawn("slurmctld", [
            find("slurmctld"), "-D", "-i", "-f", f"{self.folder}/slurm.conf"]))
        for node in NODES:
            self.start_node(node)
        wait_until("all nodes to be idle", lambda: all(self.state(node) == "idle" for node in NODES))
        self.check_loopback()

    def check_loopback(self):
        """Nobody beyond this machine is to see any of it."""
        places = set()
        for path in ("/proc/net/tcp", "/proc/net/tcp6"):
            if os.path.exists(path):
                with open(path, encoding="ascii") as file:
                    places |= {line.split()[1] for line in file if line.split()[3] == "0A"}
        for port in (self.controller, *self.ports.values()):
            heard = {place for place in places if place.endswith(f":{port:04X}")}
            if heard != {f"0100007F:{port:04X}"}:
                raise AssertionError(f"port {port} is open at {heard}, and should be at 127.0.0.1 alone")

    def configure(self):
        self.controller, *ports = free_ports(1 + len(NODES))
        self.ports = dict(zip(NODES, ports))
        lines = [f"NodeName={node} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs={self.cpus} "
                 "RealMemory=4000 State=UNKNOWN" for node, port in self.ports.items()]
        with open(f"{self.folder}/slurm.conf", "w", encoding="utf-8") as file:
            file.write(CONFIGURATION.format(port=self.controller, user="root", folder=self.folder, expire=self.expire,
                                            timeout=self.timeout, nodes="\n".join(lines)))
        for node in NODES:
            os.makedirs(f"{self.folder}/spool-{node}")

    def spawn(self, name, words):
        with open(f"{self.folder}/{name}.out", "ab") as out:
            # Where the test itself is killed, this ends with it.
            return subprocess.Popen([find("setpriv"), "--pdeathsig", "KILL", *words], stdin=subprocess.DEVNULL,
                                    stdout=out, stderr=out, cwd=self.folder, env=self.environment,
                                    start_new_session=True)

    def start_munge(self):
        place = f"{self.folder}/munge"
        with open(f"{place}/key", "wb") as file:
            os.fchmod(file.fileno(), 0o400)
            file.write(os.urandom(128))
        self.daemons.append(self.spawn("munged", [
            find("munged"), "--foreground", "--force", f"--key-file={place}/key", f"--socket={place}/socket",
            f"--pid-file={place}/pid", f"--log-file={place}/log", f"--seed-file={place}/seed", "--num-threads=2"]))
        wait_until("munged", lambda: os.path.exists(f"{place}/socket"))

    # ------------------------------------------------------------------- nodes

    def start_node(self, node):
        wait_until(f"the port of {node}", lambda: is_free(self.ports[node]))
        self.nodes[node] = self.spawn(f"slurmd-{node}", [
            find("unshare"), "--mount", "--pid", "--fork", "--kill-child=SIGKILL", "--mount-proc",
            find("slurmd"), "-D", "-N", node, "-f", f"{self.folder}/slurm.conf"])

    def kill_node(self, node):
        """As if its power were cut: every process there is gone at once."""
        process = self.nodes.pop(node)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def on_node(self, node, *words):
        """Runs a command in the node's namespaces, as on that machine."""
        with open(f"/proc/{self.nodes[node].pid}/task/{self.nodes[node].pid}/children", encoding="ascii") as file:
            first = file.read().split()[0]
        return subprocess.run([find("nsenter"), "--target", first, "--mount", "--pid", *words], check=True,
                              capture_output=True, text=True).stdout

    # ------------------------------------------------------------------- asking

    def ask(self, program, *words):
        done = subprocess.run([find(program), *words], env=self.environment, capture_output=True, text=True,
                              check=False)
        return done.stdout.strip() if done.returncode == 0 else ""

    def state(self, node):
        return self.ask("sinfo", "--noheader", "--nodes", node, "--format", "%T")

    def jobs(self):
        """{"12_3": ("sign", "RUNNING", "n1"), ...} of all that is in the queue."""
        lines = self.ask("squeue", "--noheader", "--array", "--format", "%i|%j|%T|%N").splitlines()
        return {line.split("|")[0]: tuple(line.split("|")[1:]) for line in lines}

    def wait_for_end(self, seconds=120):
        wait_until("the queue to be empty", lambda: self.ask("sinfo") and not self.jobs(), seconds)
