// Scalar computations as tile programs whose parameters and results are dense arrays, so that a reducer runs
// on many pairs at once.
#include <algorithm>
#include <vector>

#include "server/engine/run/step_util.h"
#include "server/engine/tile/program.h"
#include "server/engine/tile/scalar_function.h"

namespace hlod::engine {
namespace {

// The limit on registers, which are on the caller's stack, so that any thread may run it without memory of
// its own.
constexpr int64_t kStackBytesMax = 192 << 10;

class TileFunctionOfScalars final : public ScalarFunction {
 public:
  TileFunctionOfScalars(TileProgram program, std::vector<int> parameter_widths,
                        std::vector<int> result_widths)
      : program_(std::move(program)),
        parameter_widths_(std::move(parameter_widths)),
        result_widths_(std::move(result_widths)) {}

  int parameter_count() const override { return static_cast<int>(parameter_widths_.size()); }
  int result_count() const override { return static_cast<int>(result_widths_.size()); }

  void Run(const std::byte* const* parameters, std::byte* const* results, int64_t count) const override {
    alignas(64) std::byte workspace[kStackBytesMax];
    program_.Begin(parameters, workspace, static_cast<int>(std::min<int64_t>(count, kTile)));
    for (int64_t start = 0; start < count; start += kTile) {
      program_.RunTile(parameters, results, workspace, start,
                       static_cast<int>(std::min<int64_t>(kTile, count - start)));
    }
  }

 private:
  const TileProgram program_;
  const std::vector<int> parameter_widths_, result_widths_;
};

}  // namespace

std::unique_ptr<ScalarFunction> MakeScalarFunction(const hlo::Module& module, hlo::ComputationId id) {
  const hlo::Computation& computation = module.computation(id);
  // The domain may have any number of elements; it is larger than one, so that scalars are broadcast to it.
  TileProgram::Builder builder(computation, int64_t{1} << 40);
  std::vector<int> parameter_widths, result_widths;
  for (hlo::NodeId parameter : computation.parameters()) {
    const hlo::Shape& shape = computation[parameter].shape();
    if (!shape.IsScalar()) return nullptr;
    builder.AddElementInput(parameter, static_cast<int>(parameter_widths.size()));
    parameter_widths.push_back(hlo::ByteWidth(shape.type));
  }
  const hlo::Instruction root = computation.root();
  std::vector<hlo::NodeId> outputs;
  if (root.opcode() == hlo::kTuple) outputs.assign(root.operands().begin(), root.operands().end());
  else outputs.push_back(root.id());
  for (hlo::NodeId node = 0; node < computation.size(); ++node) {
    const hlo::Instruction instruction = computation[node];
    switch (instruction.opcode()) {
      case hlo::kParameter:
      case hlo::kConstant: continue;
      case hlo::kTuple:
        if (node == root.id()) continue;
        return nullptr;
      default:
        if (!instruction.shape().IsScalar() || !IsTileInstruction(instruction) || !builder.Add(node))
          return nullptr;
    }
  }
  // Results may share memory with the parameters, so every result is stored after the last parameter was
  // read.
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (!builder.AddLateOutput(outputs[o], static_cast<int>(o))) return nullptr;
    result_widths.push_back(hlo::ByteWidth(computation[outputs[o]].shape().type));
  }
  TileProgram program = std::move(builder).Build();
  if (program.workspace_bytes() > kStackBytesMax) return nullptr;
  return std::make_unique<TileFunctionOfScalars>(std::move(program), std::move(parameter_widths),
                                                 std::move(result_widths));
}

}  // namespace hlod::engine
