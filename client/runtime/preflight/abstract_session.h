// The state of an abstract session (hlod/runtime/abstract.h), and its preflight log.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "client/runtime/preflight/preflight_log_writer.h"
#include "common/base/sha256.h"
#include "hlod/runtime/abstract.h"
#include "hlod/runtime/buffer.h"

namespace hlod::runtime {

struct BufferState;
class Session;

// Belongs to a session. Thread-safe.
class AbstractSession {
 public:
  // `name` is the program's name. Fails with kind argument if `options` are invalid, and with UNAVAILABLE if
  // the preflight log's folder cannot be written.
  static absl::StatusOr<std::shared_ptr<AbstractSession>> Open(const AbstractOptions& options,
                                                               const std::string& name);
  ~AbstractSession();

  const AbstractOptions& options() const { return options_; }
  bool IsLarge(int64_t bytes) const { return bytes > options_.real_bytes_max; }

  // Each of these functions writes one event into the preflight log. They are called in the order in which
  // commands are sent.
  void Compiled(const Digest& digest, const std::string& program, std::string_view reason,
                const Caller& caller);
  // Notes that a program is the part of one device of a program with whole arrays, which was divided. `mesh`
  // is the mesh as text; `annotated` is the whole program with its shardings, null when it is not known.
  void Divided(const Digest& digest, const std::string& mesh, const Module* annotated);
  // Notes that a framework runs the program (proto/hlod/v1/preflight_log.proto).
  void OfAFramework();
  // `cause` is that of the upload, whether its bytes were sent or not.
  void Made(const Buffer& buffer, std::optional<Cause> cause, const Caller& caller);
  // `device` is that of the first participant, whose arguments and results these are.
  void Executed(const Digest& digest, int device, const std::vector<uint64_t>& arguments,
                const std::vector<Buffer>& results, const std::vector<int>& donated,
                const std::vector<Caller>& result_callers, const Caller& caller);
  void Labelled(uint64_t handle, std::string_view role, const std::string& name, const std::string& sharding);
  void Dropped(uint64_t handle);
  // Notes that the buffers lie on devices that the log does not follow.
  void Elsewhere(absl::Span<const Buffer> buffers);
  void ReadValue(int64_t bytes, Cause cause, bool absent, const Caller& caller, bool refused = false);
  void Closed(std::string_view cause, const Caller& caller);
  void Failed(const v1::Error& error);

  // Answers a read of a placeholder: returns a stand-in, refuses the read, or ends the process, as the
  // options say.
  absl::StatusOr<Literal> Ask(BufferState& placeholder, Cause cause, const Caller& caller);
  // Counts the end of a step. One that StepMark() marked (`marked`) counts only if an execute ran since the
  // last one. May end the process.
  void EndStep(Session& session, bool marked, const Caller& caller);
  // Ends the process of a program that marks no steps, and has run as many as the options ask for.
  [[noreturn]] void EndAfterSteps(Session& session, const Caller& caller);

  // Writes the end of the preflight log, with the daemon's statistics. Later calls have no effect.
  void End(Session& session, std::string_view reason, const Caller& caller, const std::string& text);

 private:
  explicit AbstractSession(const AbstractOptions& options) : options_(options) {}
  [[noreturn]] void EndProcess(Session& session, std::string_view reason, const Caller& caller,
                               const std::string& text);
  absl::StatusOr<Literal> MakeStandIn(const Shape& shape);

  const AbstractOptions options_;
  PreflightLogWriter log_;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> stood_in_ = false;  // True after a stand-in was returned.
  std::atomic<bool> ran_ = false;       // True when an execute ran since the last step.
  std::atomic<int64_t> steps_ = 0;
  std::atomic<uint64_t> random_ = 0;
};

// Makes a placeholder for the buffer that an upload would have made, and counts it as that upload. REQUIRES:
// the device's session is abstract.
absl::StatusOr<Buffer> UploadWithoutBytes(const Device& device, const Shape& shape, Cause cause,
                                          const Caller& caller);

// Returns true when this process has opened an abstract session, or will make every session abstract.
bool MayBeAbstract();

// Ends the session's preflight log when the process exits while the session is still open.
void EndAtExit(const std::shared_ptr<Session>& session);

// The value of HLOD_ABSTRACT: "address=unix:/tmp/x.sock,log=/tmp/x,steps=3,stand_in=0".
struct AbstractRun {
  AbstractOptions options;
  std::string address;  // The address for every connection of the process.
};
// Returns nullopt when `text` is empty.
absl::StatusOr<std::optional<AbstractRun>> ParseAbstractRun(std::string_view text);

}  // namespace hlod::runtime
