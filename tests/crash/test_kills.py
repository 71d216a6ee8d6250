# SPDX-License-Identifier: Apache-2.0
# tier: quick
# needs: documents
# long: 10000
"""Kills the tool with SIGKILL while it adds, deletes, replaces, merges, streams, adopts and makes graphs.

usage: test_kills.py [KILLS [SEED]]

After each kill: nothing acknowledged is lost, nothing deleted is back, `nigh check` finds nothing, and whoever comes
next goes on.  An episode is one collection with at most 40 kills; episodes take the seeds SEED, SEED + 1 and so on, and
two run at a time.  In those of an even seed a kill comes before a certain file call, or within a write (kill_at_call.c),
so that the seed brings it back; in the others it comes by the clock.  A failure prints the command that repeats it.
"""
import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

from _workload import NIGH, Workload, Wrong, contents, has_log, must, take_up

KILLS_OF_EPISODE = 40
PRELOAD = os.path.join(os.environ.get("NIGH_BUILD_DIR", ""), "tests", "kill_at_call.so")
# A sanitizer's runtime wants to be the first that is loaded.
BY_CALL = os.path.exists(PRELOAD) and not os.environ.get("NIGH_SANITIZE")


class Killer:
    """Runs the tool, and kills it at moments that fall into its runs: each kind of step is measured."""

    def __init__(self, folder, rng, by_call):
        self.folder, self.rng, self.by_call = folder, rng, by_call
        self.usual = {}  # calls or seconds of a step, by its name

    def start(self, step, environment):
        self.output = f"{self.folder}/output"
        with open(step.stdin or os.devnull, "rb") as lines, open(self.output, "wb") as output:
            return subprocess.Popen([NIGH, *step.arguments], stdin=lines, stdout=output, stderr=subprocess.PIPE,
                                    env={**os.environ, **environment})

    def wait(self, process, step):
        """Whether it came to its end; fails where it failed."""
        errors = process.communicate()[1]
        if process.returncode not in (0, -signal.SIGKILL):
            raise Wrong(f"{step.name}: exit {process.returncode}: {errors.decode()}")
        return process.returncode == 0

    def measure(self, step):
        count = f"{self.folder}/calls"
        begin = time.monotonic()
        environment = {"LD_PRELOAD": PRELOAD, "NIGH_KILL_COUNT": count} if self.by_call else {}
        self.wait(self.start(step, environment), step)
        if not self.by_call:
            self.usual[step.name] = time.monotonic() - begin
            return
        with open(count, encoding="ascii") as counted:
            self.usual[step.name] = int(counted.read())

    def kill(self, step):
        """Whether it came to its end before the kill."""
        usual = self.usual[step.name]
        if self.by_call:
            # As large as the next may be; half of them near the end, where names are given and the commit is made.
            least = 1 if self.rng.random() < 0.5 else max(1, usual // 2)
            moment = self.rng.randrange(least, usual + 2)
            return self.wait(self.start(step, {"LD_PRELOAD": PRELOAD, "NIGH_KILL_AT": str(moment)}), step)
        process = self.start(step, {})
        time.sleep(usual * self.rng.uniform(0.0, 1.1))
        process.send_signal(signal.SIGKILL)
        return self.wait(process, step)

    def answers(self):
        with open(self.output, "rb") as output:
            return output.read()


class Episode:
    def __init__(self, folder, seed, kills):
        self.folder, self.seed, self.wanted = folder, seed, kills
        self.work = Workload(folder, seed)
        self.killer = Killer(folder, self.work.rng, BY_CALL and seed % 2 == 0)
        self.kills = Counter()
        self.new_states = 0

    def run(self):
        must(*self.work.begin.arguments)
        self.work.documents = self.work.begin.after
        for _ in range(20 * self.wanted):
            if sum(self.kills.values()) >= self.wanted:
                return
            self.one(self.work.step())
        raise Wrong("the kills did not fall into the runs: too little was tested")

    def one(self, step):
        if step.name not in self.killer.usual:
            self.killer.measure(step)
            finished = True
        else:
            finished = self.killer.kill(step)
            self.kills[step.name] += not finished
        output = self.killer.answers()
        if not finished and step.name == "stream" and self.work.rng.random() < 0.3:
            self.kill_taking_up()
        found = contents(self.work.place)
        step.expect(found, finished, output)
        self.new_states += not finished and found != step.before
        self.work.documents = found
        if finished:
            self.expect_tidy(step)

    def kill_taking_up(self):
        """A log that was left is taken up, and that is cut short as well."""
        if not has_log(self.work.place):
            return
        step = type("Step", (), {"name": "taking up", "arguments": take_up(self.work.place), "stdin": None})
        self.killer.usual.setdefault(step.name, self.killer.usual["stream"])
        self.kills[step.name] += not self.killer.kill(step)

    def expect_tidy(self, step):
        left = [name for name in os.listdir(self.work.place) if name.endswith(".tmp")]
        if left and step.name != "graph":
            raise Wrong(f"{step.name} left over {left}")


def run_episode(seed, kills):
    """What was killed, how often the new state was there; or the failure."""
    with tempfile.TemporaryDirectory(prefix=f"kills{seed}-", dir=".") as folder:
        episode = Episode(folder, seed, kills)
        try:
            episode.run()
        except Wrong as wrong:
            kept = f"failed-{seed}"
            shutil.rmtree(kept, ignore_errors=True)
            shutil.copytree(folder, kept)
            count = sum(episode.kills.values())
            return episode.kills, 0, (f"FAILED: seed {seed}, kill {count}: {wrong}\n"
                                      f"  as it was found: {os.path.abspath(kept)}\n"
                                      f"  again: test_kills.py {kills} {seed}")
    return episode.kills, episode.new_states, None


def main():
    kills = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    shares = [KILLS_OF_EPISODE] * (kills // KILLS_OF_EPISODE) + [kills % KILLS_OF_EPISODE] * (kills % KILLS_OF_EPISODE > 0)
    total, new_states, begin = Counter(), 0, time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(run_episode, seed + number, share) for number, share in enumerate(shares)]
        for job in concurrent.futures.as_completed(jobs):
            counts, new, failure = job.result()
            total += counts
            new_states += new
            if failure is not None:
                print(failure)
                pool.shutdown(cancel_futures=True)
                return 1
    print(f"{sum(total.values())} kills in {len(shares)} episodes of seeds {seed} to {seed + len(shares) - 1}, "
          f"{time.monotonic() - begin:.0f} s{'' if BY_CALL else ', all by the clock'}: {dict(sorted(total.items()))}; "
          f"{new_states} left a new state")
    return 0


if __name__ == "__main__":
    sys.exit(main())
