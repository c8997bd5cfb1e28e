#!/bin/sh
# A benchmark on the bundled Java: bin/benchmark CLASS [ARGUMENT...]; JMH's: bin/benchmark org.openjdk.jmh.Main -l
# Everything of the GPU path: bin/benchmark dev.gatun.bench.DeviceSuite --output gpu.json
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 4
if [ ! -f "$root"/benchmarks/gatun-benchmarks-*.jar ]; then
  echo "benchmark: this bundle was made with --no-benchmarks" >&2
  exit 4
fi
# Large pages: without them each page of code and heap that a hand-over touches costs a walk through two sets of page tables.
# shellcheck disable=SC2086 # options are words
exec "$root/runtime/bin/java" -XX:+UseTransparentHugePages ${GATUN_JAVA_OPTIONS:-} -Dgatun.cache.dir="${GATUN_CACHE_DIR:-$root/cache}" \
  --enable-native-access=ALL-UNNAMED --illegal-native-access=deny --sun-misc-unsafe-memory-access=allow \
  -Dgatun.commit="$(cat "$root/commit")" \
  -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$root/modules/*:$root/benchmarks/*" "$@"
