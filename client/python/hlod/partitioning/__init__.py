"""Partitions programs by XLA's own partitioner, the one in jaxlib.

A worker process (worker.py) reads requests from its stdin and writes answers to its stdout, as frames (frames.py). It looks in a cache on
disk (cache.py); what is not there is compiled in a process forked for that one program (compile.py), which ends as soon as XLA has
written the partitioned module. So a crash of jaxlib or a program that takes too long is an error text. client.py is the other end of
the pipe for Python; C++ programs have their own (client/partition).
"""
