#!/usr/bin/env bash
# Runs the tests of client/python on a build's programs: python_test.sh HLOCTL HLOD. The interpreter is $HLOD_TEST_PYTHON, else python3.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
unset XDG_RUNTIME_DIR GITHUB_ACTIONS GITHUB_WORKSPACE HLOD_UPDATE_BUDGET
export HLOD_HLOCTL=$1 HLOD_DAEMON=$2 HLOD_ADDRESS=private JAX_PLATFORMS=cpu
export PYTHONPATH=$here/../../client/python PYTHONDONTWRITEBYTECODE=1
exec "${HLOD_TEST_PYTHON:-python3}" -m unittest discover --start-directory "$here" --pattern '*_test.py' --verbose
