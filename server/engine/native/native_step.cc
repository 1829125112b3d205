// The step that calls a native kernel.
#include <array>
#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/native/native_kernels.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr size_t kErrorBytes = 1024;

std::vector<hlo::Shape> LeavesOf(const hlo::Shape& shape) {
  std::vector<hlo::Shape> leaves;
  for (const hlo::ShapeLeaf& leaf : hlo::Leaves(shape)) leaves.push_back(*leaf.shape);
  return leaves;
}

template <typename Array>
Array Describe(const hlo::Shape& shape) {
  Array array{};
  array.dtype = static_cast<int32_t>(shape.type);
  array.rank = static_cast<int32_t>(shape.dims.size());
  array.dims = shape.dims.data();
  array.elements = Elements(shape);
  array.bytes = Bytes(shape);
  return array;
}

class NativeStep final : public Step {
 public:
  NativeStep(hlo::Instruction instruction, const hlod_kernel& kernel)
      : Step(StepKind::kLibrary, "native " + DescribeStep(instruction)),
        target_(kernel.target),
        run_(kernel.run),
        payload_(instruction.attributes<hlo::CustomCallAttributes>().backend_config),
        outputs_(LeavesOf(instruction.shape())) {
    for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
      for (hlo::Shape& leaf : LeavesOf(instruction.operand(i).shape())) inputs_.push_back(std::move(leaf));
    }
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    std::vector<hlod_kernel_input> given;
    std::vector<hlod_kernel_output> results;
    for (size_t i = 0; i < inputs_.size(); ++i)
      given.emplace_back(Describe<hlod_kernel_input>(inputs_[i])).data = inputs[i];
    for (size_t i = 0; i < outputs_.size(); ++i)
      results.emplace_back(Describe<hlod_kernel_output>(outputs_[i])).data = outputs[i];
    std::array<char, kErrorBytes> error{};
    hlod_kernel_call call{};
    call.inputs = given.data();
    call.outputs = results.data();
    call.input_count = static_cast<int32_t>(given.size());
    call.output_count = static_cast<int32_t>(results.size());
    call.threads = context.threads;
    call.payload = payload_.data();
    call.payload_bytes = payload_.size();
    call.error = error.data();
    call.error_bytes = error.size();
    int code = 0;
    try {
      code = run_(&call);
    } catch (const std::exception& e) {  // The kernel may be C++ and throw.
      return Internal("The native kernel \"%s\" threw: %s", target_, e.what());
    } catch (...) {
      return Internal("The native kernel \"%s\" threw", target_);
    }
    error.back() = '\0';
    if (code == 0) return StopCheck::Verdict(context.run);
    const char* const why = error[0] != '\0' ? error.data() : "it does not say why";
    return Internal("The native kernel \"%s\" failed with %d: %s", target_, code, why);
  }

 private:
  const std::string target_;
  const hlod_kernel_function run_;
  const std::string payload_;
  std::vector<hlo::Shape> inputs_;
  const std::vector<hlo::Shape> outputs_;
};

}  // namespace

absl::Status CheckNativeCall(hlo::Instruction instruction) {
  const auto refuse = [&](const char* what) {
    return Unimplemented(
        "The custom-call of the native kernel \"%s\" has %s, which native kernels do not take",
        instruction.attributes<hlo::CustomCallAttributes>().target, what);
  };
  if (!instruction.called().empty()) return refuse("a computation that it calls");
  std::vector<hlo::Shape> leaves = LeavesOf(instruction.shape());
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    for (hlo::Shape& leaf : LeavesOf(instruction.operand(i).shape())) leaves.push_back(std::move(leaf));
  }
  for (const hlo::Shape& leaf : leaves) {
    if (!leaf.IsArray()) return refuse("a token");
  }
  return absl::OkStatus();
}

std::unique_ptr<Step> MakeNativeStep(hlo::Instruction instruction, const hlod_kernel& kernel) {
  return std::make_unique<NativeStep>(instruction, kernel);
}

}  // namespace hlod::engine
