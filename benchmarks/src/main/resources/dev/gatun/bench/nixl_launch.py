# SPDX-License-Identifier: Apache-2.0
"""One launch of the Python side of NixlComparison, through NIXL's own Python API, in both ways that it has."""
import argparse
import base64
import json
import logging
import os
import sys
import time

# the API writes its log to standard output, where the report goes
report_to = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import numpy
from nixl_cu13._api import nixl_agent, nixl_agent_config

logging.disable(logging.INFO)
ITERATIONS_MAX = 200_000
ITERATIONS_MIN = 10
SEAL = b"gNixlMD1"  # Gatun's checksum stands before NIXL's own metadata
SEAL_BYTES = 12

flags = argparse.ArgumentParser()
for name in ("peer", "bytes", "blocks", "batches", "cell-millis"):
    flags.add_argument("--" + name, required=True)
given = flags.parse_args()
_, metadata, remote_base = given.peer.split(",")
metadata = base64.b64decode(metadata)
if metadata.startswith(SEAL):
    metadata = metadata[SEAL_BYTES:]
remote_base = int(remote_base)
size = int(given.bytes)
half_nanos = int(given.cell_millis) * 500_000

agent = nixl_agent("python-%d" % os.getpid(), nixl_agent_config())
memory = numpy.zeros(size, dtype=numpy.uint8)
memory.fill(1)
local_base = memory.ctypes.data
agent.register_memory(agent.get_reg_descs([(local_base, size, 0, "")], "DRAM"))
peer = agent.add_remote_agent(metadata)


def slots_of(batch, layout):
    slots = 2 * batch
    if layout == "consecutive":
        return list(range(batch)), list(range(batch))
    return [(5 * i + 1) % slots for i in range(batch)], [(3 * i + 2) % slots for i in range(batch)]


def finish(handle):
    state = agent.transfer(handle)
    while state == "PROC":
        state = agent.check_xfer_state(handle)
    agent.release_xfer_handle(handle)
    if state != "DONE":
        raise RuntimeError("a transfer failed")


def prepared(block, batch):
    slots = 2 * batch
    here = agent.prep_xfer_dlist("", [(local_base + i * block, block, 0) for i in range(slots)], "DRAM")
    there = agent.prep_xfer_dlist(peer, [(remote_base + i * block, block, 0) for i in range(slots)], "DRAM")

    def run(operation, local, remote):
        finish(agent.make_prepped_xfer(operation, here, local, there, remote))

    return run, (here, there)


def fresh(block, batch):
    def run(operation, local, remote):
        here = agent.get_xfer_descs([(local_base + i * block, block, 0) for i in local], "DRAM")
        there = agent.get_xfer_descs([(remote_base + i * block, block, 0) for i in remote], "DRAM")
        finish(agent.initialize_xfer(operation, here, there, peer))

    return run, ()


def verify(block, local, remote):
    words = memory.view(numpy.uint64)
    count = block // 8
    for mine, theirs in zip(local, remote):
        got = words[mine * count : (mine + 1) * count]
        if not numpy.array_equal(got, numpy.arange(theirs * block, (theirs + 1) * block, 8, dtype=numpy.uint64)):
            raise RuntimeError("a block holds something else")


def measure(run, operation, local, remote):
    clock = time.perf_counter_ns
    end = clock() + half_nanos
    while clock() < end:
        run(operation, local, remote)
    nanos = []
    end = clock() + half_nanos
    while len(nanos) < ITERATIONS_MAX and (clock() < end or len(nanos) < ITERATIONS_MIN):
        start = clock()
        run(operation, local, remote)
        nanos.append(clock() - start)
    nanos.sort()
    return {"medianNanos": nanos[(len(nanos) - 1) // 2], "p10Nanos": nanos[(len(nanos) - 1) // 10],
            "p99Nanos": nanos[int(0.99 * (len(nanos) - 1))], "iterations": len(nanos)}


cells = []
for block in map(int, given.blocks.split(",")):
    for batch in map(int, given.batches.split(",")):
        for layout in ("scattered", "consecutive"):
            local, remote = slots_of(batch, layout)
            for way, make in (("prepared", prepared), ("fresh", fresh)):
                run, handles = make(block, batch)
                run("READ", local, remote)
                verify(block, local, remote)
                for operation in ("read", "write"):
                    cell = {"blockBytes": block, "batch": batch, "layout": layout, "operation": operation, "way": way}
                    cell.update(measure(run, operation.upper(), local, remote))
                    cells.append(cell)
                for handle in handles:
                    agent.release_dlist_handle(handle)
report_to.write(json.dumps({"cells": cells}) + "\n")
report_to.flush()
sys.stderr.flush()
os._exit(0)  # what the libraries do at exit is not measured here
