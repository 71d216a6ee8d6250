# SPDX-License-Identifier: Apache-2.0
"""What calls do to the program around them: the GIL, Ctrl-C, progress, exceptions from inside, memory."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time

import pytest

import nigh
from conftest import make_texts


def test_other_python_runs_meanwhile():
    texts = make_texts(3000, 9)
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begun = time.perf_counter()
    nigh.dedup(texts * 5, method="exact", progress=False)
    ended = time.perf_counter()
    done.set()
    thread.join()
    inside = [tick for tick in ticks if begun < tick < ended]
    longest = max(b - a for a, b in zip([begun, *inside], [*inside, ended]))
    assert longest < max(0.2, (ended - begun) / 2)


def test_progress_is_reported_and_can_stop():
    seen = []
    texts = make_texts(2000, 3) * 20

    def stop(stage, done, total):
        seen.append((stage, done, total))
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        nigh.dedup(texts, progress=stop)
    assert len(seen) == 1 and isinstance(seen[0][0], str)
    assert nigh.dedup(texts[:10], progress=False)[0]


def test_ctrl_c_ends_it_and_leaves_nothing(tmp_path):
    code = textwrap.dedent(
        """
        import signal, sys, nigh, random
        signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests may ignore it
        words = [str(i) for i in range(500)]
        texts = [" ".join(random.choices(words, k=200)) for _ in range(15000)]
        print("begun", flush=True)
        try:
            while True:
                nigh.add(sys.argv[1], texts, width_bits=4096, progress=False)
        except KeyboardInterrupt:
            print("stopped", flush=True)
        """
    )
    place = tmp_path / "new.nigh"
    child = subprocess.Popen([sys.executable, "-c", code, str(place)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "begun\n"
    time.sleep(0.7)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.stdout.read() == "stopped\n" and child.wait() == 0
    assert time.monotonic() - begun < (60 if os.environ.get("NIGH_SLOWLY") else 5)
    assert not place.exists() or len(nigh.Collection(place)) % 15000 == 0


def test_what_a_generator_raises_comes_out():
    def texts():
        yield "one two three"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        nigh.dedup(texts())


def test_bar_without_tqdm(monkeypatch, capsys):
    from nigh import _progress

    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with _progress.Bar(True) as bar:
        assert bar.report is not None
        bar.report("reading", 5, 10)
        bar.report("reading", 7, 0)
    written = capsys.readouterr().err
    assert "reading  50 %" in written and written.endswith("\r\x1b[K")


def test_bar_with_tqdm(capsys):
    pytest.importorskip("tqdm")
    from nigh import _progress

    with _progress.Bar(True) as bar:
        assert bar.report is not None
        bar.report("reading", 5, 10)
        bar.report("writing", 1, 10)
    assert "reading" in capsys.readouterr().err


def test_no_bar_where_nobody_looks():
    from nigh._progress import Bar

    assert Bar(False).report is None
    if not sys.stderr.isatty():
        assert Bar(None).report is None


def test_no_temporary_files_stay():
    before = set(os.listdir(tempfile.gettempdir()))
    nigh.dedup(make_texts(50, 2), memory_bytes=1 << 20)
    made = set(os.listdir(tempfile.gettempdir())) - before
    assert not [name for name in made if name.startswith("nigh") and "index" not in name]


def test_errors_are_one_tree(tmp_path):
    with pytest.raises(nigh.NotFoundError) as caught:
        nigh.Collection(tmp_path / "none.nigh")
    assert isinstance(caught.value, nigh.NighError) and isinstance(caught.value, LookupError)
    assert caught.value.file is not None and caught.value.file.endswith("none.nigh")
    (tmp_path / "file").write_text("x")
    with pytest.raises(nigh.NighError):
        nigh.Collection(tmp_path / "file")


def test_damage_says_file_and_offset(tmp_path):
    np = pytest.importorskip("numpy")
    place = tmp_path / "c.nigh"
    nigh.Collection.create(place, np.zeros((500, 8), np.uint8), progress=False).close()
    segment = next(path for path in place.iterdir() if path.name.startswith("segment"))
    damaged = bytearray(segment.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    segment.chmod(0o644)
    segment.write_bytes(damaged)
    with pytest.raises(nigh.DamagedError) as caught:
        nigh.Collection(place, verify=True)
    assert segment.name in (caught.value.file or "") and caught.value.offset is not None
