// The connection to a daemon: one session.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/device.h"
#include "hlod/runtime/executable.h"
#include "hlod/runtime/types.h"

namespace hlod {

// Credentials for a daemon on another host. PEM texts, not file names.
struct TlsOptions {
  std::string root_certificates;  // The authorities to trust; empty with `enabled`: the system's.
  std::string certificate, key;   // The client's own, when the daemon asks for one.
  bool enabled = false;           // Use TLS. Implied by a non-empty field.
};

struct ConnectOptions {
  // "unix:/run/hlod/hlod.sock", "/run/hlod/hlod.sock", "HOST:PORT", "tcp:HOST:PORT", "fd:N" (a connected
  // socket, which then belongs to the client), or "private": a private daemon is started, which ends with
  // this client. Empty: $HLOD_ADDRESS, which takes all of these; else the user's running daemon
  // ($XDG_RUNTIME_DIR/hlod.sock, then /run/hlod/hlod.sock), an error when this user may not connect to it;
  // else a private daemon.
  std::string address;
  std::string name;  // Shown in the daemon's listings; empty: the program's name and pid.
  TlsOptions tls;
  std::string token;  // Sent as "authorization: Bearer ...".
  absl::Duration timeout = absl::Seconds(10);
  std::vector<std::string> daemon_flags;  // Flags for a private daemon; ignored when a running one is found.
  bool private_daemon = true;             // True when an empty address may start one.
  bool shared_memory = true;              // True when bulk bytes may travel in shared memory.
  // For tests: send what this library would refuse, so that the daemon's refusal is seen.
  bool skip_local_checks = false;
};

struct CompileOptions {
  bool describe = false;  // Have the daemon answer with CompileResult, so that Describe() need not ask again.
};

// Copies share one session, which ends when the last of them and of its buffers and executables is gone.
// Thread-safe. It has no thread of its own: the calls that wait drive the connection. A connection that
// breaks is made again, and unanswered commands are sent again; when the session is lost (the daemon ended or
// was restarted), every call returns the same error of kind lost_session at once.
//
// Forking. A process that was forked from one that had connected (without exec; as Python's multiprocessing
// and PyTorch's data loaders do by default) cannot use the client: every call on its copies of the parent's
// objects, Connect, and testing::Daemon::Start, returns an error of kind lost_session (code
// FAILED_PRECONDITION) at once. Destroying the copies neither sends, waits nor frees anything: the session
// stays the parent's, which goes on. What a function tells without a status is then empty: origin() is
// unknown, is_placeholder() false, has_shared_memory() false, and a future is Ready(). Connect after forking
// only, or exec.
class Client {
 public:
  static absl::StatusOr<Client> Connect(const ConnectOptions& options);
  // The same with an address alone, which may be empty (ConnectOptions::address).
  static absl::StatusOr<Client> Connect(std::string_view address = "");

  int device_count() const;
  // REQUIRES: 0 <= ordinal. A device that the daemon does not have is refused when it is used.
  Device device(int ordinal) const { return Device(session_, ordinal); }
  const std::vector<DeviceInfo>& devices() const;

  // Compiles without waiting; errors the daemon finds surface where the executable's results are used.
  absl::StatusOr<Executable> Compile(const Module& module, const CompileOptions& options = {},
                                     Caller caller = Caller::Here()) const;
  // The same for a serialized HloModuleProto (or an HloProto or HloSnapshot that holds one).
  absl::StatusOr<Executable> CompileSerialized(std::string_view bytes, const CompileOptions& options = {},
                                               Caller caller = Caller::Here()) const;
  absl::StatusOr<Executable> CompileText(std::string_view text, const CompileOptions& options = {},
                                         Caller caller = Caller::Here()) const;

  // Sets the step under which the ledger records the commands that follow.
  absl::Status StepMark(uint64_t step, Caller caller = Caller::Here()) const;
  // Waits until every command sent before is settled. Returns OK even when some of them failed: their results
  // hold the errors.
  absl::Status Sync(Caller caller = Caller::Here()) const;
  // Makes one round trip of the wire and returns its time.
  absl::StatusOr<absl::Duration> Ping(Caller caller = Caller::Here()) const;
  // Returns the session's statistics. Waits until every command sent before is settled.
  absl::StatusOr<SessionStats> Stats(Caller caller = Caller::Here()) const;

  // Ends the session now and waits until the daemon has freed everything, at most `timeout`. Later calls
  // fail. The destructor ends it too, without waiting.
  absl::Status Close(absl::Duration timeout = absl::Seconds(5)) const;

  // OK, or why the session is lost, as far as is known here: the daemon is not asked.
  absl::Status status() const;
  const Limits& limits() const;
  const std::string& address() const;  // Where it is connected.
  const std::string& daemon() const;   // "hlod 0.1.0 pid 17"
  uint64_t epoch() const;
  uint64_t session_id() const;
  // Returns true when bulk bytes travel in shared memory. Sets it up when that was not tried yet.
  bool has_shared_memory() const;

  // For the library.
  explicit Client(std::shared_ptr<internal::Session> session) : session_(std::move(session)) {}
  const std::shared_ptr<internal::Session>& internal_session() const { return session_; }

 private:
  std::shared_ptr<internal::Session> session_;
};

}  // namespace hlod
