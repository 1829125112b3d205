// Writes functions and their contents in MLIR's generic form, the one form that every version of MLIR reads.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/import/write/draft.h"
#include "client/import/write/functions.h"

namespace hlod::stablehlo::write {

// Adds mhlo.frontend_attributes unless `stated` is empty.
void AddFrontendAttributes(const std::map<std::string, std::string>& stated, AttributeMap& attributes);

// Writes one function after the other, at the end of a text.
class Writer {
 public:
  // REQUIRES: the module is verified.
  Writer(const hlo::Module& module, std::string& text) : module_(module), functions_(module), text_(text) {}

  // Writes @main, then the functions that are called.
  absl::Status WriteAll();

 private:
  absl::Status WriteEntry();
  absl::Status WriteFunction(hlo::ComputationId id);
  // Writes the instructions of a computation. Returns the leaves of its root.
  absl::StatusOr<Leaves> WriteComputation(hlo::ComputationId id, Leaves parameters);
  absl::StatusOr<Leaves> WriteInstruction(hlo::Instruction instruction, const std::vector<Leaves>& values);
  // Writes one operation. Returns its results.
  absl::StatusOr<Leaves> Write(OutputOperation draft, const hlo::Shape& result,
                               const hlo::Notes* notes = nullptr);
  absl::Status WriteRegion(const Inner& inner);
  void WriteReturn(std::string_view name, const Leaves& values);

  // Write the instructions that are not one operation over their operands' leaves.
  absl::StatusOr<Leaves> Called(hlo::Instruction instruction, OutputOperation draft);
  absl::StatusOr<Leaves> Bitcast(hlo::Instruction instruction, Leaf value);
  absl::Status JoinTypes(hlo::Instruction instruction, OutputOperation& draft);
  absl::StatusOr<Leaves> NotZero(hlo::Instruction instruction, OutputOperation draft);
  absl::StatusOr<Leaves> Constants(hlo::Instruction instruction);
  absl::StatusOr<Leaves> CustomCall(hlo::Instruction instruction, OutputOperation draft);
  absl::StatusOr<Leaves> AllToAll(hlo::Instruction instruction, OutputOperation draft);
  absl::StatusOr<Leaves> Branches(hlo::Instruction instruction, const std::vector<Leaves>& values);
  absl::StatusOr<Leaves> Random(hlo::Instruction instruction, OutputOperation draft);

  // Returns new names for the leaves of a shape.
  Leaves NewValues(const hlo::Shape& shape);
  // Take apart the tuple in one value, and build a tuple of leaves.
  absl::StatusOr<Leaves> TakeApart(const Leaf& value);
  absl::StatusOr<Leaf> PutTogether(const hlo::Shape& shape, const Leaf*& next);
  void Line(std::string_view text);

  const hlo::Module& module_;
  Functions functions_;
  std::string& text_;
  int64_t values_ = 0, operations_ = 0;
  int indent_ = 1;
  std::deque<hlo::Shape> shapes_;  // Types of values that are not results of the module's instructions.
};

}  // namespace hlod::stablehlo::write
