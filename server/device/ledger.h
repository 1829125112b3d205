// The ledger: every byte that crossed, once, with its cause, the line of the program and the step. A
// session's rows sum exactly to its totals, and the sessions' totals with those of the ended ones to the
// daemon's.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/kinds.h"
#include "server/device/mutex.h"

namespace hlod::device {

constexpr int kDirections = 3;

struct Amount {
  int64_t bytes = 0, calls = 0;
  Amount& operator+=(const Amount& other) {
    bytes += other.bytes;
    calls += other.calls;
    return *this;
  }
  friend bool operator==(const Amount&, const Amount&) = default;
};

struct Counters {
#define HLOD_COUNTER(name, meaning) int64_t name = 0;
#include "server/device/counters.inc"
#undef HLOD_COUNTER
  Counters& operator+=(const Counters& other);
};

struct RowKey {
  uint32_t device = 0;
  Cause cause = Cause::kUpload;
  uint32_t origin = 0;  // As the session numbered it; 0 is unknown.
  uint64_t step = 0;
  friend bool operator==(const RowKey&, const RowKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const RowKey& key) {
    return H::combine(std::move(h), key.device, key.cause, key.origin, key.step);
  }
};
struct Row {
  RowKey key;
  Amount amount;
};

// A copy of an account at one moment. `rows` are sorted by bytes, largest first.
struct Account {
  Amount directions[kDirections];  // By Direction.
  Counters counters;
  std::vector<Row> rows;
  // Adds another account's directions and counters.
  void AddTotals(const Account& other);
};

// One session's account. Thread-safe.
class SessionLedger {
 public:
  // Beyond so many rows new ones are kept without step, then without origin: the sums stay exact, the memory
  // bounded.
  static constexpr size_t kRowsMax = 16384;

  // `calls` is 0 for a further piece of what was counted as a call before.
  void Record(const RowKey& key, int64_t bytes, int64_t calls = 1);
  void Count(int64_t Counters::* counter, int64_t amount = 1);
  Account account() const;

 private:
  mutable Mutex mu_;
  Amount directions_[kDirections] ABSL_GUARDED_BY(mu_);
  Counters counters_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<RowKey, Amount> rows_ ABSL_GUARDED_BY(mu_);
};

// The daemon's: the accounts of ended sessions folded into rows by device and cause. Thread-safe.
class Ledger {
 public:
  void Fold(const Account& ended);
  Account ended() const;

 private:
  mutable Mutex mu_;
  Account totals_ ABSL_GUARDED_BY(mu_);  // Without rows.
  absl::flat_hash_map<RowKey, Amount> rows_ ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::device
