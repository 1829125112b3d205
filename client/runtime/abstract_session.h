// What is different in an abstract session (hlod/abstract.h), and its record.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/runtime/recorder.h"
#include "common/base/sha256.h"
#include "hlod/abstract.h"
#include "hlod/buffer.h"

namespace hlod::internal {

struct BufferState;
class Session;

// Belongs to a session. Thread-safe.
class AbstractSession {
 public:
  // `name`: of the program. Kind argument when `options` make no sense; UNAVAILABLE when nothing can be
  // written where the record should be.
  static absl::StatusOr<std::shared_ptr<AbstractSession>> Open(const AbstractOptions& options,
                                                               const std::string& name);
  ~AbstractSession();

  const AbstractOptions& options() const { return options_; }
  bool IsLarge(int64_t bytes) const { return bytes > options_.real_bytes_max; }

  // What happened, in the order in which it was sent.
  void Compiled(const Digest& digest, const std::string& program, const Caller& caller);
  // `cause`: of the upload that it is, or would be.
  void Made(const Buffer& buffer, std::optional<Cause> cause, const Caller& caller);
  void Executed(const Digest& digest, const std::vector<uint64_t>& arguments,
                const std::vector<Buffer>& results, const std::vector<int>& donated,
                const std::vector<Caller>& result_callers, const Caller& caller);
  void Labelled(uint64_t handle, std::string_view role, const std::string& name, const std::string& sharding);
  void Dropped(uint64_t handle);
  void ReadValue(int64_t bytes, Cause cause, bool absent, const Caller& caller);
  void Closed(std::string_view cause, const Caller& caller);
  void Failed(const v1::Error& error);

  // The program asks for the value of a placeholder: a stand-in for it; or its refusal; or the end of the
  // process.
  absl::StatusOr<Literal> Ask(BufferState& placeholder, Cause cause, const Caller& caller);
  // A step ended: of StepMark() only when something ran since the last. May end the process.
  void EndStep(Session& session, bool marked, const Caller& caller);

  // Writes the end, with what the daemon counted. Once; later calls do nothing.
  void End(Session& session, std::string_view reason, const Caller& caller, const std::string& text);

 private:
  explicit AbstractSession(const AbstractOptions& options) : options_(options) {}
  [[noreturn]] void EndProcess(Session& session, std::string_view reason, const Caller& caller,
                               const std::string& text);
  absl::StatusOr<Literal> MakeStandIn(const Shape& shape);

  const AbstractOptions options_;
  Recorder recorder_;
  std::atomic<bool> ended_ = false;
  std::atomic<bool> stood_in_ = false;  // A stand-in was given.
  std::atomic<bool> ran_ = false;       // Something, since the last step.
  std::atomic<int64_t> steps_ = 0;
  std::atomic<uint64_t> random_ = 0;
};

// A placeholder for what an upload would have made. Counted as that upload. REQUIRES: the device's session is
// abstract.
absl::StatusOr<Buffer> UploadWithoutBytes(const Device& device, const Shape& shape, Cause cause,
                                          const Caller& caller);

// Whether this process has opened an abstract session, or will make every one so.
bool MayBeAbstract();

// Writes the ends of the records of sessions that are open when the process exits.
void EndAtExit(const std::shared_ptr<Session>& session);

// What HLOD_ABSTRACT asks for: "address=unix:/tmp/x.sock,record=/tmp/x,steps=3,stand_in=zeros"; nothing when
// it is not set.
struct AbstractRun {
  AbstractOptions options;
  std::string address;  // Every connection of the process goes there.
};
absl::StatusOr<std::optional<AbstractRun>> ParseAbstractRun(std::string_view text);

}  // namespace hlod::internal
