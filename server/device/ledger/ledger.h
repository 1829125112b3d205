// The ledger records every transferred byte once, with its cause, the line of the program and the step; every
// execute by program, line and step; and every compile with its reason. The sum of a session's rows equals
// its totals, and the sum of the totals of all sessions, ended ones included, equals the daemon's totals.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "common/base/kinds.h"
#include "common/base/system/mutex.h"
#include "server/device/ledger/account_rows.h"
#include "server/device/memory/side_memory.h"

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
#define HLOD_SESSION_COUNTER(name, unit, metric, meaning) int64_t name = 0;
#include "common/base/stats.inc"
  Counters& operator+=(const Counters& other);
};

struct RowKey {
  uint32_t device = 0;
  Cause cause = Cause::kUpload;
  uint32_t origin = 0;  // The session's number of the line; 0 is unknown.
  uint64_t step = 0;
  // True for a row that sums up several, because there were too many rows.
  bool other_steps = false, other_lines = false;
  friend bool operator==(const RowKey&, const RowKey&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const RowKey& key) {
    return H::combine(std::move(h), key.device, key.cause, key.origin, key.step, key.other_steps,
                      key.other_lines);
  }
};
struct Row {
  RowKey key;
  Amount amount;
};

// The parts that a copy of an account contains.
enum class Detail { kTransfers, kAll };

// A copy of an account at one moment. `rows` are sorted by bytes, largest first. With kTransfers the vectors
// after `rows` are empty.
struct Account {
  Amount directions[kDirections];  // Indexed by Direction.
  Counters counters;
  std::vector<Row> rows;
  std::vector<RunRow> runs;          // The executes, longest run time first.
  std::vector<CompileRow> compiles;  // The compiles, latest first.
  std::vector<RunSample> samples;    // The last kSamplesMax executes, oldest first.
  // Adds the directions and counters of another account.
  void AddTotals(const Account& other);
};

// One session's account. Thread-safe.
class SessionLedger {
 public:
  // The limit on rows. Beyond it new rows are kept without their step, then without their line: sums stay
  // exact, and memory is bounded.
  static constexpr size_t kRowsMax = 16384;
  // The limit on rows of executes. Beyond it new rows are kept without their step, then as one row per
  // device.
  static constexpr size_t kRunRowsMax = 4096;
  // The limit on compiles; the oldest ones beyond it share one row per outcome.
  static constexpr size_t kCompileRowsMax = 1024;
  static constexpr size_t kSamplesMax = 1024;

  // `share` is charged with the rows; null: they are not charged.
  explicit SessionLedger(std::shared_ptr<MemoryShare> share = nullptr) : held_(std::move(share)) {}

  // `calls` is 0 for a further piece of a transfer that was counted before.
  void Record(const RowKey& key, int64_t bytes, int64_t calls = 1);
  // Records a transfer that may turn out not to be one which the program asked for. A RecordRead of the same
  // command moves it to another row; for the last kPrefetchesMax that were not read.
  static constexpr size_t kPrefetchesMax = 1024;
  void RecordPrefetch(uint64_t command, const RowKey& key, int64_t bytes);
  // Counts the bytes of a prefetch under the row of the read, whose device is that of the prefetch. Ignores
  // other commands.
  void RecordRead(uint64_t command, RowKey read);
  void Count(int64_t Counters::*counter, int64_t amount = 1);
  // Records and counts an execute that started and has ended. Ignores key.program.
  void RecordRun(RunKey key, const Digest& digest, const std::string& program, const RunSample& times,
                 int64_t peak_bytes);
  // Records and counts a compile that succeeded.
  void RecordCompile(CompileRow row);
  Account account(Detail detail = Detail::kTransfers) const;

 private:
  struct Prefetch {
    uint64_t command = 0;
    RowKey row;  // The row that it is counted in.
    int64_t bytes = 0;
  };
  // Adds to the row of `key`, or beyond the limits to one of several rows together. Returns that row's key.
  RowKey AddToRow(const RowKey& key, const Amount& amount) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);
  void FillRuns(Account& account) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mu_);

  mutable Mutex mu_;
  MemoryCharge held_ ABSL_GUARDED_BY(mu_);
  Amount directions_[kDirections] ABSL_GUARDED_BY(mu_);
  Counters counters_ ABSL_GUARDED_BY(mu_);
  absl::flat_hash_map<RowKey, Amount> rows_ ABSL_GUARDED_BY(mu_);
  std::deque<Prefetch> prefetches_
      ABSL_GUARDED_BY(mu_);  // Prefetches that were not read, in order of their end.
  absl::flat_hash_map<RunKey, RunFigures> runs_ ABSL_GUARDED_BY(mu_);
  std::vector<std::pair<Digest, std::string>> programs_ ABSL_GUARDED_BY(mu_);  // The programs by number.
  std::map<Digest, uint32_t> program_numbers_ ABSL_GUARDED_BY(mu_);
  std::deque<CompileRow> compiles_ ABSL_GUARDED_BY(mu_);              // The compiles, latest first.
  CompileRow other_compiles_[kCompileOutcomes] ABSL_GUARDED_BY(mu_);  // The compiles beyond kCompileRowsMax.
  std::vector<RunSample> samples_ ABSL_GUARDED_BY(mu_);               // A ring buffer.
  size_t next_sample_ ABSL_GUARDED_BY(mu_) = 0;                       // The next position in it.
};

// The daemon's ledger. It holds the accounts of ended sessions, folded into rows by device and cause, their
// executes by program, and their compiles by outcome. Thread-safe.
class Ledger {
 public:
  void Fold(const Account& ended) {
    FoldTotals(ended);
    FoldRows(ended);
  }
  // The two parts of Fold: an ended account may keep its rows for a while.
  void FoldTotals(const Account& ended);
  void FoldRows(const Account& ended);
  Account ended() const;

 private:
  struct Program {
    std::string name;
    RunFigures figures;
  };
  mutable Mutex mu_;
  Account totals_ ABSL_GUARDED_BY(mu_);  // Without rows.
  absl::flat_hash_map<RowKey, Amount> rows_ ABSL_GUARDED_BY(mu_);
  std::map<std::pair<uint32_t, Digest>, Program> runs_ ABSL_GUARDED_BY(mu_);  // By device and program.
  std::map<uint32_t, RunFigures> other_runs_ ABSL_GUARDED_BY(mu_);
  CompileRow compiles_[kCompileOutcomes] ABSL_GUARDED_BY(mu_);
};

}  // namespace hlod::device
