// Converts operations to instructions, in order. Regions become computations of their own first.
#include "client/import/convert/scope.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "client/import/convert/constraints.h"
#include "client/import/convert/known_integers.h"
#include "common/base/errors/status.h"
#include "common/hlo/text/sharding.h"

namespace hlod::stablehlo {
namespace {

bool IsTerminator(std::string_view name) {
  for (const std::string_view word : {"stablehlo.return", "func.return", "sdy.return"}) {
    if (name == word) return true;
  }
  return false;
}

// Adds the values that a region's operations use to `used`, in order, and those they define to `defined`.
void Walk(const Region& region, std::vector<ValueId>& used, absl::flat_hash_set<ValueId>& defined) {
  for (const Block& block : region.blocks) {
    for (const Value& argument : block.arguments) defined.insert(argument.id);
    for (const Operation& operation : block.operations) {
      used.insert(used.end(), operation.operands.begin(), operation.operands.end());
      for (const Region& inner : operation.regions) Walk(inner, used, defined);
      for (const Value& result : operation.results) defined.insert(result.id);
    }
  }
}

absl::Status WrongCount(std::string_view what, size_t given, int wanted) {
  return InvalidArgument("It has (%d) %s; expected (%d).", given, what, wanted);
}

absl::Status CheckCounts(const Operation& operation, const Rule& rule) {
  const auto differs = [](size_t given, int wanted) {
    return wanted >= 0 && given != static_cast<size_t>(wanted);
  };
  if (differs(operation.operands.size(), rule.operands))
    return WrongCount("operands", operation.operands.size(), rule.operands);
  if (differs(operation.results.size(), rule.results))
    return WrongCount("results", operation.results.size(), rule.results);
  if (differs(operation.regions.size(), rule.regions))
    return WrongCount("regions", operation.regions.size(), rule.regions);
  return absl::OkStatus();
}

}  // namespace

Scope::Scope(Converter& converter, std::string name, const Scope* outer)
    : converter_(converter),
      outer_(outer),
      computation_(converter.module().shared_tables(), std::move(name)),
      builder_(converter.module(), computation_) {
  ++converter_.depth_;
}

Scope::~Scope() { --converter_.depth_; }

void Scope::AddParameters(absl::Span<const ValueId> values, absl::Span<const Shape> shapes, Packing packing) {
  if (packing == Packing::kParameters || values.size() == 1) {
    for (size_t i = 0; i < values.size(); ++i) {
      Define(values[i], builder_.Parameter(static_cast<int64_t>(i), shapes[i]));
    }
    return;
  }
  const Op all = builder_.Parameter(0, Shape::Tuple({shapes.begin(), shapes.end()}));
  for (size_t i = 0; i < values.size(); ++i) {
    Define(values[i], builder_.GetTupleElement(all, static_cast<int64_t>(i)));
  }
}

absl::StatusOr<std::vector<Op>> Scope::FindAll(absl::Span<const ValueId> ids) {
  std::vector<Op> found;
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto here = values_.find(ids[i]);
    if (here != values_.end()) {
      found.push_back(here->second);
      continue;
    }
    const Scope* scope = outer_;
    while (scope != nullptr && !scope->values_.contains(ids[i])) scope = scope->outer_;
    if (scope == nullptr) return InvalidArgument("Operand %d is not defined before it is used.", i);
    const Op value = scope->values_.at(ids[i]);
    if (!scope->CanClone(value)) {
      return Unimplemented(
          "Operand %d is a value from outside the region that is not a constant; HLO has no way to hand it "
          "in.",
          i);
    }
    const Op clone = CloneFrom(*scope, value);
    Define(ids[i], clone);
    found.push_back(clone);
  }
  return found;
}

absl::StatusOr<const Block*> Scope::OnlyBlock(const Region& region) {
  if (region.blocks.size() != 1) {
    return Unimplemented("One of its regions has (%d) blocks; expected one.", region.blocks.size());
  }
  return &region.blocks[0];
}

absl::StatusOr<std::vector<Op>> Scope::ConvertBlock(const Block& block) {
  if (block.operations.empty() || !IsTerminator(block.operations.back().name)) {
    return InvalidArgument("A block does not end with return.");
  }
  for (size_t i = 0; i + 1 < block.operations.size(); ++i) RETURN_IF_ERROR(Convert(block.operations[i]));
  const Operation& end = block.operations.back();
  absl::StatusOr<std::vector<Op>> values = FindAll(end.operands);
  return values.ok() ? std::move(values) : At(end, values.status());
}

absl::Status Scope::Convert(const Operation& operation) {
  const Rule* const rule = FindRule(operation.name);
  if (rule == nullptr) {
    return At(operation, Unimplemented("%s", IsTerminator(operation.name) ? "It is not at the end of a block."
                                                                          : "It has no conversion to HLO."));
  }
  if (absl::Status status = CheckCounts(operation, *rule); !status.ok()) return At(operation, status);
  absl::StatusOr<std::vector<Op>> operands = FindAll(operation.operands);
  if (!operands.ok()) return At(operation, operands.status());
  const hlo::NodeId first = computation_.size();
  decoration = {};
  decoration.Take(operation.attributes, converter_.meshes(),
                  operation.results.size() == 1 ? operation.results[0].type : Type::Tuple({}));
  Conversion conversion(*this, operation, *rule, *std::move(operands));
  CheckConstraints(conversion);
  const Values values = conversion.status().ok() ? rule->convert(conversion) : Values();
  if (!conversion.status().ok()) {
    return conversion.placed() ? conversion.status() : At(operation, conversion.status());
  }
  if (!builder_.status().ok()) return At(operation, builder_.status());
  if (values.size() != operation.results.size()) {
    return At(operation, WrongCount("results", operation.results.size(), static_cast<int>(values.size())));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    const Shape& shape = builder_.shape(values[i]);
    if (!Refines(shape, operation.results[i].type)) {
      return At(operation, InvalidArgument("Its result %d is stated to be %s; its operands determine %s.", i,
                                           hlo::ToStringNoLayout(operation.results[i].type),
                                           hlo::ToStringNoLayout(shape)));
    }
    if (IsUnknown(shape)) {
      return At(operation, Unimplemented("Its result %d is %s; expected a known size.", i,
                                         hlo::ToStringNoLayout(operation.results[i].type)));
    }
    Define(operation.results[i].id, values[i]);
  }
  Decorate(first, operation);
  if (converter_.has_unknown()) LearnKnown(first);
  return absl::OkStatus();
}

void Scope::Decorate(hlo::NodeId first, const Operation& operation) {
  const Location& location = operation.location;
  const hlo::Metadata metadata{
      .op_name = location.name, .source_file = location.file, .source_line = location.line};
  const bool plain = metadata == hlo::Metadata{} && decoration.frontend_attributes.empty();
  if (first == computation_.size()) return;
  const hlo::NodeId last = computation_.size() - 1;
  if (!plain) {
    std::optional<hlo::NodeId> shared;
    for (hlo::NodeId id = first; id <= last; ++id) {
      if (computation_.notes(id) == nullptr && shared.has_value()) {
        computation_.ShareNotes(id, computation_, *shared);
        continue;
      }
      if (computation_.notes(id) == nullptr) shared = id;
      hlo::Notes& notes = computation_.mutable_notes(id);
      if (notes.metadata == hlo::Metadata{}) notes.metadata = metadata;
      notes.frontend_attributes.insert(decoration.frontend_attributes.begin(),
                                       decoration.frontend_attributes.end());
    }
  }
  if (!decoration.sharding.empty()) computation_.mutable_notes(last).sharding = decoration.sharding;
}

absl::StatusOr<ComputationId> Scope::Finish(const std::vector<Op>& results) {
  const Op root = results.size() == 1 ? results[0] : builder_.Tuple(results);
  RETURN_IF_ERROR(builder_.Build(root));
  return converter_.Add(std::move(computation_));
}

absl::StatusOr<ComputationId> Scope::AddRegion(const Operation& operation, const Region& region,
                                               const RegionForm& form) {
  if (absl::Status status = converter_.CheckDepth(); !status.ok()) return At(operation, status);
  absl::StatusOr<const Block*> block = OnlyBlock(region);
  if (!block.ok()) return At(operation, block.status());
  if ((*block)->arguments.size() != form.shapes.size()) {
    return At(operation, InvalidArgument("Its region takes (%d) arguments; expected (%d).",
                                         (*block)->arguments.size(), form.shapes.size()));
  }
  std::vector<ValueId> ids;
  std::vector<Shape> shapes = form.shapes;
  for (size_t i = 0; i < form.shapes.size(); ++i) {
    const Value& argument = (*block)->arguments[i];
    if (!Refines(form.shapes[i], argument.type)) {
      return At(operation,
                InvalidArgument("Argument %d of its region is %s; expected %s.", i,
                                hlo::ToStringNoLayout(argument.type), hlo::ToStringNoLayout(form.shapes[i])));
    }
    ids.push_back(argument.id);
  }
  for (const ValueId id : form.captured) {
    ids.push_back(id);
    shapes.push_back(builder_.shape(values_.at(id)));
  }
  Scope inner(converter_, converter_.RegionName(), this);
  inner.AddParameters(ids, shapes, form.packing);
  if (!inner.builder().status().ok()) return At(operation, inner.builder().status());
  ASSIGN_OR_RETURN(std::vector<Op> results, inner.ConvertBlock(**block));
  if (form.return_captured) {
    ASSIGN_OR_RETURN(const std::vector<Op> kept, inner.FindAll(form.captured));
    results.insert(results.end(), kept.begin(), kept.end());
  }
  absl::StatusOr<ComputationId> made = inner.Finish(results);
  return made.ok() ? std::move(made) : At(operation, made.status());
}

std::vector<ValueId> Scope::Captured(absl::Span<const Region> regions) const {
  std::vector<ValueId> used, captured;
  absl::flat_hash_set<ValueId> defined;
  for (const Region& region : regions) Walk(region, used, defined);
  for (const ValueId id : used) {
    const auto here = values_.find(id);
    if (here == values_.end() || CanClone(here->second) || !defined.insert(id).second) continue;
    captured.push_back(id);
  }
  return captured;
}

bool Scope::CanClone(Op value, int links) const {
  if (known_.contains(value.id)) return true;
  const hlo::Instruction instruction = computation_[value.id];
  switch (instruction.opcode()) {
    case hlo::kConstant:
    case hlo::kIota: return true;
    case hlo::kBroadcast:
    case hlo::kReshape:
    case hlo::kConvert: return links > 0 && CanClone({value.builder, instruction.operands()[0]}, links - 1);
    default: return false;
  }
}

Op Scope::CloneFrom(const Scope& outer, Op value) {
  if (const std::optional<hlo::Literal> known = outer.KnownLiteral(value)) {
    const Op constant = builder_.Constant(*known);
    known_.emplace(constant.id, *outer.Known(value));
    return constant;
  }
  const hlo::Instruction instruction = outer.computation_[value.id];
  std::vector<Op> operands;
  for (const hlo::NodeId operand : instruction.operands()) {
    operands.push_back(CloneFrom(outer, {value.builder, operand}));
  }
  return builder_.Add(instruction.opcode(), operands, instruction.attributes(), {}, &instruction.shape());
}

const Integers* Scope::Known(Op value) const {
  const auto found = known_.find(value.id);
  return found == known_.end() ? nullptr : &found->second;
}

std::optional<hlo::Literal> Scope::KnownLiteral(Op value) const {
  const Integers* const known = Known(value);
  if (known == nullptr) return std::nullopt;
  return LiteralOf(*known, computation_[value.id].shape());
}

void Scope::DefineKnown(ValueId id, const hlo::Literal& value) {
  const hlo::NodeId first = computation_.size();
  Define(id, builder_.Constant(value));
  LearnKnown(first);
}

// Returns the known integers of a function's result, or of one of several.
std::optional<Integers> Scope::KnownOfCall(hlo::Instruction instruction) const {
  size_t index = 0;
  if (instruction.opcode() == hlo::kGetTupleElement) {
    index = static_cast<size_t>(instruction.attributes<hlo::TupleIndexAttributes>().index);
    instruction = instruction.operand(0);
  } else if (instruction.shape().IsTuple()) {
    return std::nullopt;
  }
  if (instruction.opcode() != hlo::kCall) return std::nullopt;
  const Converter::KnownValues* const results = converter_.KnownResults(instruction.called()[0]);
  return results == nullptr || index >= results->size() ? std::nullopt : (*results)[index];
}

void Scope::LearnKnown(hlo::NodeId first) {
  const auto of = [&](hlo::NodeId id) { return Known({&builder_, id}); };
  for (hlo::NodeId id = first; id < computation_.size(); ++id) {
    std::optional<Integers> known = KnownOfCall(computation_[id]);
    if (!known.has_value()) known = Fold(computation_[id], of);
    if (known.has_value()) known_.emplace(id, *std::move(known));
  }
}

}  // namespace hlod::stablehlo
