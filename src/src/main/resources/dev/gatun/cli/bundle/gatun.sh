#!/bin/sh
# The gatun command on the bundled Java: bin/gatun --help
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd) || exit 4
[ -t 2 ] && terminal=-Dgatun.terminal=true
# shellcheck disable=SC2086 # options are words
exec "$root/runtime/bin/java" $terminal ${GATUN_JAVA_OPTIONS:-} -Dgatun.cache.dir="${GATUN_CACHE_DIR:-$root/cache}" \
  --enable-native-access=dev.gatun.nativelib,dev.gatun.bindings,dev.gatun.core \
  -p "$root/modules" -m dev.gatun.cli/dev.gatun.cli.Gatun "$@"
