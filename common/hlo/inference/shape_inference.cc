// The table from opcodes to shape rules, and the checks that all opcodes share.
#include "common/hlo/inference/shape_inference.h"

#include <array>

#include "common/hlo/inference/rules.h"

namespace hlod::hlo {
namespace {

using Rule = absl::StatusOr<Shape> (*)(const InferenceInput&);

constexpr std::array<Rule, kOpcodeCount> kRules = {
#define HLOD_OP(id, text, arity, called, attributes, rule, traits) &Infer##rule,
#include "common/hlo/opcodes.inc"
#undef HLOD_OP
};

absl::Status CheckForm(const InferenceInput& in) {
  const OpcodeInfo& info = Info(in.opcode);
  if (info.arity >= 0 && in.operands.size() != static_cast<size_t>(info.arity)) {
    return InvalidArgument("The number of operands (%d) of %s differs from (%d).", in.operands.size(),
                           info.name, info.arity);
  }
  if (info.called >= 0 && in.called.size() != static_cast<size_t>(info.called)) {
    return InvalidArgument("The number of computations (%d) called by %s differs from (%d).",
                           in.called.size(), info.name, info.called);
  }
  if (in.attributes.index() != info.attributes) {
    return InvalidArgument("The attributes of %s are those of another opcode.", info.name);
  }
  for (size_t i = 0; i < in.operands.size(); ++i) {
    if (in.operands[i]->rank() > kMaxRank) {
      return InvalidArgument("The rank (%d) of operand %d of %s exceeds the limit (%d).",
                             in.operands[i]->rank(), i, info.name, kMaxRank);
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Shape> InferShape(const InferenceInput& in) {
  RETURN_IF_ERROR(CheckForm(in));
  absl::StatusOr<Shape> shape = kRules[static_cast<size_t>(in.opcode)](in);
  if (!shape.ok()) return shape;
  if (absl::Status valid = ValidateShape(*shape); !valid.ok()) {
    return Annotate(std::move(valid), absl::StrCat("inferring the shape of ", ToAbsl(OpName(in)), "."));
  }
  return shape;
}

absl::StatusOr<Shape> InferUnsupported(const InferenceInput& in) {
  return Unimplemented("The opcode (%s) has no shape rule in this build.", OpName(in));
}

}  // namespace hlod::hlo
