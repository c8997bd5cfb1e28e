#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the native part with ASan + UBSan, with TSan, and for AArch64, and runs the driver on each.
#   native/check.sh [BUILD_FOLDER]      default: native/target/check
# Needs cmake, ninja, g++ with sanitizers; g++-aarch64-linux-gnu and qemu-user for the last. What is missing is a failure.
set -euo pipefail
source_folder=$(cd "$(dirname "$0")" && pwd)
build_folder=${1:-$source_folder/target/check}

need() {
  command -v "$1" >/dev/null || { echo "missing: $1 (install: apt-get install $2)"; exit 1; }
}
need cmake cmake
need ninja ninja-build
need g++ g++
need aarch64-linux-gnu-g++ g++-aarch64-linux-gnu
need qemu-aarch64 qemu-user

build() { # NAME CMAKE_ARGUMENTS...
  local name=$1
  shift
  cmake -S "$source_folder" -B "$build_folder/$name" -G Ninja "$@" >"$build_folder/$name.cmake.log" 2>&1 ||
    { cat "$build_folder/$name.cmake.log"; exit 1; }
  ninja -C "$build_folder/$name" -j "$(nproc)" gatun_driver gatun_layout_probe >"$build_folder/$name.ninja.log" ||
    { tail -50 "$build_folder/$name.ninja.log"; exit 1; }
}

mkdir -p "$build_folder"

echo "== ASan + UBSan =="
build asan -DGATUN_SANITIZE=address
ASAN_OPTIONS=detect_leaks=1:strict_string_checks=1 UBSAN_OPTIONS=print_stacktrace=1 \
  "$build_folder/asan/out/gatun_driver" --seconds 12

# The mutants race on purpose, so TSan runs the checks and the stress without them.
echo "== TSan =="
build tsan -DGATUN_SANITIZE=thread
# Without address-space randomisation where that is allowed: TSan of GCC 12 does not know the layouts of newer kernels.
calm=()
setarch --addr-no-randomize true 2>/dev/null && calm=(setarch --addr-no-randomize)
TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
  "${calm[@]}" "$build_folder/tsan/out/gatun_driver" --seconds 12 --no-mutants

echo "== AArch64 under qemu-user =="
echo "qemu runs AArch64 code with the memory ordering of this machine: on x86-64 this shows that the code builds, loads and"
echo "computes right, not that it survives weak ordering."
build aarch64 -DCMAKE_TOOLCHAIN_FILE="$source_folder/cmake/aarch64.cmake"
emulator=(qemu-aarch64 -L /usr/aarch64-linux-gnu)
"${emulator[@]}" "$build_folder/aarch64/out/gatun_driver" --seconds 8 --no-mutants
gcc -I "$source_folder/abi" "$source_folder/probe/layout_probe.c" -o "$build_folder/layout_probe_here"
if [ "$(uname -m)" = x86_64 ]; then
  cmp <("$build_folder/layout_probe_here") <("${emulator[@]}" "$build_folder/aarch64/out/gatun_layout_probe")
  echo "layouts are the same on x86-64 and AArch64"
fi
echo "== all passed =="
