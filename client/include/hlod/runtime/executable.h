// A compiled program, and running it.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hlod/runtime/buffer.h"
#include "hlod/runtime/caller.h"
#include "hlod/runtime/future.h"
#include "hlod/runtime/mesh.h"
#include "hlod/runtime/step_profile.h"
#include "hlod/runtime/types.h"

namespace hlod {

class Device;

namespace runtime {
struct CommandState;
struct ExecutableState;
}  // namespace runtime

// An argument: a buffer, or a small literal, which is sent in the command and does not count as an upload.
// Both convert to it implicitly.
class Argument {
 public:
  Argument(Buffer buffer) : value_(std::move(buffer)) {}     // NOLINT: implicit on purpose.
  Argument(Literal literal) : value_(std::move(literal)) {}  // NOLINT: implicit on purpose.
  const Buffer* buffer() const { return std::get_if<Buffer>(&value_); }
  const Literal* literal() const { return std::get_if<Literal>(&value_); }

 private:
  std::variant<Buffer, Literal> value_;
};

struct ExecuteOptions {
  // Indices of arguments that the program may consume; they cannot be used afterwards. Donation saves memory
  // when the module's config.input_output_alias or buffer_donors names the parameter: a result then takes
  // over the argument's memory. An aliased argument that is not donated is copied (cause donation_copy).
  std::vector<int> donate;
  bool abstract = false;  // Allows placeholders: a result that depends on one becomes a placeholder.
  // The maximum run time; zero means the daemon's limit execute_us_max.
  absl::Duration deadline = absl::ZeroDuration();
  std::optional<int> device;  // nullopt: the device of the first buffer argument, or 0 without one.
  // The device of each participant, all different, for a program of several; empty: 0, 1, ...
  // (ExecuteParticipants).
  std::vector<int> devices;
  std::vector<std::pair<int, Buffer>>
      fill;  // Pairs of a result's index and the placeholder that takes the result and keeps its handle.
  // The lines that made the results, for listings and errors. Results beyond the end of the list get the
  // call's line.
  std::vector<Caller> result_callers;
  // Unless it is 0, the execute has channels of its own (Execution::Send and Receive), and waits only for the
  // executes of its line. Executes of programs with channels and without a line run one at a time on a
  // device, and share its channels.
  uint64_t line = 0;
};

// A compilation's figures: the memory that a program needs, and the way it will run.
struct CompileResult {
  std::string digest;   // SHA-256 of the program, hexadecimal.
  bool cached = false;  // True when the daemon did not have to compile it.
  // True when it was loaded from the daemon's persistent cache; compile_us is then the time of planning.
  bool persistent = false;
  int64_t compile_us = 0;
  std::vector<Shape> arguments, results;
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0;
  int64_t steps = 0, reference_steps = 0;
  std::vector<std::string> reference_opcodes;
  // Steps many times slower than is usual for their opcodes, at most 32: "sort (model.cc:12): why". The
  // process also prints each once on stderr, unless HLOD_WARNINGS=0.
  std::vector<std::string> slow_steps;
};

// An execute that was started.
struct Execution {
  std::vector<Buffer> results;  // One buffer per leaf of the root, in flat order.
  Future<void> done;
  // Asks the daemon to stop the execute; `done` and the results then fail with CANCELLED, unless it had
  // completed already.
  void Cancel() const;
  // For an execute with ExecuteOptions::line: Device::TransferToInfeed and TransferFromOutfeed for the
  // channels of this execute alone. A value that it does not take is dropped at its end; a value that it did
  // not send by then is an error of kind cancelled.
  absl::Status Send(const Device& device, absl::Span<const Buffer> arrays, int64_t channel,
                    Caller caller = Caller::Here()) const;
  absl::StatusOr<std::vector<Buffer>> Receive(const Device& device, absl::Span<const Shape> shapes,
                                              int64_t channel, Caller caller = Caller::Here()) const;

  std::shared_ptr<runtime::ExecutableState> executable;  // For the library.
  uint64_t command = 0;
  std::shared_ptr<runtime::CommandState> sent;
};

// Refers to one compiled program; copies refer to the same one. Freed when the last copy is destroyed.
// Thread-safe.
class Executable {
 public:
  Executable() = default;  // Refers to no program: only valid() may be called.
  explicit Executable(std::shared_ptr<runtime::ExecutableState> state) : state_(std::move(state)) {}

  bool valid() const { return state_ != nullptr; }
  const std::string& name() const;  // The module's name.
  // The program is run by replica_count() x partition_count() participants (usually one), each on its own
  // device, which exchange data in collectives. The index of a participant is replica * partition_count() +
  // partition.
  int replica_count() const;
  int partition_count() const;
  int participant_count() const { return replica_count() * partition_count(); }
  // The shapes of the flat array leaves of the entry's parameters, and of its root. They are the same for
  // each participant; of a program that was divided among a mesh, they are those of the whole arrays.
  const std::vector<Shape>& argument_shapes() const;
  const std::vector<Shape>& result_shapes() const;

  // The mesh that the program was divided among (CompileOptions::mesh), and how each argument and result lies
  // on it, as HLO writes shardings; null and empty for other programs. Of a divided program, Execute and
  // Start take whole arrays, which may be divided already, as its results are (hlod/runtime/shards.h): an
  // argument that lies otherwise is cut on the devices first, and indices in `options` refer to whole
  // arguments and results. ExecuteParticipants takes the parts.
  const Mesh* mesh() const;
  std::vector<std::string> argument_shardings() const;
  std::vector<std::string> result_shardings() const;

  // Starts the program and returns its results at once. Wrong counts, shapes, deleted buffers and
  // placeholders (unless abstract) are refused before sending; errors that the daemon finds are reported
  // where a result is used.
  absl::StatusOr<std::vector<Buffer>> Execute(absl::Span<const Argument> arguments,
                                              const ExecuteOptions& options = {},
                                              Caller caller = Caller::Here()) const;
  absl::StatusOr<std::vector<Buffer>> Execute(std::initializer_list<Argument> arguments,
                                              const ExecuteOptions& options = {},
                                              Caller caller = Caller::Here()) const {
    return Execute(absl::Span<const Argument>(arguments.begin(), arguments.size()), options, caller);
  }
  // Runs all participants at the same time; `arguments` and the result have one list per participant. Execute
  // and Start do the same with the lists concatenated; indices in `options` refer to the concatenated lists.
  // When a participant fails, is cancelled or passes its deadline, the others end too, with an error that
  // names it.
  absl::StatusOr<std::vector<std::vector<Buffer>>> ExecuteParticipants(
      absl::Span<const std::vector<Argument>> arguments, const ExecuteOptions& options = {},
      Caller caller = Caller::Here()) const;
  // Like Execute, with a future for the end of the run and a way to cancel it.
  absl::StatusOr<Execution> Start(absl::Span<const Argument> arguments, const ExecuteOptions& options = {},
                                  Caller caller = Caller::Here()) const;

  // Runs the program once, waits for its end, and returns the time of each of its steps; the results are
  // dropped. With `measure_machine`, the daemon first measures for about 100 ms how fast the machine could be
  // (not for a program of several participants). Abstract executes are refused (kind unimplemented), and so
  // is every profile by a daemon that is older than profiles.
  absl::StatusOr<ExecuteProfile> Profile(absl::Span<const Argument> arguments,
                                         const ExecuteOptions& options = {}, bool measure_machine = false,
                                         Caller caller = Caller::Here()) const;

  // Returns a future that is ready when the compilation is done: OK or its error.
  Future<void> ready() const;
  // Asks the daemon for the compilation's figures. Waits for the answer.
  absl::StatusOr<CompileResult> Describe(Caller caller = Caller::Here()) const;

  // For the library.
  const std::shared_ptr<runtime::ExecutableState>& internal_state() const { return state_; }

 private:
  std::shared_ptr<runtime::ExecutableState> state_;
};

}  // namespace hlod
