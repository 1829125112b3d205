// One call of a foreign function in a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/pjrt/ffi/attributes.h"
#include "client/pjrt/ffi/registry.h"
#include "common/hlo/shape.h"

namespace hlod::pjrt::ffi {

// The user's objects for an execution, by type.
using UserData = std::map<int64_t, void*>;

// The execution that calls a handler, and the states that the handler keeps.
class Context {
 public:
  Context(const UserData& user_data, int device, int64_t run_id)
      : user_data_(user_data), device_(device), run_id_(run_id) {}
  // Destroys the states.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  int device() const { return device_; }
  int64_t run_id() const { return run_id_; }
  absl::StatusOr<void*> Data(int64_t type) const;
  absl::Status SetState(Stage stage, int64_t type, void* state);
  absl::StatusOr<void*> State(Stage stage, int64_t type) const;
  // Uses the states of an earlier stage, which another context owns.
  void Borrow(const Context& other) { borrowed_ = &other; }

 private:
  struct Kept {
    int64_t type = 0;
    void* state = nullptr;
  };
  const UserData user_data_;
  const int device_;
  const int64_t run_id_;
  const Context* borrowed_ = nullptr;
  std::map<Stage, Kept> states_;
};

// Constant after Make, and shared by all executions of its program.
class Call {
 public:
  // Calls the handler that prepares a program, if there is one. `version` is that of the call's interface.
  // `attributes` are the call's attributes or, for a function without types, the text that it is given.
  static absl::StatusOr<std::shared_ptr<const Call>> Make(std::string name, const Target& target, int version,
                                                          std::string_view attributes,
                                                          std::vector<hlo::Shape> operands,
                                                          std::vector<hlo::Shape> results);

  const std::vector<hlo::Shape>& operands() const { return operands_; }
  const std::vector<hlo::Shape>& results() const { return results_; }
  // Returns, for a result that has an operand's memory, the operand; -1 for others.
  int AliasOf(size_t result) const;

  // Calls the function. `operands` and `results` are dense row-major arrays; a result with an operand's
  // memory has that operand's address.
  absl::Status Run(const std::vector<void*>& operands, const std::vector<void*>& results,
                   const UserData& user_data, int device) const;

 private:
  Call() = default;
  absl::Status RunUntyped(const std::vector<void*>& operands, const std::vector<void*>& results) const;
  absl::Status RunStage(Handler* handler, Stage stage, const std::vector<void*>& operands,
                        const std::vector<void*>& results, Context& context) const;

  std::string name_;
  Target target_;
  int version_ = 0;
  std::string text_;  // The text that a function without types is given.
  std::unique_ptr<CallAttributes> attributes_;
  std::vector<hlo::Shape> operands_, results_;
  std::unique_ptr<Context> program_;  // The states of the program.
};

// Returns true when the function can serve calls of this version of XLA's interfaces (CustomCallApiVersion).
bool Serves(const Target& target, int version);

// The functions that handlers may call.
const Api& FunctionsForHandlers();

}  // namespace hlod::pjrt::ffi
