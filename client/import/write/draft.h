// An operation of StableHLO before it is text, and the attributes that operations have.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "client/import/program/operation.h"
#include "common/hlo/module.h"

namespace hlod::stablehlo::write {

// A value of the text: an array or a token. A tuple is represented by the flattened list of its leaves.
struct Leaf {
  std::string name;                  // "%3", "%4#1".
  const hlo::Shape* type = nullptr;  // Points into the module's Tables.
};
using Leaves = std::vector<Leaf>;

// A computation within an operation.
struct Inner {
  hlo::ComputationId computation = 0;
  // The values of its parameters; nullopt: they are arguments of the region.
  std::optional<Leaves> given;
};

struct OutputOperation {
  std::string name;  // "stablehlo.add".
  Leaves operands;
  AttributeMap attributes;
  std::vector<Inner> regions;
};

// The form of an instruction that becomes one operation over the leaves of its operands, with its called
// computations as regions. `attributes` may be null.
struct Row {
  hlo::Opcode opcode;
  std::string_view name;
  void (*attributes)(hlo::Instruction, AttributeMap&) = nullptr;
};
// Returns null for an opcode that has no row: it needs several operations, or StableHLO has none.
const Row* FindRow(hlo::Opcode opcode);
absl::Span<const Row> ElementwiseRows();
absl::Span<const Row> MovementRows();
absl::Span<const Row> ContractionRows();
absl::Span<const Row> ReductionRows();
absl::Span<const Row> DeviceRows();

// Adds the groups and the channel of a collective.
void AddGroups(hlo::Instruction collective, AttributeMap& attributes);

// Texts of attributes: "3 : i64", "array<i64: 1, 2>", "true", "#stablehlo<name WORD>", "dense<[[0, 1]]> :
// tensor<1x2xi64>".
Attribute Number(int64_t value, hlo::PrimitiveType type = hlo::kS64);
Attribute Numbers(absl::Span<const int64_t> values);
Attribute Bool(bool value);
Attribute Enum(std::string_view kind, std::string_view word);
// A two-dimensional dense attribute; rows shorter than the longest end in -1.
Attribute Rows(const std::vector<hlo::Dims>& rows);
// Builds "#stablehlo.dot<a = [1], b = 2>" from the fields that are not empty.
class Structure {
 public:
  explicit Structure(std::string_view name) : name_(name) {}
  Structure& Field(std::string_view name, absl::Span<const int64_t> values);
  Structure& Field(std::string_view name, std::string_view text);
  Attribute Done() const;

 private:
  std::string name_, fields_;
};

}  // namespace hlod::stablehlo::write
