// The conversion of one operation into a computation: the interface between the rules of single operations
// and the rest.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "client/import/program/operation.h"
#include "common/base/errors/status.h"
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

// The values of an operation's results, one per result.
using Values = absl::InlinedVector<Op, 2>;
// Two numbers per dimension: padding; or pairs of devices.
using Pairs = std::vector<std::pair<int64_t, int64_t>>;

// An operation, its operands as values of the computation being built, and its attributes as numbers and
// words. A missing attribute, or one of another kind, sets a sticky error, as in the builder, and returns a
// harmless default: a conversion only needs to check before it counts or indexes.
class Conversion {
 public:
  // REQUIRES: the operands, results and regions have the numbers of the rule; all outlive the conversion.
  Conversion(Scope& scope, const Operation& operation, const Rule& rule, std::vector<Op> operands);

  Scope& scope;
  const Operation& op;
  const Rule& rule;
  Builder& b;
  const std::vector<Op> operands;

  Op operand(size_t i) const { return operands[i]; }
  const Shape& shape(size_t i) const { return b.shape(operands[i]); }
  // Returns the type that the program states for result `i`.
  const Type& stated(size_t i = 0) const { return op.results[i].type; }
  // Returns the type of the only result, or the tuple of the types of all results.
  Type StatedTogether() const;

  // Returns the first error so far, or OK.
  const absl::Status& status() const { return status_; }
  // Returns true when the error already names an operation, one inside a region.
  bool placed() const { return placed_; }
  void Fail(absl::Status status);
  void FailPlaced(absl::Status status);
  // Returns the value; on an error records it and returns a default.
  template <typename T>
  T Take(absl::StatusOr<T> value) {
    if (value.ok()) return *std::move(value);
    FailPlaced(std::move(value).status());
    return T();
  }

  // Return an attribute by its name. An attribute whose function has no default is required.
  const Attribute* Find(std::string_view name) const;
  bool Has(std::string_view name) const { return Find(name) != nullptr; }
  int64_t Integer(std::string_view name, std::optional<int64_t> otherwise = std::nullopt);
  double Float(std::string_view name);
  bool Bool(std::string_view name, bool otherwise = false);
  // Returns the text of a word, a string or a symbol; "" when it is missing and not required.
  std::string Text(std::string_view name, bool required = true);
  Dims Integers(std::string_view name, bool required = true);
  Pairs PairsOf(std::string_view name);
  // Returns the type attribute; kInvalid when it is missing.
  hlo::PrimitiveType ElementType(std::string_view name);
  // Returns the index of the attribute's word in `words`, plus `first`.
  int64_t Choice(std::string_view name, absl::Span<const std::string_view> words, int64_t first);

  // Builds region `i` as a computation of its block's arguments. Constants from outside are cloned into it.
  ComputationId Reducer(size_t region = 0);

  // Returns one value per result: the instruction itself for a single result, else the elements of its tuple.
  Values Results(Op instruction);
  // Returns `count` operands, from `first` on.
  absl::Span<const Op> Slice(size_t first, size_t count) const;

 private:
  absl::Status status_;
  bool placed_ = false;
};

// The conversion of one operation. The numbers are checked before the function is called; -1: any number.
struct Rule {
  std::string_view name;  // "stablehlo.add"
  Values (*convert)(Conversion&);
  int operands = -1, results = 1, regions = 0;
  hlo::Opcode opcode{};  // For operations that are one HLO instruction.
};

// Returns an attribute for an error's text: the type alone for a long array.
std::string ShownText(const Attribute& attribute);

// Returns the rule for the operation `name`, or null. The rules of each kind are in a file of their own.
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

// Adds the instruction of the rule's opcode over the operands. Its type is the stated one where the operands
// do not determine it.
Values Plain(Conversion& c);
// Adds the opcode over `operands`. Returns Conversion::Results of it.
Values Instruction(Conversion& c, hlo::Opcode opcode, absl::Span<const Op> operands,
                   hlo::Attributes attributes = hlo::NoAttributes{},
                   absl::Span<const ComputationId> called = {});

// Converts the operands and results of `c` as if they were those of the operation `name` with these
// attributes (null: none). Returns nullopt when that operation does not exist or takes other numbers of
// operands or results.
std::optional<Values> ConvertAs(Conversion& c, std::string_view name, const AttributeMap* attributes);

// Returns true when the shape is the stated type, or one that a type with unknown dimensions can become.
bool Refines(const Shape& shape, const Type& stated);
// Returns true when a dimension of the type is unknown ("?").
bool IsUnknown(const Type& type);

// Maps operand dimension i to output dimension dimensions[i]. Unlike HLO's broadcast, it expands dimensions
// of size 1.
Op BroadcastInDim(Conversion& c, Op operand, absl::Span<const int64_t> output, const Dims& dimensions);
hlo::Window MakeWindow(Conversion& c, const Dims& sizes, const Dims& strides, const Pairs& padding,
                       const Dims& base_dilations, const Dims& window_dilations, const Dims& reversal);
// Adds the padding, the attributes other than the window, and the result of a convolution.
Values Convolve(Conversion& c, const Pairs& padding);
Values Gathered(Conversion& c, Dims slice_sizes);
// Adds the random bit generator of the first operand's state, by the algorithm that rng_algorithm names.
// `stated` is the tuple of the types of the new state and of the bits.
Values RandomBits(Conversion& c, const Type& stated);
// Returns the operands, converted to the element types of the arguments of region `region`: StableHLO may sum
// f16 in f32, HLO has one type for both. The first `inputs` operands belong to the region's first arguments,
// the `others` after them to none, the rest to the next arguments.
std::vector<Op> Widened(Conversion& c, size_t region, size_t inputs, size_t others = 0);
// Reads precision_config, one word per operand.
void TakePrecision(Conversion& c, hlo::Precision& precision);

// Returns `status` with the operation's name and location in front.
absl::Status At(const Operation& operation, const absl::Status& status);

}  // namespace hlod::stablehlo
