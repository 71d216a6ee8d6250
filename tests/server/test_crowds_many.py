#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tier: full
"""As test_crowds.py, with 10,000 idle connections, 1,000 slow clients and lines of 100 MB."""

import unittest

import test_crowds


class ManyCrowds(test_crowds.Crowds):
    idle, slow, bodies, seconds = 10000, 1000, 32, 6.0
    line_bytes = 100 << 20


def load_tests(loader, _tests, _pattern):
    """What is inherited, once."""
    return loader.loadTestsFromTestCase(ManyCrowds)


if __name__ == "__main__":
    unittest.main()
