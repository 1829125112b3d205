#!/usr/bin/env bash
# The Debian packages: built, checked by lintian, installed, upgraded and purged: deb_test.sh SOURCE_DIR BUILD_DIR. They are installed
# on this system's files under an overlay that ends with the test, which takes root and mount namespaces.
set -euo pipefail
source_dir=$1 build=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

"$source_dir/deploy/deb" --no-install --prebuilt "$build" --out "$scratch" >"$scratch/deb.log" 2>&1 || { tail -n 40 "$scratch/deb.log" >&2; fail "deploy/deb"; }
lintian --allow-root --fail-on error,warning "$scratch"/*.deb || fail "lintian has something to say"

# Systems without documentation leave usr/share/doc out when they install, so this looks into the package.
for example in slurm/hlod.sbatch kubernetes/hlod.yaml; do
  dpkg-deb --fsys-tarfile "$scratch"/hlod_*.deb | tar -xO "./usr/share/doc/hlod/examples/$example" | cmp - "$source_dir/deploy/$example" ||
    fail "the package lacks the example $example, or has another one"
done

# Another version of the same packages, to upgrade to.
mkdir "$scratch/next"
for package in "$scratch"/*.deb; do
  dpkg-deb -R "$package" "$scratch/unpacked"
  sed -i 's/^Version: .*/&.1/; s/libhlod0 (= \([0-9.]*\))/libhlod0 (= \1.1)/' "$scratch/unpacked/DEBIAN/control"
  dpkg-deb -Znone -b "$scratch/unpacked" "$scratch/next/" >/dev/null
  rm -rf "$scratch/unpacked"
done

cat >"$scratch/inside.sh" <<'EOF'
set -euo pipefail
packages=(hlod hlod-tools libhlod0 libhlod-dev)
step() { echo "-- $*"; "$@"; }
wanted=/etc/systemd/system/sockets.target.wants/hlod.socket
export DEBIAN_FRONTEND=noninteractive
step dpkg -i /packages/*.deb
getent passwd hlod
hloctl --version
pkg-config --modversion hlod
test -L "$wanted"
test ! -e /etc/systemd/system/multi-user.target.wants/hlod.service

# The service as the unit starts it: its user, its command, its socket.
command=$(sed -n 's/^ExecStart=//p' /lib/systemd/system/hlod.service)
test "$command" = 'hlod $HLOD_FLAGS'
mkdir -p /run/hlod /var/cache/hlod
touch /var/cache/hlod/program
chown -R hlod:hlod /run/hlod
setpriv --reuid hlod --regid hlod --clear-groups systemd-socket-activate -l /run/hlod/hlod.sock /usr/bin/hlod --device-memory 16MiB &
daemon=$!
for ((i = 0; i < 200; ++i)); do
  test -S /run/hlod/hlod.sock && break
  sleep 0.05
done
step hloctl --address unix:/run/hlod/hlod.sock ping
kill -TERM "$daemon"
wait "$daemon"

echo 'HLOD_FLAGS="--devices 2"' >/etc/default/hlod
step dpkg -i /packages/next/*.deb
versions=$(dpkg-query -W -f '${Version}\n' "${packages[@]}")
grep -vE '\.1$' <<<"$versions" && exit 1
grep -q -- '--devices 2' /etc/default/hlod

step dpkg -P "${packages[@]}"
test ! -e "$wanted"
test ! -e /var/cache/hlod
test ! -e /usr/bin/hlod
test ! -e /usr/share/hlod
echo "-- all done"
EOF

[[ $EUID == 0 ]] && unshare -m true 2>/dev/null || { echo "SKIPPED: installing the packages takes root and mount namespaces"; exit 77; }
mkdir "$scratch/over" "$scratch/root"
cat >"$scratch/outside.sh" <<'EOF'
set -euo pipefail
cd "$1"
mount -t tmpfs tmpfs over
mkdir over/upper over/work
mount -t overlay overlay -o lowerdir=/,upperdir=over/upper,workdir=over/work root 2>/dev/null || exit 77
mount -t proc proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs tmpfs root/run
mkdir root/packages
mount --bind "$1" root/packages
exec chroot root bash /packages/inside.sh
EOF
status=0
unshare -m --propagation private bash "$scratch/outside.sh" "$scratch" >"$scratch/inside.log" 2>&1 || status=$?
((status == 77)) && { echo "SKIPPED: no overlay can be mounted here"; exit 77; }
grep -q -- '-- all done' "$scratch/inside.log" && ((status == 0)) || { tail -n 60 "$scratch/inside.log" >&2; fail "installed packages ($status)"; }
