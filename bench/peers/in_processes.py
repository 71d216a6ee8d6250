# SPDX-License-Identifier: Apache-2.0
"""Work spread over processes, for peers that use one core and leave that to their users."""

import multiprocessing

BATCH = 500


def mapped(function, items, processes):
    """What map() gives, in order."""
    if processes == 1:
        yield from map(function, items)
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from pool.imap(function, items, BATCH)
        pool.close()
        pool.join()
