#!/usr/bin/env bash
# Runs the soak of a build folder with clients of JAX as well: with_jax.sh BUILD [OPTION...]. The interpreter is $HLOD_TEST_PYTHON,
# else python3; where it has no JAX, the other clients run alone.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "$1" && pwd)
python=${HLOD_TEST_PYTHON:-python3}
jax=()
if ! "$python" -c 'import jax' 2>/dev/null; then
  echo "No clients of JAX: $python has no JAX (tests/run installs it into build/python)."
elif [[ ! -e $build/lib/libpjrt_hlod.so ]]; then
  echo "No clients of JAX: $build has no plugin (target pjrt_hlod)."
else
  jax=(--jax "$python" "$build/lib/libpjrt_hlod.so" "$root/client/python:$root/tests/python/jax/installed")
fi
exec "$build/tests/soak_daemon" "${@:2}" ${jax[@]+"${jax[@]}"}
