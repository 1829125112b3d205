// Reads attributes with checks, and holds helpers that many conversions share.
#include "client/import/convert/conversion.h"

#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/import/convert/scope.h"
#include "client/import/program/attribute_text.h"
#include "client/import/program/elements.h"
#include "common/base/errors/error.h"
#include "common/base/text/strings.h"
#include "common/hlo/collectives/replica_groups.h"

namespace hlod::stablehlo {
namespace {

using hlo::Literal;

std::optional<Integers> IntegersIn(const Attribute& attribute) {
  if (const auto* number = std::get_if<int64_t>(&attribute.value)) return stablehlo::Integers{*number};
  if (const auto* integers = std::get_if<stablehlo::Integers>(&attribute.value)) return *integers;
  if (const auto* literal = std::get_if<Literal>(&attribute.value)) {
    const hlo::PrimitiveType type = literal->shape().type;
    if (!hlo::IsInteger(type) && type != hlo::kPred) return std::nullopt;
    return ElementsOf(*literal);
  }
  if (const auto* list = std::get_if<std::vector<Attribute>>(&attribute.value)) {
    stablehlo::Integers integers;
    for (const Attribute& element : *list) {
      if (const auto* number = std::get_if<int64_t>(&element.value)) {
        integers.push_back(*number);
      } else if (const auto* truth = std::get_if<bool>(&element.value)) {
        integers.push_back(*truth ? 1 : 0);
      } else {
        return std::nullopt;
      }
    }
    return integers;
  }
  return std::nullopt;
}

}  // namespace

Conversion::Conversion(Scope& scope, const Operation& operation, const Rule& rule, std::vector<Op> operands)
    : scope(scope), op(operation), rule(rule), b(scope.builder()), operands(std::move(operands)) {}

Type Conversion::StatedTogether() const {
  if (op.results.size() == 1) return op.results[0].type;
  std::vector<Type> types;
  for (const Value& result : op.results) types.push_back(result.type);
  return Type::Tuple(std::move(types));
}

void Conversion::Fail(absl::Status status) {
  if (status_.ok()) status_ = std::move(status);
}

std::string ShownText(const Attribute& attribute) {
  constexpr int64_t kElementsMax = 64;
  const auto* const literal = std::get_if<Literal>(&attribute.value);
  if (literal == nullptr || literal->element_count() <= kElementsMax) return TextOf(attribute);
  return absl::StrCat("dense<...> : ", TypeText(literal->shape()));
}

void Conversion::FailPlaced(absl::Status status) {
  if (!status_.ok()) return;
  status_ = std::move(status);
  placed_ = true;
}

const Attribute* Conversion::Find(std::string_view name) const {
  const auto found = op.attributes.find(name);
  return found == op.attributes.end() ? nullptr : &found->second;
}

int64_t Conversion::Integer(std::string_view name, std::optional<int64_t> otherwise) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr && otherwise.has_value()) return *otherwise;
  if (attribute == nullptr) return Fail(InvalidArgument("It has no attribute %s.", name)), 0;
  if (const auto* number = std::get_if<int64_t>(&attribute->value)) return *number;
  const std::optional<stablehlo::Integers> several = IntegersIn(*attribute);
  if (several.has_value() && several->size() == 1) return several->front();
  Fail(InvalidArgument("Its attribute %s is %s; expected an integer.", name, ShownText(*attribute)));
  return 0;
}

double Conversion::Float(std::string_view name) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return Fail(InvalidArgument("It has no attribute %s.", name)), 0;
  if (const auto* number = std::get_if<double>(&attribute->value)) return *number;
  if (const auto* number = std::get_if<int64_t>(&attribute->value)) return static_cast<double>(*number);
  Fail(InvalidArgument("Its attribute %s is %s; expected a number.", name, ShownText(*attribute)));
  return 0;
}

bool Conversion::Bool(std::string_view name, bool otherwise) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return otherwise;
  if (std::holds_alternative<std::monostate>(attribute->value)) return true;
  if (const auto* value = std::get_if<bool>(&attribute->value)) return *value;
  if (const auto* value = std::get_if<int64_t>(&attribute->value)) return *value != 0;
  Fail(InvalidArgument("Its attribute %s is %s; expected true or false.", name, ShownText(*attribute)));
  return false;
}

std::string Conversion::Text(std::string_view name, bool required) {
  const Attribute* const attribute = Find(name);
  if (attribute != nullptr) return PlainText(*attribute);
  if (required) Fail(InvalidArgument("It has no attribute %s.", name));
  return "";
}

Dims Conversion::Integers(std::string_view name, bool required) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) {
    if (required) Fail(InvalidArgument("It has no attribute %s.", name));
    return {};
  }
  const auto* const literal = std::get_if<Literal>(&attribute->value);
  if (literal != nullptr && literal->element_count() > hlo::kGroupParticipantsMax) {
    Fail(InvalidArgument("Its attribute %s has (%d) integers; at most %d are read.", name,
                         literal->element_count(), hlo::kGroupParticipantsMax));
    return {};
  }
  const std::optional<stablehlo::Integers> values = IntegersIn(*attribute);
  if (values.has_value()) return Dims(values->begin(), values->end());
  Fail(InvalidArgument("Its attribute %s is %s; expected a list of integers.", name, ShownText(*attribute)));
  return {};
}

Pairs Conversion::PairsOf(std::string_view name) {
  Pairs pairs;
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return pairs;
  // JAX writes array<i64> for the pairs of a transfer to the host, which has none.
  if (const auto* const list = std::get_if<stablehlo::Integers>(&attribute->value);
      list != nullptr && list->empty())
    return pairs;
  const auto* const literal = std::get_if<Literal>(&attribute->value);
  if (literal == nullptr || literal->shape().rank() != 2 || literal->shape().dims[1] != 2) {
    Fail(InvalidArgument("Its attribute %s is %s; expected rows of two numbers.", name,
                         ShownText(*attribute)));
    return pairs;
  }
  const Dims values = Integers(name);
  for (size_t i = 0; i + 1 < values.size(); i += 2) pairs.emplace_back(values[i], values[i + 1]);
  return pairs;
}

hlo::PrimitiveType Conversion::ElementType(std::string_view name) {
  const Attribute* const attribute = Find(name);
  if (attribute == nullptr) return hlo::kInvalid;
  const auto* const type = std::get_if<Type>(&attribute->value);
  return type == nullptr ? hlo::kInvalid : type->type;
}

int64_t Conversion::Choice(std::string_view name, absl::Span<const std::string_view> words, int64_t first) {
  const Attribute* const attribute = Find(name);
  const auto* const integer = attribute == nullptr ? nullptr : std::get_if<int64_t>(&attribute->value);
  const std::string text = integer == nullptr ? Text(name) : absl::StrCat(*integer);
  for (size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text) return first + static_cast<int64_t>(i);
  }
  // The word may be written as its number.
  int64_t number = 0;
  const int64_t end = first + static_cast<int64_t>(words.size());
  if (absl::SimpleAtoi(ToAbsl(text), &number) && number >= first && number < end) return number;
  Fail(InvalidArgument(
      "Its attribute %s is %s; expected one of %s.", name, text,
      absl::StrJoin(words, ", ", [](std::string* out, std::string_view word) { out->append(word); })));
  return first;
}

ComputationId Conversion::Reducer(size_t region) {
  Scope::RegionForm form;
  if (op.regions[region].blocks.size() == 1) {
    for (const Value& argument : op.regions[region].blocks[0].arguments) form.shapes.push_back(argument.type);
  }
  return Take(scope.AddRegion(op, op.regions[region], form));
}

Values Conversion::Results(Op instruction) {
  if (op.results.size() == 1) return {instruction};
  Values values;
  for (size_t i = 0; i < op.results.size(); ++i) {
    values.push_back(b.GetTupleElement(instruction, static_cast<int64_t>(i)));
  }
  return values;
}

absl::Span<const Op> Conversion::Slice(size_t first, size_t count) const {
  return absl::Span<const Op>(operands).subspan(first, count);
}

const Rule* FindRule(std::string_view name) {
  static const auto* const rules = [] {
    auto* all = new absl::flat_hash_map<std::string_view, const Rule*>;
    for (const absl::Span<const Rule> kind :
         {ElementwiseRules(), MovementRules(), DynamicRules(), ContractionRules(), ReductionRules(),
          ControlRules(), CollectiveRules(), TransferRules(), CustomCallRules(), ShardingRules(), ChloRules(),
          BroadcastingRules(), EinsumRules()}) {
      for (const Rule& rule : kind) all->emplace(rule.name, &rule);
    }
    return all;
  }();
  const auto found = rules->find(name);
  return found == rules->end() ? nullptr : found->second;
}

Values Instruction(Conversion& c, hlo::Opcode opcode, absl::Span<const Op> operands,
                   hlo::Attributes attributes, absl::Span<const ComputationId> called) {
  if (!c.status().ok()) return {};
  const Type stated = c.StatedTogether();
  return c.Results(c.b.Add(opcode, operands, std::move(attributes), called, &stated));
}

Values Plain(Conversion& c) { return Instruction(c, c.rule.opcode, c.operands); }

std::optional<Values> ConvertAs(Conversion& c, std::string_view name, const AttributeMap* attributes) {
  const Rule* const rule = FindRule(name);
  const auto differs = [](size_t given, int taken) {
    return taken >= 0 && given != static_cast<size_t>(taken);
  };
  if (rule == nullptr || rule->regions != 0 || differs(c.operands.size(), rule->operands) ||
      differs(c.op.results.size(), rule->results)) {
    return std::nullopt;
  }
  Operation operation;
  operation.name = std::string(name);
  operation.operands = c.op.operands;
  operation.results = c.op.results;
  operation.location = c.op.location;
  if (attributes != nullptr) operation.attributes = *attributes;
  Conversion conversion(c.scope, operation, *rule, c.operands);
  Values values = rule->convert(conversion);
  if (!conversion.status().ok()) c.Fail(conversion.status());
  return values;
}

bool IsUnknown(const Type& type) {
  return std::ranges::any_of(type.dims, [](int64_t size) { return size == hlo::kUnboundedSize; }) ||
         std::ranges::any_of(type.tuple, IsUnknown);
}

bool Refines(const Shape& shape, const Type& stated) {
  if (shape.type != stated.type || shape.dims.size() != stated.dims.size() ||
      shape.tuple.size() != stated.tuple.size()) {
    return false;
  }
  for (size_t d = 0; d < shape.dims.size(); ++d) {
    if (stated.dims[d] == hlo::kUnboundedSize) continue;
    const auto dimension = static_cast<int64_t>(d);
    if (shape.dims[d] != stated.dims[d] || shape.IsDynamic(dimension) != stated.IsDynamic(dimension))
      return false;
  }
  return std::ranges::equal(shape.tuple, stated.tuple, Refines);
}

absl::Status At(const Operation& operation, const absl::Status& status) {
  const Location& location = operation.location;
  std::string place;
  if (location.read_line > 0) place = absl::StrCat(location.read_line, ":", location.read_column, ": ");
  absl::StrAppend(&place, operation.name);
  if (location.read_line == 0 && !location.name.empty()) absl::StrAppend(&place, " of ", location.name);
  if (!location.file.empty()) absl::StrAppend(&place, " (", location.file, ":", location.line, ")");
  const bool is_limit = status.code() == absl::StatusCode::kResourceExhausted;
  ErrorDetails error = ErrorOf(is_limit ? WithKind(status, ErrorKind::kLimit) : AsProgramError(status));
  error.text = absl::StrCat(place, ": ", error.text);
  return ToStatus(std::move(error));
}

}  // namespace hlod::stablehlo
