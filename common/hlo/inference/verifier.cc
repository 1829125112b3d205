// The verifier: one walk over computations and instructions, callees before callers.
#include "common/hlo/inference/verifier.h"

#include <set>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/hlo/inference/shape_inference.h"

namespace hlod::hlo {
namespace {

// Checks the computations of a module. Caches checks that depend only on a shape or a callee.
class Verifier {
 public:
  Verifier(const Module& module, const VerifyOptions& options) : module_(module), options_(options) {}

  absl::Status Run() {
    if (module_.computation_count() == 0) return InvalidArgument("A module has no computations.");
    if (module_.entry_id() >= module_.computation_count())
      return InvalidArgument("A module has no entry computation.");
    if (const int64_t count = module_.instruction_count(); count > options_.instructions_max) {
      return ResourceExhausted("The number of instructions (%d) of a module exceeds the limit (%d).", count,
                               options_.instructions_max);
    }
    for (ComputationId c = 0; c < module_.computation_count(); ++c) {
      if (absl::Status status = CheckComputation(c); !status.ok()) {
        return Annotate(std::move(status),
                        absl::StrCat("verifying computation (", module_.computation(c).name(), ")."));
      }
    }
    RETURN_IF_ERROR(CheckEntryLayout());
    return CheckAliases();
  }

 private:
  absl::Status CheckComputation(ComputationId c) {
    const Computation& computation = module_.computation(c);
    if (computation.size() == 0) return InvalidArgument("A computation has no instructions.");
    if (computation.root_id() >= computation.size()) {
      return InvalidArgument("The root (%d) is none of the (%d) instructions.", computation.root_id(),
                             computation.size());
    }
    depths_.push_back(1);
    size_t parameters = 0;
    for (NodeId id = 0; id < computation.size(); ++id) {
      const Instruction instruction = computation[id];
      parameters += instruction.opcode() == kParameter;
      if (absl::Status status = CheckInstruction(c, instruction); !status.ok()) {
        return Annotate(std::move(status), Where(computation, instruction));
      }
    }
    if (parameters != computation.parameters().size()) {
      return InvalidArgument("The numbers of its (%d) parameters are not 0 to %d, each once.", parameters,
                             static_cast<int64_t>(parameters) - 1);
    }
    signatures_.push_back(computation.program_shape());
    return absl::OkStatus();
  }

  static std::string Where(const Computation& computation, Instruction instruction) {
    std::string where = absl::StrCat("verifying instruction (", instruction.name(), ")");
    const Notes* notes = computation.notes(instruction.id());
    if (notes != nullptr && !notes->metadata.source_file.empty()) {
      absl::StrAppend(&where, " from ", notes->metadata.source_file, ":", notes->metadata.source_line);
    }
    return where + ".";
  }

  absl::Status CheckInstruction(ComputationId c, Instruction instruction) {
    RETURN_IF_ERROR(CheckReferences(c, instruction));
    RETURN_IF_ERROR(CheckShapeOnce(instruction.shape_id()));
    operands_.clear();
    called_.clear();
    for (const NodeId id : instruction.operands())
      operands_.push_back(&instruction.computation()[id].shape());
    for (const ComputationId callee : instruction.called()) called_.push_back(&signatures_[callee]);
    const Shape& stated = instruction.shape();
    ASSIGN_OR_RETURN(const Shape inferred, InferShape({instruction.opcode(), instruction.attributes(),
                                                       operands_, called_, &stated}));
    if (!Compatible(inferred, stated)) {
      return InvalidArgument("The stated shape (%s) of %s differs from the inferred shape (%s).",
                             ToStringNoLayout(stated), Name(instruction.opcode()),
                             ToStringNoLayout(inferred));
    }
    if (instruction.opcode() == kConstant && !Compatible(instruction.literal().shape(), stated)) {
      return InvalidArgument("The stated shape (%s) of constant differs from that of its literal (%s).",
                             ToStringNoLayout(stated), ToStringNoLayout(instruction.literal().shape()));
    }
    return absl::OkStatus();
  }

  // Returns an error unless operands and control predecessors come before their user, callees before their
  // caller, and calls nest within the limit.
  absl::Status CheckReferences(ComputationId c, Instruction instruction) {
    for (const NodeId operand : instruction.operands()) {
      if (operand >= instruction.id())
        return InvalidArgument("Operand (%d) does not come before its user.", operand);
    }
    for (const ComputationId callee : instruction.called()) {
      if (callee >= c)
        return InvalidArgument("The called computation (%d) does not come before its caller.", callee);
      depths_[c] = std::max(depths_[c], depths_[callee] + 1);
      if (depths_[c] > options_.call_depth_max) {
        return ResourceExhausted("Computations nest deeper than the limit (%d).", options_.call_depth_max);
      }
    }
    const Notes* notes = instruction.computation().notes(instruction.id());
    if (notes == nullptr) return absl::OkStatus();
    for (const NodeId predecessor : notes->control_predecessors) {
      if (predecessor >= instruction.id()) {
        return InvalidArgument("The control predecessor (%d) does not come before its successor.",
                               predecessor);
      }
    }
    return absl::OkStatus();
  }

  absl::Status CheckShapeOnce(ShapeId id) {
    if (id >= valid_shapes_.size()) valid_shapes_.resize(id + 1);
    if (valid_shapes_[id]) return absl::OkStatus();
    RETURN_IF_ERROR(ValidateShape(module_.tables().shape(id)));
    valid_shapes_[id] = true;
    return absl::OkStatus();
  }

  absl::Status CheckEntryLayout() {
    const ProgramShape &stated = module_.config.entry_layout, &entry = signatures_[module_.entry_id()];
    const auto differs = [](std::string_view what, const Shape& layout, const Shape& shape) {
      return InvalidArgument(
          "The %s shape (%s) of the entry layout differs from the entry computation's (%s).", what,
          ToStringNoLayout(layout), ToStringNoLayout(shape));
    };
    if (!stated.parameters.empty() && stated.parameters.size() != entry.parameters.size()) {
      return InvalidArgument("The entry layout has (%d) parameters and the entry computation (%d).",
                             stated.parameters.size(), entry.parameters.size());
    }
    for (size_t i = 0; i < stated.parameters.size(); ++i) {
      RETURN_IF_ERROR(ValidateShape(stated.parameters[i]));
      if (!Compatible(stated.parameters[i], entry.parameters[i])) {
        return differs(absl::StrCat("parameter ", i), stated.parameters[i], entry.parameters[i]);
      }
    }
    if (stated.result.type == kInvalid) return absl::OkStatus();
    RETURN_IF_ERROR(ValidateShape(stated.result));
    return Compatible(stated.result, entry.result) ? absl::OkStatus()
                                                   : differs("result", stated.result, entry.result);
  }

  // Returns the array at `index` of a parameter of the entry.
  absl::StatusOr<const Shape*> ParameterArray(int64_t number, const Dims& index) const {
    const std::vector<Shape>& parameters = signatures_[module_.entry_id()].parameters;
    const bool exists = number >= 0 && number < static_cast<int64_t>(parameters.size());
    const Shape* shape = exists ? SubShape(parameters[number], index) : nullptr;
    if (shape != nullptr && shape->IsArray()) return shape;
    return InvalidArgument("An alias or donor names parameter (%d), in which its index finds no array.",
                           number);
  }

  absl::Status CheckAliases() const {
    std::set<Dims> outputs;
    std::set<std::pair<int64_t, Dims>> parameters;
    for (const InputOutputAlias& alias : module_.config.input_output_alias) {
      ASSIGN_OR_RETURN(const Shape* parameter, ParameterArray(alias.parameter_number, alias.parameter_index));
      const Shape* output = SubShape(signatures_[module_.entry_id()].result, alias.output_index);
      if (output == nullptr || !output->IsArray()) {
        return InvalidArgument("An alias of parameter (%d) names no array of the result.",
                               alias.parameter_number);
      }
      if (!Compatible(*output, *parameter)) {
        return InvalidArgument(
            "The output shape (%s) aliased with parameter (%d) differs from the parameter's (%s).",
            ToStringNoLayout(*output), alias.parameter_number, ToStringNoLayout(*parameter));
      }
      const bool first = outputs.insert(alias.output_index).second &&
                         parameters.insert({alias.parameter_number, alias.parameter_index}).second;
      if (!first)
        return InvalidArgument("Parameter (%d) or its output is aliased twice.", alias.parameter_number);
    }
    for (const BufferDonor& donor : module_.config.buffer_donors) {
      RETURN_IF_ERROR(ParameterArray(donor.parameter_number, donor.parameter_index).status());
    }
    return absl::OkStatus();
  }

  const Module& module_;
  const VerifyOptions& options_;
  std::vector<bool> valid_shapes_;
  std::vector<ProgramShape> signatures_;  // Signatures of the computations checked so far.
  // By computation, the number of computations on the longest path of calls from it, itself included.
  std::vector<int> depths_;
  std::vector<const Shape*> operands_;
  std::vector<const ProgramShape*> called_;
};

}  // namespace

absl::Status Verify(const Module& module, const VerifyOptions& options) {
  return Verifier(module, options).Run();
}

}  // namespace hlod::hlo
