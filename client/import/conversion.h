// One operation on its way into a computation: what the conversions of the single operations read and write.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/import/operation.h"
#include "common/base/status.h"
#include "common/hlo/builder.h"

namespace hlod::stablehlo {

using hlo::Builder;
using hlo::ComputationId;
using hlo::Dims;
using hlo::Op;
using hlo::Shape;

class Converter;
class Scope;
struct Rule;

// What an operation gives: a value a result.
using Values = absl::InlinedVector<Op, 2>;
// Two numbers a dimension: padding; or a pair of devices.
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// An operation, its operands as values of the computation under way, its attributes as numbers and words.
// What is missing or of another kind than asked for is an error that sticks, as the builder's does; what is
// returned then is harmless, so that a conversion checks where it counts or indexes only.
class Conversion {
 public:
  // REQUIRES: as many operands, results and regions as the rule takes; all outlive the conversion.
  Conversion(Scope& scope, const Operation& operation, const Rule& rule, std::vector<Op> operands);

  Scope& scope;
  const Operation& op;
  const Rule& rule;
  Builder& b;
  const std::vector<Op> operands;

  Op operand(size_t i) const { return operands[i]; }
  const Shape& shape(size_t i) const { return b.shape(operands[i]); }
  // The type that the program states for result `i`.
  const Type& stated(size_t i = 0) const { return op.results[i].type; }
  // The types of all results: itself when there is one, else a tuple.
  Type StatedTogether() const;

  // The first error so far, or OK.
  const absl::Status& status() const { return status_; }
  // Whether the error names an operation already: one inside a region.
  bool placed() const { return placed_; }
  void Fail(absl::Status status);
  void FailPlaced(absl::Status status);
  // The value, or the error's and a default.
  template <typename T>
  T Take(absl::StatusOr<T> value) {
    if (value.ok()) return *std::move(value);
    FailPlaced(std::move(value).status());
    return T();
  }

  // Attributes. Without a default they must be there.
  const Attribute* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  int64_t Integer(std::string_view name, std::optional<int64_t> otherwise = std::nullopt);
  double Float(std::string_view name);
  bool Bool(std::string_view name, bool otherwise = false);
  // Words, strings and symbols alike; "" when it is missing and may be.
  std::string Text(std::string_view name, bool required = true);
  Dims Integers(std::string_view name, bool required = true);
  Pairs PairsOf(std::string_view name);
  // The type attribute, kInvalid when it is missing.
  hlo::PrimitiveType ElementType(std::string_view name);
  // The number of the word among `words`, which start at `first`.
  int64_t Choice(std::string_view name, absl::Span<const std::string_view> words, int64_t first);

  // Region `i` as a computation of its block's arguments, in which constants from outside are cloned.
  ComputationId Reducer(size_t region = 0);

  // One value of an instruction for each result: the instruction itself when there is one result, else its
  // tuple's elements.
  Values Results(Op instruction);
  // The operands from `first` on, `count` of them.
  absl::Span<const Op> Slice(size_t first, size_t count) const;

 private:
  absl::Status status_;
  bool placed_ = false;
};

// How an operation is converted. What it takes is checked before the function is called; -1: any number.
struct Rule {
  std::string_view name;  // "stablehlo.add"
  Values (*convert)(Conversion&);
  int operands = -1, results = 1, regions = 0;
  hlo::Opcode opcode{};  // Of one that is an HLO instruction as it stands.
};

// An attribute in an error's text: of a long array its type.
std::string ShownText(const Attribute& attribute);

// The rules of all operations, a file a kind. Null: none of that name.
const Rule* FindRule(std::string_view name);
absl::Span<const Rule> ElementwiseRules();
absl::Span<const Rule> MovementRules();
absl::Span<const Rule> DynamicRules();
absl::Span<const Rule> ContractionRules();
absl::Span<const Rule> ReductionRules();
absl::Span<const Rule> ControlRules();
absl::Span<const Rule> CollectiveRules();
absl::Span<const Rule> TransferRules();
absl::Span<const Rule> CustomCallRules();
absl::Span<const Rule> ShardingRules();
absl::Span<const Rule> ChloRules();
absl::Span<const Rule> BroadcastingRules();
absl::Span<const Rule> EinsumRules();

// The instruction of the rule's opcode over the operands, of the stated type where that decides.
Values Plain(Conversion& c);
// The opcode over `operands`, and the results that Conversion::Results makes of it.
Values Instruction(Conversion& c, hlo::Opcode opcode, absl::Span<const Op> operands,
                   hlo::Attributes attributes = hlo::NoAttributes{},
                   absl::Span<const ComputationId> called = {});

// The operands and results of `c` as the operation `name` with these attributes (null: none) has them;
// nothing when there is no such operation, or it does not take as many of each.
std::optional<Values> ConvertAs(Conversion& c, std::string_view name, const AttributeMap* attributes);

// Whether a shape is the stated type, or what a type with unknown dimensions can become.
bool Refines(const Shape& shape, const Type& stated);
// Whether any dimension of a type is unknown ("?").
bool IsUnknown(const Type& type);

// Operand dimension i becomes output dimension dimensions[i]; dimensions of size 1 are expanded, as HLO's
// broadcast does not.
Op BroadcastInDim(Conversion& c, Op operand, absl::Span<const int64_t> output, const Dims& dimensions);
hlo::Window MakeWindow(Conversion& c, const Dims& sizes, const Dims& strides, const Pairs& padding,
                       const Dims& base_dilations, const Dims& window_dilations, const Dims& reversal);
// Padding and everything else but the window of convolution, and its result.
Values Convolve(Conversion& c, const Pairs& padding);
Values Gathered(Conversion& c, Dims slice_sizes);
// The operands, with elements of the types that region `region` joins: a sum of f16 may be kept in f32, and
// HLO has one type for both. The first `inputs` are its first arguments, and so, after `others` that are none
// of them, are the rest.
std::vector<Op> Widened(Conversion& c, size_t region, size_t inputs, size_t others = 0);
// precision_config: a word an operand.
void TakePrecision(Conversion& c, hlo::Precision& precision);

// An error about `operation`: where it stands, its name, and `status`.
absl::Status At(const Operation& operation, const absl::Status& status);

}  // namespace hlod::stablehlo
