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
#include "hlod/runtime/types.h"

namespace hlod {

namespace internal {
struct ExecutableState;
}

// An argument: a buffer, or a small literal that travels in the command and is not an upload. Converts from
// either.
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
  // Indices of arguments that the program may consume; they are dead afterwards. Saves memory where the
  // module's config.input_output_alias or buffer_donors names the parameter: a result then takes over the
  // argument's memory. An alias of an argument that is not donated costs a copy of it (cause donation_copy).
  std::vector<int> donate;
  bool abstract = false;  // Allows placeholders: a result that depends on one becomes a placeholder.
  // The maximum run time; zero means the daemon's limit execute_us_max.
  absl::Duration deadline = absl::ZeroDuration();
  std::optional<int> device;  // When nullopt: the first buffer argument's device, else 0.
  // For a program of several participants, the device of each, all different; empty: 0, 1, ...
  // (ExecuteParticipants).
  std::vector<int> devices;
  std::vector<std::pair<int, Buffer>>
      fill;  // (result index, placeholder that takes the result and keeps its handle)
  // The lines that made the results, for listings and errors. A result beyond the list has the call's line.
  std::vector<Caller> result_callers;
};

// The needs of a program and the way it will run.
struct CompileResult {
  std::string digest;       // SHA-256 of the program, hexadecimal.
  bool cached = false;      // True when the daemon did not have to compile it.
  bool persistent = false;  // It was loaded from the daemon's persistent cache; compile_us is its planning.
  int64_t compile_us = 0;
  std::vector<Shape> arguments, results;
  int64_t argument_bytes = 0, output_bytes = 0, alias_bytes = 0, temporary_bytes = 0;
  int64_t steps = 0, reference_steps = 0;
  std::vector<std::string> reference_opcodes;
  // Steps many times slower than their opcodes usually are, the first 32: "sort (model.cc:12): why". The
  // process also warns of each once on stderr, unless HLOD_WARNINGS=0.
  std::vector<std::string> slow_steps;
};

// An execute under way.
struct Execution {
  std::vector<Buffer> results;  // One per leaf of the root, in flat order.
  Future<void> done;
  // Asks the daemon to stop it; `done` and the results then fail with CANCELLED, unless it was done already.
  void Cancel() const;

  std::shared_ptr<internal::ExecutableState> executable;  // For the library.
  uint64_t command = 0;
};

// Refers to one compiled program; copies refer to the same. Freed when the last copy is gone. Thread-safe.
class Executable {
 public:
  Executable() = default;  // Refers to nothing: only valid() may be called.
  explicit Executable(std::shared_ptr<internal::ExecutableState> state) : state_(std::move(state)) {}

  bool valid() const { return state_ != nullptr; }
  const std::string& name() const;  // The module's.
  // The program is run by replica_count() x partition_count() participants (usually one), each on its own
  // device. They exchange data in the program's collectives. Participant replica * partition_count() +
  // partition is that partition of that replica.
  int replica_count() const;
  int partition_count() const;
  int participant_count() const { return replica_count() * partition_count(); }
  // The flat array leaves of the entry's parameters and of its root; the same for each participant.
  const std::vector<Shape>& argument_shapes() const;
  const std::vector<Shape>& result_shapes() const;

  // Starts the program and returns its results at once, without waiting. Wrong counts, shapes, dead
  // buffers and placeholders (unless abstract) are refused before sending; what the daemon finds surfaces
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
  // A participant that fails, is cancelled or passes its deadline ends the others' runs; the error names it.
  absl::StatusOr<std::vector<std::vector<Buffer>>> ExecuteParticipants(
      absl::Span<const std::vector<Argument>> arguments, const ExecuteOptions& options = {},
      Caller caller = Caller::Here()) const;
  // Execute with a future for its end and a way to cancel.
  absl::StatusOr<Execution> Start(absl::Span<const Argument> arguments, const ExecuteOptions& options = {},
                                  Caller caller = Caller::Here()) const;

  // Returns a future that is ready when the compilation is done: OK or its error.
  Future<void> ready() const;
  // Asks the daemon for the compilation's figures. Waits for the answer.
  absl::StatusOr<CompileResult> Describe(Caller caller = Caller::Here()) const;

 private:
  std::shared_ptr<internal::ExecutableState> state_;
};

}  // namespace hlod
