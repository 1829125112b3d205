#!/usr/bin/env bash
# Installs the wheel in a fresh environment and runs a JAX program by it: wheel_test.sh SOURCE PLUGIN HLOD HLOCTL. The wheel's
# package, entry point and metadata are built as deploy/wheel builds them; its programs and its plugin are a build's, because
# the wheel's own compilation takes as long as hlod's. The interpreter is $HLOD_TEST_PYTHON; where it has no JAX the test is
# skipped, and says so.
set -euo pipefail
source=$1 plugin=$2 daemon=$3 hloctl=$4
python=${HLOD_TEST_PYTHON:-python3}
if ! "$python" -c 'import jax' 2>/dev/null; then
  echo "SKIPPED: $python has no JAX (tests/run installs it into build/python)"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$source/client/python" "$folder/source"
if ! "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps -Cwheel.cmake=false --wheel-dir "$folder" "$folder/source"; then
  [[ ${HLOD_TEST_LIBRARIES:-} == 1 ]] && exit 1
  echo "SKIPPED: pip cannot build a wheel here (scikit-build-core comes from PyPI)"
  exit 0
fi
"$python" -m venv "$folder/env"
site=$("$folder/env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
"$folder/env/bin/pip" install --quiet --disable-pip-version-check --no-deps "$folder"/hlod-*.whl
expect() {  # expect WANTED GIVEN
  [[ $2 == *"$1"* ]] || { echo "expected $1; got: $2" >&2; exit 1; }
}
expect "no programs" "$("$folder/env/bin/hloctl" --version 2>&1 || true)"  # This wheel has none: not another one's, from $PATH.
"$folder/env/bin/python" -c 'import hlod'  # Without JAX, NumPy or PyTorch.
mkdir -p "$site/hlod/_native/bin" "$site/hlod/_native/lib"
ln -s "$daemon" "$hloctl" "$site/hlod/_native/bin"
ln -s "$plugin" "$site/hlod/_native/lib"
"$python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$site/jax.pth"  # JAX, as if it were installed here.

cat >"$folder/train.py" <<'PROGRAM'
import hlod, jax, jax.numpy as jnp, numpy as np, sys

assert hlod.__file__.startswith(sys.prefix), hlod.__file__
step = jax.jit(jax.grad(lambda w, x: jnp.sum((x @ w) ** 2)))
w = jnp.ones((3,))
for _ in range(3):
    w = w - 0.1 * step(w, np.eye(3, dtype=np.float32))
jax.debug.print("{}", w[0])
print(jax.devices()[0].platform, np.allclose(w, 0.8**3), any("train.py" in row["file"] for row in hlod.ledger()["rows"]))
PROGRAM
run() { env -i HOME="$folder" JAX_PLATFORMS="$1" "$folder/env/bin/python" "${@:2}"; }
for program in hlod hloctl; do expect "$program 0." "$(env -i "$folder/env/bin/$program" --version)"; done
expect "hlod True True" "$(run hlod "$folder/train.py")"
expect "cpu" "$(run '' -c 'import jax; print(jax.devices()[0].platform)')"
expect "verdict          passed" "$(run '' -m hlod check "$folder/train.py" 2>&1 || true)"
expect "jit__lambda" "$(run cpu -c 'import hlod, jax; f = lambda x: x * 2; print(hlod.check(f, jax.ShapeDtypeStruct((3,), "float32")))' 2>&1)"
run cpu -c 'import hlod.partition, pathlib; assert (pathlib.Path(hlod.__file__).parent / "py.typed").exists()'
