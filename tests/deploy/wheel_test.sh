#!/usr/bin/env bash
# Installs the wheel in a fresh environment and runs JAX programs by it: wheel_test.sh SOURCE BUILD. The wheel is built as
# deploy/wheel builds it, with the programs, the plugin and the libraries that the wheel's component of a build installs: the
# wheel's own compilation takes as long as hlod's. The interpreter is $HLOD_TEST_PYTHON; where it has no JAX the test is
# skipped, and says so.
set -euo pipefail
source=$1 build=$2
python=${HLOD_TEST_PYTHON:-python3}
if ! "$python" -c 'import jax' 2>/dev/null; then
  echo "SKIPPED: $python has no JAX (tests/run installs it into build/python)"
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$source/client/python" "$folder/source"
cmake --install "$build" --component wheel --strip --prefix "$folder/source" >"$folder/install.log" || { cat "$folder/install.log" >&2; exit 1; }
if ! "$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --config-settings=wheel.cmake=false --wheel-dir "$folder" "$folder/source"; then
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
bare=(env -i PATH=/usr/bin:/bin HOME="$folder")
"${bare[@]}" "$folder/env/bin/python" -c 'import hlod'  # Without JAX, NumPy or PyTorch.
mv "$site/hlod/_native" "$folder/native"
expect "no programs" "$("$folder/env/bin/hloctl" --version 2>&1 || true)"  # A package without programs runs no other's, from $PATH.
mv "$folder/native" "$site/hlod/_native"
for program in hlod hloctl; do expect "$program 0." "$("${bare[@]}" "$folder/env/bin/$program" --version)"; done
# Nothing is loaded from this system that a bare one lacks, whether by the programs, the plugin, or their libraries.
for file in "$site"/hlod/_native/bin/* "$site"/hlod/_native/lib/*; do
  "${bare[@]}" ldd "$file"
done | grep '=>' | grep -Ev "=> ($site/hlod/_native/|.*/lib(c|m|dl|rt|pthread|resolv|stdc\+\+|gcc_s)\.so)" >"$folder/foreign" || true
expect "0 " "$(wc -l <"$folder/foreign") libraries of this system: $(sort -u "$folder/foreign")"
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
print("Metric: ExecuteTime" in hlod.metrics(), "<table>" in hlod.ledger()._repr_html_(), float(jnp.linalg.det(jnp.diag(w))))
PROGRAM
cat >"$folder/mesh.py" <<'PROGRAM'
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("x", "y"))
x = jax.device_put(np.arange(64.0, dtype=np.float32).reshape(8, 8), NamedSharding(mesh, P("x", "y")))
summed = jax.shard_map(lambda v: jax.lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
print(len(jax.devices()), float(jax.jit(jnp.trace)(x @ x)), jax.jit(summed)(jnp.arange(8.0)).tolist())
PROGRAM
# Prints the private daemon of a process that is killed, and then whether it ended.
cat >"$folder/killed.py" <<'PROGRAM'
import os, pathlib, subprocess, sys, time

code = "import jax, os, signal; print(jax.numpy.ones(3).sum(), flush=True); signal.pause()"
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
child.stdout.readline()
ours = str(pathlib.Path(sys.prefix).resolve())


def daemons():
    links = [(entry.name, entry / "exe") for entry in pathlib.Path("/proc").iterdir() if entry.name.isdigit()]
    found = [(pid, os.path.realpath(link)) for pid, link in links if os.access(link, os.R_OK)]
    return [pid for pid, path in found if path.startswith(ours) and path.endswith("/_native/bin/hlod")]


started = len(daemons())
child.kill()
child.wait()
while daemons():  # The time limit of the test ends this.
    time.sleep(0.01)
print(started, "ended")
PROGRAM
run() { "${bare[@]}" JAX_PLATFORMS="$1" "$folder/env/bin/python" "${@:2}"; }
trained=$(run hlod "$folder/train.py")
expect "hlod True True" "$trained"
expect "True True 0.134217" "$trained"  # 0.8^9
expect "8 $("$python" -c 'import numpy as np; x = np.arange(64.0).reshape(8, 8); print(np.trace(x @ x))') [12.0, 16.0]" \
       "$("${bare[@]}" HLOD_DEVICES=8 JAX_PLATFORMS=hlod "$folder/env/bin/python" "$folder/mesh.py")"
expect "1 ended" "$(run hlod "$folder/killed.py")"
expect "cpu" "$(run '' -c 'import jax; print(jax.devices()[0].platform)')"
expect "verdict          passed" "$(run '' -m hlod check "$folder/train.py" 2>&1 || true)"
expect "jit__lambda" "$(run cpu -c 'import hlod, jax; f = lambda x: x * 2; print(hlod.check(f, jax.ShapeDtypeStruct((3,), "float32")))' 2>&1)"
run cpu -c 'import hlod.partition, pathlib; assert (pathlib.Path(hlod.__file__).parent / "py.typed").exists()'
