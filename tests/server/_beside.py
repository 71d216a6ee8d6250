# SPDX-License-Identifier: Apache-2.0
"""What goes on beside something else."""

import threading


class Beside:
    """Calls go() of a subclass in a thread of its own, from the beginning of a `with` until its end sets `ending`."""

    def __init__(self):
        self.ending = threading.Event()
        self.thread = threading.Thread(target=self.go)

    def go(self):
        raise NotImplementedError

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ending.set()
        self.thread.join()
