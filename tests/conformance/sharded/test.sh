#!/usr/bin/env bash
# Runs the programs over meshes on a build's programs: test.sh HLOCTL HLOD. The interpreter is $HLOD_TEST_PYTHON, else python3; where it
# has no jaxlib the test is skipped.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset XDG_RUNTIME_DIR
export HLOD_HLOCTL=$1 HLOD_DAEMON=$2 PYTHONPATH=$here/../../../client/python PYTHONDONTWRITEBYTECODE=1
exec "${HLOD_TEST_PYTHON:-python3}" "$here/sharded_test.py"
