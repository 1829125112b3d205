// The daemon's administration: its memory, programs, sessions and transfers, across all sessions. Only the
// user who runs the daemon, and root, may connect.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlod/runtime/client.h"
#include "hlod/runtime/types.h"

namespace hlod {

struct DeviceRow {
  int ordinal = 0;
  std::string kind;
  // used_bytes: in use now, temporaries included; peak_bytes: its maximum; temporary_bytes: the part of it
  // for executes that run now.
  int64_t capacity_bytes = 0, used_bytes = 0, peak_bytes = 0, temporary_bytes = 0;
  int64_t buffers = 0, placeholders = 0, queued_executes = 0;
  // The instruction sets that the daemon's programs use: the level ("baseline", "avx2", "avx512"), then
  // features that not every processor of that level has ("f16c", "vpopcntdq", "vnni", "bf16", "amx").
  std::vector<std::string> cpu_features;
};

struct BufferRow {
  uint64_t session = 0, handle = 0;
  int device = 0;
  std::string shape;  // HLO text.
  int64_t bytes = 0;  // 0 for a placeholder.
  std::string state;  // "ready", "pending", "placeholder", "failed"
  Origin origin;
};
struct BufferList {
  std::vector<BufferRow> buffers;
  int64_t total = 0;  // The number of rows, listed or not.
};

struct TransferList {
  std::vector<LedgerRow> rows;
  int64_t total = 0;  // The number of rows, listed or not.
};

struct ExecutableRow {
  std::string digest;  // Hexadecimal.
  std::string name;
  int64_t instructions = 0, steps = 0, fused_steps = 0, library_steps = 0, movement_steps = 0,
          reference_steps = 0;
  std::vector<std::string> reference_opcodes;
  std::vector<std::string> slow_steps;  // Steps many times slower than usual: "sort (model.cc:12): why".
  // temporary_bytes: device memory that is needed only while it runs; sessions: those that hold it now.
  int64_t temporary_bytes = 0, compile_us = 0, executes = 0, execute_us = 0, sessions = 0;
  int64_t network_us = 0;  // The modelled time of collectives, which is not part of execute_us.
};

struct SessionRow {
  uint64_t session = 0;
  std::string client;
  int64_t pid = 0;
  std::string state;  // "connected", "waiting"
  int64_t age_us = 0;
  SessionStats stats;    // The session's totals, without rows.
  std::string messages;  // The way its messages take: "ring", "stream"; empty without a connection.
};

struct DaemonStats {
  std::string version;
  uint64_t epoch = 0;
  int64_t pid = 0, uptime_us = 0;
  SessionStats totals;  // Totals over all sessions, including ended ones; the rows are by cause.
  int64_t sessions = 0, sessions_ended = 0;
  int64_t rings = 0;  // Connections whose messages come through shared memory.
  // host_memory_bytes: in use behind the devices' memory; resident_bytes: all of the process, as the kernel
  // counts it; side_memory_bytes: what sessions take besides, for programs, replies, lines and handles.
  int64_t host_memory_bytes = 0, resident_bytes = 0;
  int64_t side_memory_bytes = 0, side_memory_bytes_max = 0;
  int64_t wire_bytes_in = 0, wire_bytes_out = 0;
};

// A member of a cluster of daemons, and the link of the daemon that answers with it.
struct ClusterMember {
  uint32_t rank = 0;
  std::string name;
  std::string address;        // The address at which other daemons reach it.
  std::string incarnation;    // Hexadecimal; another one after each start.
  int64_t devices = 0;        // The number of its devices.
  int64_t joined = 0;         // The cluster's epoch when it joined.
  std::string state;          // "here", "linked", or why there is no link.
  int64_t round_trip_us = 0;  // Measured on links with the coordinator; 0: not measured.
  int64_t silent_us = 0;      // The time since its last message.
};

// A daemon that was a member.
struct DepartedMember {
  uint32_t rank = 0;
  std::string name, why;
  int64_t us_ago = 0;
};

// A cluster as one of its daemons knows it.
struct Cluster {
  std::string name;
  std::string join;     // The coordinator's address; empty: the daemon that answers is the coordinator.
  bool member = false;  // True when the daemon that answers is a member now.
  int64_t epoch = 0;    // Counts the changes of the membership.
  int64_t size = 0;     // --cluster-size; 0: not stated.
  int64_t peer_silence_us = 0;           // The time after which a silent member is gone.
  std::vector<ClusterMember> members;    // In the order of ranks.
  std::vector<DepartedMember> departed;  // The last members that went, oldest first.
  std::string missing;  // The ranks that a cluster of the stated size lacks: "rank 2, 3"; empty: none.
  std::string problem;  // The reason why it is not a member or has no coordinator; or empty.
};

// The times of launches without work over all members of a cluster.
struct TriedLaunches {
  std::vector<int64_t> launch_us;
  int64_t daemons = 0;  // The number of daemons of each.
};

// A connection for administration. Each call is one round trip. Thread-safe.
class Admin {
 public:
  // Uses address (empty: $HLOD_ADDRESS, else the user's running daemon), tls, token and timeout of the
  // options. Does not start a daemon.
  static absl::StatusOr<Admin> Connect(const ConnectOptions& options = {});

  // In the calls below, `session` 0 means all sessions, and `limit` 0 the daemon's limit (1,000 rows).
  absl::StatusOr<std::vector<DeviceRow>> Devices() const;
  absl::StatusOr<BufferList> Buffers(uint64_t session = 0, int limit = 0) const;
  absl::StatusOr<std::vector<ExecutableRow>> Executables(uint64_t session = 0, int limit = 0) const;
  absl::StatusOr<std::vector<SessionRow>> Sessions(int limit = 0) const;
  absl::StatusOr<TransferList> Transfers(uint64_t session = 0, int limit = 0) const;
  absl::StatusOr<DaemonStats> Stats() const;
  // Describes the daemon's cluster. FAILED_PRECONDITION for a daemon without one.
  absl::StatusOr<hlod::Cluster> Cluster() const;
  // Runs `count` launches without work on all members, one after the other. Fails with the first that fails.
  absl::StatusOr<TriedLaunches> TryLaunches(int count) const;

 private:
  struct Connection;
  explicit Admin(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}
  std::shared_ptr<Connection> connection_;
};

}  // namespace hlod
