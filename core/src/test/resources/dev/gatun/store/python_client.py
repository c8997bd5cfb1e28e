"""Mooncake's own Python client, told by lines on standard input what to do; each is answered by a line.

Words of a line are separated by tabs. Values lie in files.
"""

import ctypes
import mmap
import sys

from mooncake.store import MooncakeDistributedStore

MEMORY_BYTES = 16 << 20


class Client:
    def __init__(self, master):
        self.store = MooncakeDistributedStore()
        code = self.store.setup("127.0.0.1", "P2PHANDSHAKE", 0, 64 << 20, "tcp", "", master)
        if code != 0:
            raise SystemExit(f"setup answered {code}")
        self.memory = mmap.mmap(-1, MEMORY_BYTES)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        if self.store.register_buffer(self.base, MEMORY_BYTES) != 0:
            raise SystemExit("memory could not be registered")

    def put(self, key, path):
        with open(path, "rb") as file:
            return self.store.put(key, file.read())

    def put_buffers(self, key, path, parts):
        """As vLLM's connector does it: one object of several buffers, which do not lie side by side."""
        with open(path, "rb") as file:
            value = file.read()
        size = len(value) // int(parts)
        pointers = [self.base + 2 * part * size for part in range(int(parts))]
        for part, pointer in enumerate(pointers):
            ctypes.memmove(pointer, value[part * size : (part + 1) * size], size)
        return self.store.batch_put_from_multi_buffers([key], [pointers], [[size] * int(parts)])[0]

    def get(self, key, path):
        with open(path, "wb") as file:
            return file.write(self.store.get(key))

    def get_into(self, key, path):
        size = self.store.get_size(key)
        code = self.store.get_into(key, self.base, MEMORY_BYTES)
        with open(path, "wb") as file:
            file.write(ctypes.string_at(self.base, max(0, size)))
        return code

    def exists(self, key):
        return self.store.is_exist(key)

    def size(self, key):
        return self.store.get_size(key)


def main():
    client = Client(sys.argv[1])
    print("ready", flush=True)
    for line in sys.stdin:
        word, *arguments = line.rstrip("\n").split("\t")
        print(f"answer {getattr(client, word)(*arguments)}", flush=True)
    client.store.close()


main()
