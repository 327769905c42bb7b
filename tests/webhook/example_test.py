#!/usr/bin/env python3
"""The example receiver in Python accepts our webhooks: example_test.py PEER EXAMPLES"""
import sys
import unittest

from receiving import Receiver, Receiving

PEER, EXAMPLES = sys.argv[1:3]
del sys.argv[1:3]


class Python(Receiving, unittest.TestCase):
    peer = PEER

    def receiver(self, secret):
        return Receiver(sys.executable, f"{EXAMPLES}/receiver.py", "0", secret)


if __name__ == "__main__":
    unittest.main()
