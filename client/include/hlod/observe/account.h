// The daemon's account of a session, row by row: bytes by cause, line, name and step; executes by program,
// line and step; compiles with their reasons. A session sees its own account (GetAccount); an administrator
// of the daemon sees all (AccountAdmin). Steps count from 0: each Sync() of tensors begins the next one,
// unless the program sets the step with Client::StepMark.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/errors/compile_reason.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/types.h"

namespace hlod {

// One line of the ledger.
struct TransferRow : LedgerRow {
  std::string name;  // The program's name of the tensor (TensorName); may be empty.
  // True when the row sums up several steps, or several lines, because there were too many rows.
  bool other_steps = false, other_lines = false;
};

// The distribution of several times, in microseconds.
struct Distribution {
  int64_t min_us = 0, max_us = 0, sum_us = 0;
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

// Executes of one program, from one line, in one step.
struct RunRow {
  std::string digest;   // SHA-256 of the program, hexadecimal.
  std::string program;  // The module's name.
  Origin origin;
  uint64_t step = 0;
  int device = 0;
  int64_t count = 0;
  Distribution queue;  // The time from when all arguments were available until the run began.
  Distribution run;    // The time from the run's begin until the results were available.
  // The most device memory that the session held during one execute (abstract: would have held).
  int64_t peak_bytes = 0;
  // The modelled time of collectives on the daemon's network in all executes, and the bytes that a device
  // would send. They are no part of `run`.
  int64_t network_us = 0, network_bytes = 0;
  // The session that ran it. Set only in an administrator's listings; 0 for sessions that ended long ago.
  uint64_t session = 0;
  // True when the row sums up several steps, or several programs, because there were too many rows.
  bool other_steps = false, other_programs = false;
};

enum class CompileOutcome : uint8_t { kCompiled, kCached, kPersistent };
// "compiled", "cached" (in the daemon's memory), "persistent" (loaded from its persistent cache)
std::string_view Name(CompileOutcome outcome);

// One compile, or several when `others` is set.
struct CompileRow {
  std::string digest, program;  // As in RunRow.
  Origin origin;
  uint64_t step = 0;
  CompileReason reason = CompileReason::kUnsaid;
  std::string why;  // The reason in a sentence: the nearest program, and the first difference.
  CompileOutcome outcome = CompileOutcome::kCompiled;
  int64_t at_us = 0;  // The time since the daemon started.
  int64_t compile_us = 0, instructions = 0, program_bytes = 0, code_bytes = 0;
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0;
  int64_t count = 1;
  bool others = false;  // True when the row sums up the oldest of too many rows.
  uint64_t session = 0;
  // Steps many times slower than is usual for their opcodes; at most 8: "sort (model.cc:12): why".
  std::vector<std::string> slow_steps;
};

// One execute that ended.
struct RunSample {
  int64_t at_us = 0;  // The time since the daemon started.
  int64_t queue_us = 0, run_us = 0;
};

struct SessionAccount {
  SessionStats stats;
  std::vector<TransferRow> transfers;  // The ledger. Sums over the rows equal the totals of `stats`.
  std::vector<RunRow> runs;  // The runs. Their counts sum to `executes`, their run times to `execute_us`.
  std::vector<CompileRow> compiles;    // The latest first.
  std::vector<RunSample> samples;      // The last 1,024 runs, oldest first.
};
// Returns the session's own account. Waits until every command sent before is settled.
absl::StatusOr<SessionAccount> GetAccount(const Client& client, Caller caller = Caller::Here());

template <typename Row>
struct AccountRows {
  std::vector<Row> rows;
  int64_t total = 0;  // The number of rows, listed or not.
};

// A connection for administration, as Admin is.
class AccountAdmin {
 public:
  static absl::StatusOr<AccountAdmin> Connect(const ConnectOptions& options = {});

  // Returns rows of session `session` (0: all sessions), at most about `limit` of them: the rest is summed up
  // in a few rows without lines and steps, so that sums over the rows equal the daemon's totals.
  absl::StatusOr<AccountRows<TransferRow>> Transfers(uint64_t session, int limit) const;
  absl::StatusOr<AccountRows<RunRow>> Runs(uint64_t session, int limit) const;
  absl::StatusOr<AccountRows<CompileRow>> Compiles(uint64_t session, int limit) const;

 private:
  struct Connection;
  explicit AccountAdmin(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  std::shared_ptr<Connection> connection_;
};

// The key by which transfers are added up.
enum class TransferView { kLine, kStep, kCause, kDirection, kName, kSession };
struct TransferSum {
  // "train.cc:88", "7", "upload", "host_to_device", "layers.0.weight"; "others" for rows that sum up several.
  std::string key;
  Amount host_to_device, device_to_host, device_to_device;
  int64_t bytes() const { return host_to_device.bytes + device_to_host.bytes + device_to_device.bytes; }
};
// Returns the sums of rows with equal `by`. Every row counts in exactly one sum. Sums are sorted by bytes,
// largest first; those by step are in order of step.
std::vector<TransferSum> AddUp(const std::vector<TransferRow>& rows, TransferView by);

enum class RunView { kProgram, kLine, kStep, kSession };
struct RunSum {
  // For kProgram, `key` is the name and the beginning of the digest. `program` is the name, or "several".
  std::string key, program;
  int64_t count = 0, peak_bytes = 0;
  Distribution queue, run;
  int64_t network_us = 0, network_bytes = 0;  // As in RunRow.
};
// Returns the sums of rows with equal `by`. Sums are sorted by run time, longest first; those by step are in
// order of step.
std::vector<RunSum> AddUp(const std::vector<RunRow>& rows, RunView by);

}  // namespace hlod
