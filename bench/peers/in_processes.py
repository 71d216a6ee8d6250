# SPDX-License-Identifier: Apache-2.0
"""Work spread over processes, for peers that use one core and leave that to their users."""

import multiprocessing

BATCH = 500


def mapped(function, items, processes, batch=BATCH):
    """What map() gives, in order; a process takes so many at a time."""
    if processes == 1:
        yield from map(function, items)
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap(function, items, batch)
        pool.close()
        pool.join()
