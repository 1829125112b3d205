#!/usr/bin/env bash
# Installs a build into a scratch prefix and uses it from there as strangers do: install_test.sh BUILD_DIR CONSUMER_DIR CXX.
set -euo pipefail
build=$1 consumer=$2 cxx=$3
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
unset HLOD_ADDRESS XDG_RUNTIME_DIR

expect() {  # expect PROGRAM: 2x + y, computed by the installed daemon.
  local got
  got=$("$1" | tr '\n' ' ')
  [[ $got == "2 3 4 5 " ]] || { echo "FAILED: $1 printed '$got'" >&2; exit 1; }
}

cmake --install "$build" --prefix "$prefix" >"$scratch/install.log" || { cat "$scratch/install.log" >&2; exit 1; }

# By CMake: find_package(hlod), with the version that was asked for and not another.
cmake -S "$consumer" -B "$scratch/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" >"$scratch/configure.log" \
  || { cat "$scratch/configure.log" >&2; exit 1; }
cmake --build "$scratch/cmake"
expect "$scratch/cmake/axpy"
expect "$scratch/cmake/tensors"

# The installed examples are a project.
cmake -S "$prefix/share/hlod/examples" -B "$scratch/examples" -G Ninja -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
  >"$scratch/examples.log" || { cat "$scratch/examples.log" >&2; exit 1; }
cmake --build "$scratch/examples"
"$scratch/examples/example_imported_jax" "$prefix/share/hlod/examples/imported_jax.d"

# By pkg-config.
pc=$(dirname "$(find "$prefix" -name hlod.pc)")
export PKG_CONFIG_PATH=$pc
library=$(pkg-config --variable=libdir hlod)
# shellcheck disable=SC2046  # Flags are words.
"$cxx" "$consumer/main.cc" -o "$scratch/axpy" $(pkg-config --cflags --libs hlod) -Wl,-rpath,"$library"
expect "$scratch/axpy"

# What is installed of common/ is what the public headers reach, and nothing else.
find "$prefix/include/hlod" -path "$prefix/include/hlod/common" -prune -o -name '*.h' -printf '#include <hlod/%P>\n' >"$scratch/all.cc"
# shellcheck disable=SC2046
"$cxx" -std=c++20 -M "$scratch/all.cc" $(pkg-config --cflags hlod) | tr ' \\' '\n\n' | grep "include/hlod/common/" | xargs realpath | sort -u >"$scratch/reached"
find "$prefix/include/hlod/common" -type f | xargs realpath | sort >"$scratch/installed"
diff "$scratch/reached" "$scratch/installed" || { echo "FAILED: the installed headers (>) are not those that are reached (<)" >&2; exit 1; }

# The installed programs find their library, and the service's files are there.
"$prefix/bin/hlod" --version
"$prefix/bin/hloctl" --version
for file in lib/systemd/system/hlod.service lib/systemd/system/hlod.socket lib/sysusers.d/hlod.conf include/hlod/native_kernel.h; do
  [[ -f $prefix/$file ]] || { echo "FAILED: $file is not installed" >&2; exit 1; }
done

# The manual pages have what --help has, and the shell's completion asks the installed program.
for option in "hlod device" "hloctl random"; do
  read -r program name <<<"$option"
  grep -q -- "$name" "$prefix/share/man/man1/$program.1" || { echo "FAILED: $program(1) does not explain $name" >&2; exit 1; }
done
completed=$(PATH=$prefix/bin:$PATH bash -c '. "$1"; COMP_WORDS=(hloctl run --ran); COMP_CWORD=2; _hlod hloctl; echo "${COMPREPLY[@]}"' \
  _ "$prefix/share/bash-completion/completions/hloctl")
[[ $completed == --random ]] || { echo "FAILED: --ran is completed to '$completed'" >&2; exit 1; }

# The installed Python package finds the installed hloctl.
PYTHONPATH=$prefix/share/hlod/python "${HLOD_TEST_PYTHON:-python3}" - "$prefix/bin/hloctl" <<'END'
import os, sys
os.environ["PATH"] = os.environ["HLOD_HLOCTL"] = ""
import hlod
from hlod import _hloctl
assert os.path.samefile(_hloctl.find(), sys.argv[1]), _hloctl.find()
assert hlod.check("HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT y = f32[4] negate(x) }").flops == 4
END
