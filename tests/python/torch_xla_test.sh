#!/usr/bin/env bash
# Runs a module of tests/python/torch_xla on a build's plugin and daemon: torch_xla_test.sh PLUGIN HLOD MODULE [CASE...]. The
# interpreter is $HLOD_TORCH_XLA_PYTHON, else python3; where it has no PyTorch/XLA the test is skipped, and says so.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${HLOD_TORCH_XLA_PYTHON:-python3}
if ! PJRT_DEVICE=CPU "$python" -c 'import torch_xla' 2>/dev/null; then
  echo "SKIPPED: $python has no PyTorch/XLA (\$HLOD_TORCH_XLA_PYTHON names another interpreter)"
  exit 0
fi
unset XDG_RUNTIME_DIR
# An installed package, as PyTorch/XLA finds it: by the entry points of pyproject.toml.
installed=$(mktemp -d)/hlod-0.1.0.dist-info
trap 'rm -rf "$(dirname "$installed")"' EXIT
mkdir "$installed"
printf 'Metadata-Version: 2.1\nName: hlod\nVersion: 0.1.0\n' >"$installed/METADATA"
grep -A1 'entry-points."torch_xla.plugins"' "$here/../../client/python/pyproject.toml" |
  sed 's/.*"\(torch_xla.plugins\)".*/[\1]/; s/"//g' >"$installed/entry_points.txt"
export HLOD_PJRT_LIBRARY=$1 HLOD_DAEMON=$2 HLOD_ADDRESS=private HLOD_DEVICES=1 PJRT_DEVICE=HLOD
export PYTHONPATH=$here/../../client/python:$here/torch_xla:$(dirname "$installed") PYTHONDONTWRITEBYTECODE=1 PYTHONWARNINGS=ignore
[[ $3 == devices_test ]] && HLOD_DEVICES=8
"$python" -m unittest "${@:3}"
