# SPDX-License-Identifier: Apache-2.0
"""A cluster of Spark on this machine: a master and two workers of one core, on loopback and free ports, with executors
of 1 GB.  What was started is ended by its number."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager

import pyspark
from pyspark.sql import SparkSession

HOME = os.path.dirname(pyspark.__file__)
TESTS = os.path.dirname(os.path.abspath(__file__))


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def start(folder, name, *arguments):
    environment = dict(
        os.environ, SPARK_HOME=HOME, SPARK_LOCAL_IP="127.0.0.1", SPARK_WORKER_DIR=str(folder),
        PYSPARK_PYTHON=sys.executable, SPARK_DAEMON_MEMORY="256m",
    )  # fmt: skip
    command = [os.path.join(HOME, "bin", "spark-class"), *arguments]
    with open(folder / f"{name}.log", "wb") as log:
        return subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)


def wait_for(folder, name, process, words):
    """Until the log says so; however busy the machine, a process that is there gets there."""
    log = folder / f"{name}.log"
    for _ in range(6000):
        told = log.read_text(errors="replace")
        if words in told:
            return
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended with {process.returncode}: {told[-2000:]}")
        time.sleep(0.1)
    raise TimeoutError(f"{log} has no {words!r}: {told[-2000:]}")


def stop(process):
    os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def session_of(address, folder, settings):
    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    builder = SparkSession.builder.master(address)
    for key, value in {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g", "spark.executor.cores": "1", "spark.sql.shuffle.partitions": "4",
        "spark.local.dir": str(folder), "spark.task.maxFailures": "20", "spark.driver.memory": "2g",
        "spark.ui.showConsoleProgress": "false", "spark.deploy.maxExecutorRetries": "-1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join([TESTS, *filter(None, sys.path)]), **settings,
    }.items():  # fmt: skip
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


@contextmanager
def cluster(folder, **settings):
    """A session on a cluster whose files are in a folder."""
    address = f"spark://127.0.0.1:{free_port()}"
    port = address.rpartition(":")[2]
    deploy = "org.apache.spark.deploy."
    place = ("--host", "127.0.0.1", "--webui-port", "0")
    started = []
    try:
        started.append(start(folder, "master", deploy + "master.Master", "--port", port, *place))
        wait_for(folder, "master", started[0], "started at")
        size = ("--cores", "1", "--memory", "1400m")
        for number in range(2):
            started.append(start(folder, f"worker{number}", deploy + "worker.Worker", *size, *place, address))
        for number in range(2):
            wait_for(folder, f"worker{number}", started[1 + number], "registered with master")
        session = session_of(address, folder, settings)
        try:
            yield session
        finally:
            session.stop()
    finally:
        for process in reversed(started):
            stop(process)
