"""Runs the suite's modules with the CPU in both places, to see that a case is one that JAX itself takes: run_on_cpu.py MODULE..."""

import sys
import unittest

import support

support.hlod = support.cpu
support.PluginTest.setUp = lambda self: None
sys.argv[1:], names = [], sys.argv[1:]
suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(name) for name in names)
sys.exit(not unittest.TextTestRunner().run(suite).wasSuccessful())
