# SPDX-License-Identifier: Apache-2.0
# tier: full
# needs: documents
"""`nigh dedup --slurm` on a real Slurm with two nodes (_slurm.py).

usage: test_slurm.py [plain_run|killed|node_lost|cancelled|disk_full]...

Whatever happens on the way, the output is byte for byte that of `nigh dedup` on one core, and nothing is made twice
that was not lost: by the logs, each task has made its file once.

    plain_run   nothing happens
    killed      a task is killed with -9, which goes back to the queue; then a whole job script is, which is submitted
                again
    node_lost   a node goes away in the middle, and its task is done on the other one
    cancelled   jobs that are cancelled stay so, and may be submitted again
    disk_full   the temporary folder of one node is full; once there is room, it is submitted again

Skipped where Slurm, or the rights to make nodes, are not to be had.
"""
import glob
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

from _slurm import Cluster, NotHere, wait_until

NIGH = os.environ["NIGH"]
SHARDS = 4
INPUTS = [f"in{i}.jsonl" for i in range(SHARDS)]
STAGES = ("sign", "copies", "postings", "buckets", "pairs", "components", "sets", "verify")
DONE = re.compile(r"^stage (\w+), shard (\d+)/\d+: done,", re.MULTILINE)
BEFORE = re.compile(r"^stage (\w+), shard (\d+)/\d+: was done before", re.MULTILINE)


class Wrong(Exception):
    """Something is not as it should be."""


def check(true, what):
    if not true:
        raise Wrong(what)


def read(name):
    with open(name, "rb") as file:
        return file.read()


def make_inputs():
    rng = random.Random(7)
    for name in INPUTS:
        with open(name, "w", encoding="ascii") as out:
            for i in range(12000):
                which = rng.randrange(9000)
                words = [f"t{which}w{k}" for k in range(60)]
                for _ in range(rng.randrange(5)):
                    words[rng.randrange(60)] = f"other{rng.randrange(10**9)}"
                out.write(json.dumps({"id": i, "text": " ".join(words)}) + "\n")


class Run:
    """One de-duplication by scripts, in a work folder of its own, with spaces in its name."""

    def __init__(self, cluster, name, options=()):
        self.cluster = cluster
        self.work, self.output = f"work {name}", f"out {name}.jsonl"
        self.started = time.monotonic()
        self.call("--shards", str(SHARDS), *options, *INPUTS)

    def call(self, *words):
        """Writes the scripts and submits them."""
        done = subprocess.run([NIGH, "dedup", "--work", self.work, "--slurm", "--submit", "-o", self.output, *words],
                              env=self.cluster.environment, capture_output=True, text=True, check=False)
        check(done.returncode == 0 and "9-rewrite.sh" in done.stdout, f"{self.work}: {done.stdout}{done.stderr}")

    def log(self):
        return "".join(read(name).decode() for name in sorted(glob.glob(f"{self.work}/slurm/log/*")))

    def catch(self, stage):
        """Stops a process that is at work on the stage; (its number, its shard)."""
        def look():
            for path in glob.glob("/proc/[0-9]*/cmdline"):
                try:
                    words = read(path).decode(errors="replace").split("\0")
                except OSError:
                    continue
                if words[1:4] != ["dedup", "--work", self.work] or words[5:6] != [stage]:
                    continue
                caught, shard = int(path.split("/")[2]), words[7].split("/", maxsplit=1)[0]
                try:
                    os.kill(caught, signal.SIGSTOP)
                    if not os.path.exists(f"{self.work}/{stage}-{shard}"):
                        return caught, shard
                    os.kill(caught, signal.SIGCONT)
                except ProcessLookupError:
                    pass
            return None
        return wait_until(f"a task of {stage}", look, 200)

    def node_of(self, stage, shard):
        """Where the task was last seen to begin."""
        starts = re.findall(r"^== .* on (n\d): job ", read(f"{self.work}/slurm/log/{stage}-{shard}").decode(),
                            re.MULTILINE)
        return starts[-1]

    def starts(self, stage, shard):
        return read(f"{self.work}/slurm/log/{stage}-{shard}").decode().count("== ")

    def wait_for_start(self, stage, shard, count):
        """Seconds until the task has begun so many times."""
        since = time.monotonic()
        wait_until(f"task {shard} of {stage} to begin again", lambda: self.starts(stage, shard) >= count, 200)
        return time.monotonic() - since

    def finish(self, plain, again=()):
        """The end: the bytes of a plain run, and each file made once; those of `again` were begun more than once."""
        self.cluster.wait_for_end(300)
        check(os.path.exists(self.output), f"{self.work}: no output\n{self.log()}")
        check(read(self.output) == plain, f"{self.work}: the output differs")
        made = DONE.findall(self.log())
        check(len(made) == len(set(made)), f"{self.work}: made more than once: {sorted(made)}")
        check(len(made) == 7 * SHARDS + 1, f"{self.work}: not all was made: {sorted(made)}")
        for stage, shard in again:
            check(self.starts(stage, shard) >= 2, f"{self.work}: {stage} {shard} did not begin again")
        return time.monotonic() - self.started


def plain_run(cluster, plain):
    run = Run(cluster, "plain")
    seconds = run.finish(plain)
    nodes = {run.node_of("sign", str(shard)) for shard in range(SHARDS)}
    check(nodes == {"n1", "n2"}, f"only {nodes} had work")
    return f"{seconds:.0f} s in all, on both nodes"


def killed(cluster, plain):
    run = Run(cluster, "killed")
    caught, shard = run.catch("sign")
    os.kill(caught, signal.SIGKILL)
    seconds = run.wait_for_start("sign", shard, 2)
    check("requeued 1 times" in read(f"{run.work}/slurm/log/sign-{shard}").decode(), "Slurm did not requeue it")
    # And the script with all that it has started: for Slurm a failure, after which the rest is cancelled.
    caught, other = run.catch("sets")
    with open(f"/proc/{caught}/stat", encoding="ascii") as file:
        script = int(file.read().rsplit(")", maxsplit=1)[1].split()[1])
    os.kill(script, signal.SIGKILL)
    os.kill(caught, signal.SIGKILL)
    cluster.wait_for_end(120)
    check(not os.path.exists(run.output), "an output after a failure")
    check("stage verify" not in run.log(), "a stage began before the one before it had ended well")
    run.call()
    run.finish(plain, [("sign", shard), ("sets", other)])
    before = len(BEFORE.findall(run.log()))
    return f"the task began again {seconds:.0f} s after kill -9; submitted again, {before} tasks found theirs done"


def node_lost(cluster, plain):
    run = Run(cluster, "node")
    _, shard = run.catch("sign")
    node = run.node_of("sign", shard)
    cluster.kill_node(node)
    seconds = run.wait_for_start("sign", shard, 2)
    check(run.node_of("sign", shard) != node, f"{node} is gone, and does it again")
    cluster.start_node(node)
    run.finish(plain, [("sign", shard)])
    wait_until(f"{node} to be back", lambda: cluster.state(node) == "idle")
    return f"its task began on the other node {seconds:.0f} s after it went"


def cancelled(cluster, plain):
    run = Run(cluster, "cancelled")
    caught, shard = run.catch("sign")
    jobs = read(f"{run.work}/slurm/jobs.txt").decode().split()
    refused = subprocess.run(["bash", f"{run.work}/slurm/submit.sh"], env=cluster.environment, capture_output=True,
                             text=True, check=False)
    check(refused.returncode == 2 and "are in the queue" in refused.stderr, f"submitted twice: {refused.stderr}")
    cluster.ask("scancel", *jobs)
    os.kill(caught, signal.SIGCONT)
    cluster.wait_for_end(60)
    check(not os.path.exists(run.output), "an output of cancelled jobs")
    check(run.starts("sign", shard) == 1, "a cancelled task came back")
    run.call()
    run.finish(plain, [("sign", shard)])
    return "none of them came back by itself"


def disk_full(cluster, plain):
    place = os.path.abspath("temporary")
    os.mkdir(place)
    cluster.on_node("n2", "mount", "-t", "tmpfs", "-o", "size=64k", "none", place)
    run = Run(cluster, "disk", ("--memory", "1M", "--temporary", place))
    cluster.wait_for_end(300)
    said = [line for line in run.log().splitlines() if line.startswith("nigh: ")]
    check(said and all("No space left on device" in line and place in line for line in said), f"said: {said}")
    check(not os.path.exists(run.output), "an output after a failure")
    cluster.on_node("n2", "mount", "-o", "remount,size=1g", place)
    run.call("--memory", "1M", "--temporary", place)
    run.finish(plain)
    return f"{len(said)} failed, such as: {said[0]}"


def main():
    make_inputs()
    subprocess.run([NIGH, "dedup", *INPUTS, "--threads", "1", "-o", "plain.jsonl", "--quiet"], check=True)
    plain = read("plain.jsonl")
    os.mkdir("cluster")
    try:
        with Cluster("cluster") as cluster:
            for case in (plain_run, killed, node_lost, cancelled, disk_full):
                if len(sys.argv) > 1 and case.__name__ not in sys.argv[1:]:
                    continue
                print(f"{case.__name__}: {case(cluster, plain)}", flush=True)
    except NotHere as why:
        print(f"skipped: {why}")
        return 77
    except (Wrong, TimeoutError) as why:
        print(why)
        subprocess.run("tail -n 20 cluster/slurmctld.log cluster/slurmd-*.log", shell=True, check=False)
        return 1
    return 0


sys.exit(main())
