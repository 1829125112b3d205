#!/usr/bin/env bash
# Runs a module of tests/python/jax on a build's plugin and daemon: jax_test.sh PLUGIN HLOD MODULE [CASE...]. The interpreter is
# $HLOD_TEST_PYTHON, else python3; where it has no JAX the test is skipped, and says so.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${HLOD_TEST_PYTHON:-python3}
if ! "$python" -c 'import jax' 2>/dev/null; then
  echo "SKIPPED: $python has no JAX (tests/run installs it into build/python)"
  exit 0
fi
unset XDG_RUNTIME_DIR
export HLOD_PJRT_LIBRARY=$1 HLOD_DAEMON=$2 HLOD_ADDRESS=private HLOD_DEVICES=1 JAX_PLATFORMS=hlod
export PYTHONPATH=$here/../../client/python:$here/jax:$here/jax/installed:$here/libraries PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore::DeprecationWarning
if [[ $3 == devices_test || $3 == shardings_test ]]; then
  export HLOD_DEVICES=8 XLA_FLAGS=--xla_force_host_platform_device_count=8
fi
exec "$python" -m unittest "${@:3}"
