// Functions and what is in them, as MLIR's generic form: the one form that every version of MLIR reads.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/write/draft.h"
#include "client/import/write/functions.h"

namespace hlod::stablehlo::write {

// As mhlo.frontend_attributes; nothing where there are none.
void AddFrontendAttributes(const std::map<std::string, std::string>& stated, AttributeMap& attributes);

// Writes one function after the other, at the end of a text.
class Writer {
 public:
  // REQUIRES: the module is verified.
  Writer(const hlo::Module& module, std::string& text) : module_(module), functions_(module), text_(text) {}

  // @main, then those that are called.
  absl::Status WriteAll();

 private:
  absl::Status WriteEntry();
  absl::Status WriteFunction(hlo::ComputationId id);
  // The instructions of a computation; what its root is.
  absl::StatusOr<Leaves> WriteComputation(hlo::ComputationId id, Leaves parameters);
  absl::StatusOr<Leaves> WriteInstruction(hlo::Instruction instruction, const std::vector<Leaves>& values);
  // One operation; its results.
  absl::StatusOr<Leaves> Write(Draft draft, const hlo::Shape& result, const hlo::Notes* notes = nullptr);
  absl::Status WriteRegion(const Inner& inner);
  void WriteReturn(std::string_view name, const Leaves& values);

  // Those that are not one operation over their operands' leaves.
  absl::StatusOr<Leaves> Called(hlo::Instruction instruction, Draft draft);
  absl::StatusOr<Leaves> Bitcast(hlo::Instruction instruction, Leaf value);
  absl::Status JoinTypes(hlo::Instruction instruction, Draft& draft);
  absl::StatusOr<Leaves> NotZero(hlo::Instruction instruction, Draft draft);
  absl::StatusOr<Leaves> Constants(hlo::Instruction instruction);
  absl::StatusOr<Leaves> CustomCall(hlo::Instruction instruction, Draft draft);
  absl::StatusOr<Leaves> AllToAll(hlo::Instruction instruction, Draft draft);
  absl::StatusOr<Leaves> Branches(hlo::Instruction instruction, const std::vector<Leaves>& values);
  absl::StatusOr<Leaves> Random(hlo::Instruction instruction, Draft draft);

  // New names for the leaves of a shape.
  Leaves NewValues(const hlo::Shape& shape);
  // The leaves of a tuple, which is one value; a tuple of leaves.
  absl::StatusOr<Leaves> TakeApart(const Leaf& value);
  absl::StatusOr<Leaf> PutTogether(const hlo::Shape& shape, const Leaf*& next);
  void Line(std::string_view text);

  const hlo::Module& module_;
  Functions functions_;
  std::string& text_;
  int64_t values_ = 0, operations_ = 0;
  int indent_ = 1;
  std::deque<hlo::Shape> shapes_;  // Of values that no instruction of the module has.
};

}  // namespace hlod::stablehlo::write
