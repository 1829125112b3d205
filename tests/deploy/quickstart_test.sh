#!/usr/bin/env bash
# The quickstart learns, its control does not, and the daemon's account adds up: quickstart_test.sh SOURCE_DIR BIN_DIR.
set -euo pipefail
source_dir=$1 bin=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
  echo "FAILED: $*" >&2
  cat "$scratch"/* >&2
  exit 1
}

# accuracy FILE: tenths of a percent.
accuracy() { sed -n 's/^Accuracy on held-out digits: \([0-9]*\)\.\([0-9]\)%$/\1\2/p' "$1"; }

# With true labels it gets 95% or more of the held-out digits right.
"$source_dir/deploy/quickstart" --bin "$bin" >"$scratch/true" || fail "the quickstart ended with $?"
reached=$(accuracy "$scratch/true")
((${reached:-0} >= 950)) || fail "accuracy is under 95%"

# With shuffled labels there is nothing to learn: chance is one in ten.
"$source_dir/deploy/quickstart" --bin "$bin" --shuffle-labels >"$scratch/shuffled" || fail "the quickstart with shuffled labels ended with $?"
reached=$(accuracy "$scratch/shuffled")
((${reached:-0} >= 50 && ${reached:-0} <= 200)) || fail "accuracy with shuffled labels is not chance (5 to 20%)"

# The account, by hand. Uploads: 8 state arrays, the held-out images, two arrays a step, 22 steps an epoch, 30 epochs.
grep -qE "^  host to device +$((8 + 1 + 2 * 22 * 30)) calls " "$scratch/true" || fail "the daemon counted other uploads"
# Downloads: an epoch reads the predictions and the loss.
grep -qE "^  device to host +60 calls " "$scratch/true" || fail "the daemon counted other downloads"
grep -qE "^    scalar_read +30 calls +120 B  digits\.cc:[0-9]+$" "$scratch/true" || fail "the scalar reads are not 30 of 4 bytes with their line"
grep -qE "^  compiles +2," "$scratch/true" || fail "the daemon compiled other than two programs"
grep -qE "^  executes +$((22 * 30 + 30))," "$scratch/true" || fail "the daemon executed something else"
grep -qE "^  peak device memory [0-9.]+ [kM]?B$" "$scratch/true" || fail "no peak memory"

# The placeholder is refused, with its shape and the line that made it.
grep -q 'bf16\[16384,53248\]' "$scratch/true" || fail "the refusal does not name the placeholder's shape"
grep -qE 'digits\.cc:[0-9]+' <(sed -n '/^A placeholder/,$p' "$scratch/true") || fail "the refusal does not name the placeholder's line"
