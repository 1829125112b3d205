#!/usr/bin/env bash
# The image's file system: the daemon and hloctl run in it, alone, as its user. Needs root for chroot; exit code 77: skipped.
#
#   container_test.sh REPOSITORY BIN
set -euo pipefail
repository=$1 bin=$2
((EUID == 0)) || { echo "Only root can change the root folder." >&2; exit 77; }
root=$(mktemp -d)
daemon=
trap '[[ -z $daemon ]] || kill "$daemon" 2>/dev/null || true; rm -rf "$root"' EXIT
"$repository/deploy/container/build" --bin "$bin" --root-only "$root"
inside() { chroot --userspec=10001:10001 "$root" "$@"; }

inside /usr/bin/hlod --version | grep -q '^hlod '
# There is no shell, and nobody may write programs.
[[ ! -e $root/bin/sh ]] || { echo "The image has a shell." >&2; exit 1; }
[[ -z $(find "$root/usr" -perm /022 ! -type l -print -quit) ]] || { echo "Others may write in /usr." >&2; exit 1; }

exec 3< <(exec chroot --userspec=10001:10001 "$root" /usr/bin/hlod --listen unix:/run/hlod/hlod.sock --device-memory 64MiB \
  --compile-cache none 2>/dev/null)
daemon=$!
read -r line <&3
[[ $line == *"listening on unix:/run/hlod/hlod.sock"* ]] || { echo "The daemon says: $line" >&2; exit 1; }
inside /usr/bin/hloctl --address unix:/run/hlod/hlod.sock ping --count 1 >/dev/null
# A program that calls LAPACK.
cat >"$root/tmp/factor.hlo" <<'HLO'
HloModule factor
ENTRY e {
  x = f32[2,2] parameter(0)
  ROOT y = f32[2,2] cholesky(x), lower=true
}
HLO
inside /usr/bin/hloctl --address unix:/run/hlod/hlod.sock run /tmp/factor.hlo --random 1 >/dev/null
echo "The image has $(du -sh "$root" | cut -f1)."
