// The connection to a daemon: one session.
#pragma once

#include <memory>
#include <optional>
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
#include "hlod/runtime/mesh.h"
#include "hlod/runtime/types.h"

namespace hlod {

// Credentials for a daemon on another host: PEM texts. With a TCP address from $HLOD_ADDRESS, empty ones are
// read from the files $HLOD_TLS_CA, $HLOD_TLS_CERT and $HLOD_TLS_KEY.
struct TlsOptions {
  std::string root_certificates;  // The authorities to trust; empty while `enabled`: the system's.
  std::string certificate, key;   // The client's own certificate and key, for a daemon that asks for them.
  bool enabled = false;           // Uses TLS. A field that is not empty implies it.
};

struct ConnectOptions {
  // "unix:/run/hlod/hlod.sock", "/run/hlod/hlod.sock", "HOST:PORT", "tcp:HOST:PORT", "fd:N" (a connected
  // socket, which then belongs to the client), or "private": a private daemon is started, which ends with
  // this client. Empty: $HLOD_ADDRESS, which takes all of these; else the user's running daemon
  // ($XDG_RUNTIME_DIR/hlod.sock, then /run/hlod/hlod.sock), an error when this user may not connect to it;
  // else a private daemon.
  std::string address;
  std::string name;  // The name in the daemon's listings; empty: the program's name and pid.
  TlsOptions tls;
  std::string token;  // Taken from $HLOD_TOKEN_FILE or $HLOD_TOKEN where TlsOptions are, if empty.
  absl::Duration timeout = absl::Seconds(10);  // The time limit of Connect, a daemon's start included.
  std::vector<std::string> daemon_flags;  // Flags for a private daemon; ignored when a running one is found.
  bool private_daemon = true;             // True when an empty address may start a private daemon.
  bool shared_memory = true;              // True when bulk bytes may travel in shared memory.
  // For tests: sends commands that this library would refuse, so that the daemon's refusal is seen.
  bool skip_local_checks = false;
};

struct CompileOptions {
  // Makes the daemon answer compiles with CompileResult, so that Describe() need not ask for it.
  bool describe = false;
  // Divides the program among the devices of a mesh, by the shardings of its arrays; an empty Mesh() is that
  // of the shardings. XLA's partitioner does it, in a Python process with jaxlib that is started when it is
  // first needed, and the compile waits for it. FAILED_PRECONDITION when there is no jaxlib (it says what to
  // install) or the daemon has too few devices; INVALID_ARGUMENT when the program or the mesh is refused.
  // nullopt: the program is compiled as it is.
  std::optional<Mesh> mesh;
  std::string partitioner = "auto";  // "shardy", "gspmd", or "auto": that whose shardings the program has.
};

// Copies share one session, which ends when the last copy, buffer and executable of it is destroyed.
// Thread-safe. The calls that wait drive the connection, without a thread of the library; only over TCP one
// thread, for all sessions of the process, answers the daemon's questions while the program computes.
//
// A broken connection. The session outlives its connection: when that breaks, the client connects again,
// after pauses of at most half a second, for as long as the daemon keeps the session (limits().grace_us, by
// default 30 s), and sends again what the daemon has not received. Every command takes effect once. The
// program notices no more than that a call takes longer; calls that do not wait return at once. The session
// is lost, and its buffers with it, when the daemon ended or was restarted, when it ended the session and
// says why, or when the time is up. Then every call that waits, and every later one, returns the same error
// of kind lost_session (code UNAVAILABLE), whose text has the address and the cause. Connect again, compile
// and upload again: nothing of a lost session is left in the daemon.
//
// Over TCP a connection also breaks when nothing answers at its other end: a call that has waited for 10 s
// without a sign of the daemon asks it, and gives the connection up when there is no answer within further
// 30 s; the daemon does likewise with a client whose machine is silent for a minute. A program that is
// stopped (in a debugger, say) keeps its connection for an hour. On a unix socket the kernel reports the end
// of either side, and there is no such limit.
//
// Forking. A process forked from a connected one without exec (as Python's multiprocessing and PyTorch's data
// loaders do by default) cannot use the client: every call on its copies of the parent's objects, Connect,
// and testing::Daemon::Start, returns an error of kind lost_session (code FAILED_PRECONDITION) at once.
// Destroying the copies does not send, wait for or free anything: the session remains the parent's and goes
// on. Functions that do not return a status return an empty value: origin() is unknown, is_placeholder() and
// has_shared_memory() are false, and a future is Ready(). Therefore connect only after forking, or use exec.
class Client {
 public:
  // Connects and opens a session. Fails with UNAVAILABLE naming the address when nothing listens there, or
  // when it cannot be reached in time; with kind auth when the credentials are refused or the listener is not
  // trusted; with kind limit when the daemon has too many sessions; with kind version when the daemon and
  // this library have no version of the protocol in common.
  static absl::StatusOr<Client> Connect(const ConnectOptions& options);
  // Connects to an address alone, which may be empty (ConnectOptions::address).
  static absl::StatusOr<Client> Connect(std::string_view address = "");

  // The devices of the daemon and, when it is a member of a cluster, those of the members that it knew when
  // the client connected: first its own, then the others' in the order of ranks. The client opens a session
  // with another daemon when a device of that one is first used, with the same credentials; bytes go straight
  // there. A daemon that ends takes its buffers with it (kind lost_daemon); the client goes on, and may use
  // that daemon's devices again when it is back at its address. The participants of a program may be on
  // devices of several daemons: all of them start, or none does.
  int device_count() const;
  // REQUIRES: 0 <= ordinal. A device that the daemon does not have is refused when it is used.
  Device device(int ordinal) const { return Device(session_, ordinal); }
  const std::vector<DeviceInfo>& devices() const;

  // Compiles without waiting. Errors that the daemon finds are reported where the executable's results are
  // used.
  absl::StatusOr<Executable> Compile(const Module& module, const CompileOptions& options = {},
                                     Caller caller = Caller::Here()) const;
  // Compiles a serialized HloModuleProto (or an HloProto or HloSnapshot that contains one). For a mesh it may
  // also be StableHLO, as text, bytecode or a portable artifact.
  absl::StatusOr<Executable> CompileSerialized(std::string_view bytes, const CompileOptions& options = {},
                                               Caller caller = Caller::Here()) const;
  // Compiles HLO text; for a mesh, also StableHLO text.
  absl::StatusOr<Executable> CompileText(std::string_view text, const CompileOptions& options = {},
                                         Caller caller = Caller::Here()) const;

  // Sets the step under which the ledger records the commands that follow.
  absl::Status StepMark(uint64_t step, Caller caller = Caller::Here()) const;
  // Waits until every command sent before is settled. Returns OK even when some of them failed, because their
  // results hold the errors.
  absl::Status Sync(Caller caller = Caller::Here()) const;
  // Makes one round trip to the daemon and returns its time.
  absl::StatusOr<absl::Duration> Ping(Caller caller = Caller::Here()) const;
  // Returns the session's statistics, over all daemons that it uses; peaks are added, too. Waits until every
  // command sent before is settled.
  absl::StatusOr<SessionStats> Stats(Caller caller = Caller::Here()) const;

  // Ends the session and waits, at most `timeout`, until the daemon has freed all its memory. Later calls
  // fail. The destructor ends the session without waiting.
  absl::Status Close(absl::Duration timeout = absl::Seconds(5)) const;

  // OK, or the reason why the session is lost, as far as it is known here: the daemon is not asked.
  absl::Status status() const;
  const Limits& limits() const;
  const std::string& address() const;  // The address of the daemon.
  const std::string& daemon() const;   // "hlod 0.1.0 pid 17"
  uint64_t epoch() const;              // Changes with every start of the daemon.
  uint64_t session_id() const;         // The session's number in the daemon's listings.
  // Returns true when large transfers use shared memory. Sets it up if that was not tried yet.
  bool has_shared_memory() const;

  // For the library.
  explicit Client(std::shared_ptr<runtime::Session> session) : session_(std::move(session)) {}
  const std::shared_ptr<runtime::Session>& internal_session() const { return session_; }

 private:
  std::shared_ptr<runtime::Session> session_;
};

}  // namespace hlod
