"""Puts and gets the pages of a request through Mooncake's own Python client: page by page in batches, and in groups.

Started by dev.gatun.bench.PageGroupComparison, which has a master and a storage process running. Prints JSON.
"""

import argparse
import ctypes
import json
import mmap
import random
import time

from mooncake.store import MooncakeDistributedStore

BATCH = 128
ROUNDS = 10


class Pages:
    """Pages of one size in registered memory, in an order in which no two that follow each other lie side by side."""

    def __init__(self, page_bytes, blocks):
        self.page_bytes = page_bytes
        self.memory = mmap.mmap(-1, page_bytes * blocks)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        places = list(range(blocks))
        random.Random(1).shuffle(places)
        self.pointers = [self.base + place * page_bytes for place in places]
        self.sizes = [page_bytes] * blocks

    def fill(self):
        for number, pointer in enumerate(self.pointers):
            ctypes.memset(pointer, number % 251 + 1, self.page_bytes)

    def spoil(self):
        for pointer in self.pointers:
            ctypes.memset(pointer, 0, self.page_bytes)

    def check(self, who):
        for number, pointer in enumerate(self.pointers):
            wanted = bytes([number % 251 + 1]) * self.page_bytes
            if ctypes.string_at(pointer, self.page_bytes) != wanted:
                raise SystemExit(f"{who} got other bytes than were put: page {number}")


class PageByPage:
    """One key a page, batches of 128."""

    name = "python"

    def __init__(self, store, pages, group):
        self.store = store
        keys = [f"python/{pages.page_bytes}/{i}" for i in range(len(pages.pointers))]
        self.parts = [
            (keys[i : i + BATCH], pages.pointers[i : i + BATCH], pages.sizes[i : i + BATCH])
            for i in range(0, len(keys), BATCH)
        ]

    def put(self):
        for keys, pointers, sizes in self.parts:
            require("put", all(code == 0 for code in self.store.batch_put_from(keys, pointers, sizes)))

    def get(self):
        for keys, pointers, sizes in self.parts:
            require("get", self.store.batch_get_into(keys, pointers, sizes) == sizes)


class Grouped:
    """As many pages an object as the product takes, handed over as lists of buffers."""

    name = "pythonMultiBuffer"

    def __init__(self, store, pages, group):
        self.store = store
        starts = range(0, len(pages.pointers), group)
        self.keys = [f"python/{pages.page_bytes}/{group}/{i}" for i in starts]
        self.pointers = [pages.pointers[i : i + group] for i in starts]
        self.sizes = [pages.sizes[i : i + group] for i in starts]
        self.totals = [sum(sizes) for sizes in self.sizes]

    def put(self):
        codes = self.store.batch_put_from_multi_buffers(self.keys, self.pointers, self.sizes)
        require("put", all(code == 0 for code in codes))

    def get(self):
        codes = self.store.batch_get_into_multi_buffers(self.keys, self.pointers, self.sizes)
        require("get", codes == self.totals)


def require(what, condition):
    if not condition:
        raise SystemExit(f"{what} failed")


def timed(call):
    start = time.perf_counter_ns()
    call()
    return time.perf_counter_ns() - start


def measure(store, ways, cell_nanos, is_put):
    """Runs the ways in turns, after a warm-up of each as long as the measurement. Puts leave nothing behind."""

    def once(way):
        nanos = timed(way.put if is_put else way.get)
        if is_put:
            store.remove_all(force=True)
        return nanos

    samples = [[] for _ in ways]
    iterations = []
    for way in ways:
        spent, runs = 0, 0
        while spent < cell_nanos / 2:
            spent += once(way)
            runs += 1
        iterations.append(max(ROUNDS, runs))
    for turn in range(ROUNDS):
        for number, way in enumerate(ways):
            share = iterations[number] * (turn + 1) // ROUNDS - iterations[number] * turn // ROUNDS
            samples[number] += [once(way) for _ in range(share)]
    return [summary(sorted(nanos)) for nanos in samples]


def summary(nanos):
    return {
        "medianNanos": nanos[(len(nanos) - 1) // 2],
        "p10Nanos": nanos[(len(nanos) - 1) // 10],
        "p99Nanos": nanos[(len(nanos) - 1) * 99 // 100],
        "iterations": len(nanos),
    }


def cell(store, page_bytes, blocks, group, cell_nanos):
    pages = Pages(page_bytes, blocks)
    require("register", store.register_buffer(pages.base, page_bytes * blocks) == 0)
    ways = [PageByPage(store, pages, group), Grouped(store, pages, group)]
    for way in ways:
        pages.fill()
        way.put()
        pages.spoil()
        way.get()
        pages.check(way.name)
        store.remove_all(force=True)
    puts = measure(store, ways, cell_nanos, True)
    for way in ways:
        way.put()
    gets = measure(store, ways, cell_nanos, False)
    store.remove_all(force=True)
    store.unregister_buffer(pages.base)
    return [
        {"pageBytes": page_bytes, "blocks": blocks, "group": group, "peer": way.name, "put": put, "get": get}
        for way, put, get in zip(ways, puts, gets)
    ]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--master", required=True)
    parser.add_argument("--pages", required=True, help="bytes a page, with commas between")
    parser.add_argument("--groups", required=True, help="pages an object, one for each page size")
    parser.add_argument("--blocks", type=int, required=True)
    parser.add_argument("--cell-millis", type=int, required=True)
    flags = parser.parse_args()
    store = MooncakeDistributedStore()
    code = store.setup("127.0.0.1", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", flags.master)
    require("setup", code == 0)
    cells = []
    for page_bytes, group in zip(flags.pages.split(","), flags.groups.split(",")):
        cells += cell(store, int(page_bytes), flags.blocks, int(group), flags.cell_millis * 1_000_000)
    print(json.dumps({"cells": cells}))
    store.close()


main()
