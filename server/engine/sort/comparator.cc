// Reading a comparator's computation: which keys, in which order.
#include <cmath>
#include <utility>

#include "server/engine/sort/sort.h"

namespace hlod::engine {
namespace {

using Direction = hlo::ComparisonDirection;

// A value in a comparator that is one side's parameter, perhaps with its zeros and NaNs made equal.
struct Side {
  int operand = 0;
  bool right = false;
  bool zeros_equal = false, nans_equal = false;
};

std::optional<Side> ReadParameter(hlo::Instruction node) {
  if (node.opcode() != hlo::kParameter) return std::nullopt;
  return Side{static_cast<int>(node.parameter_number() / 2), node.parameter_number() % 2 == 1};
}

bool IsConstant(hlo::Instruction node, bool (*test)(double)) {
  return node.opcode() == hlo::kConstant && node.shape().IsScalar() &&
         test(hlo::ElementAsDouble(node.literal(), 0));
}

bool IsCompare(hlo::Instruction node, Direction direction) {
  return node.opcode() == hlo::kCompare && node.attributes<hlo::CompareAttributes>().direction == direction &&
         node.attributes<hlo::CompareAttributes>().type == hlo::ComparisonType::kFloat;
}

// A parameter, or one of the two selects around it and, at most, the other one inside.
std::optional<Side> ReadSide(hlo::Instruction node, int selects = 2) {
  if (node.opcode() != hlo::kSelect || !hlo::IsFloat(node.shape().type)) return ReadParameter(node);
  const hlo::Instruction test = node.operand(0), replacement = node.operand(1);
  if (selects == 0 || test.opcode() != hlo::kCompare) return std::nullopt;
  std::optional<Side> side = ReadSide(node.operand(2), selects - 1);
  if (!side) return std::nullopt;
  const std::optional<Side> tested = ReadParameter(test.operand(0));
  if (!tested || tested->operand != side->operand || tested->right != side->right) return std::nullopt;
  if (IsCompare(test, Direction::kEq) && IsConstant(test.operand(1), [](double x) { return x == 0; }) &&
      IsConstant(replacement, [](double x) { return x == 0; })) {
    side->zeros_equal = true;
    return side;
  }
  if (IsCompare(test, Direction::kNe) && test.operands()[0] == test.operands()[1] &&
      IsConstant(replacement, [](double x) { return std::isnan(x) && !std::signbit(x); })) {
    side->nans_equal = true;
    return side;
  }
  return std::nullopt;
}

// A comparison of the two sides of one operand; `direction` as if the left side came first.
struct KeyCompare {
  SortKey key;
  Direction direction;
};

std::optional<KeyCompare> ReadCompare(hlo::Instruction node) {
  if (node.opcode() != hlo::kCompare) return std::nullopt;
  const std::optional<Side> a = ReadSide(node.operand(0)), b = ReadSide(node.operand(1));
  if (!a || !b || a->operand != b->operand || a->right == b->right || a->zeros_equal != b->zeros_equal ||
      a->nans_equal != b->nans_equal) {
    return std::nullopt;
  }
  const auto& compare = node.attributes<hlo::CompareAttributes>();
  KeyCompare result{{a->operand, node.operand(0).shape().type, false, a->zeros_equal, a->nans_equal},
                    compare.direction};
  if (hlo::IsFloat(result.key.type)) {
    // As numbers, zeros are equal; where NaNs go is not said, so they go last.
    if (compare.type == hlo::ComparisonType::kFloat) result.key.zeros_equal = result.key.nans_equal = true;
  } else if (compare.type != hlo::DefaultComparisonType(result.key.type) &&
             compare.type != hlo::ComparisonType::kTotalOrder) {
    return std::nullopt;
  }
  if (a->right) {
    switch (result.direction) {
      case Direction::kLt: result.direction = Direction::kGt; break;
      case Direction::kGt: result.direction = Direction::kLt; break;
      case Direction::kLe: result.direction = Direction::kGe; break;
      case Direction::kGe: result.direction = Direction::kLe; break;
      default: break;
    }
  }
  return result;
}

std::optional<SortKey> ReadLess(hlo::Instruction node) {
  std::optional<KeyCompare> compare = ReadCompare(node);
  if (!compare || (compare->direction != Direction::kLt && compare->direction != Direction::kGt))
    return std::nullopt;
  compare->key.descending = compare->direction == Direction::kGt;
  return compare->key;
}

// eq(key) & rest, either way round: the rest.
std::optional<hlo::NodeId> ReadTie(hlo::Instruction node, const SortKey& key) {
  if (node.opcode() != hlo::kAnd) return std::nullopt;
  for (int i = 0; i < 2; ++i) {
    std::optional<KeyCompare> equal = ReadCompare(node.operand(i));
    if (!equal || equal->direction != Direction::kEq) continue;
    equal->key.descending = key.descending;
    if (equal->key == key) return node.operands()[1 - i];
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::vector<SortKey>> RecogniseComparator(const hlo::Computation& computation) {
  std::vector<SortKey> keys;
  hlo::NodeId at = computation.root_id();
  while (true) {
    const hlo::Instruction node = computation[at];
    if (const std::optional<SortKey> key = ReadLess(node)) {
      keys.push_back(*key);
      return keys;
    }
    if (node.opcode() != hlo::kOr) return std::nullopt;
    bool found = false;
    for (int i = 0; i < 2 && !found; ++i) {
      const std::optional<SortKey> key = ReadLess(node.operand(i));
      if (!key) continue;
      const std::optional<hlo::NodeId> rest = ReadTie(node.operand(1 - i), *key);
      if (!rest) continue;
      keys.push_back(*key);
      at = *rest;
      found = true;
    }
    if (!found) return std::nullopt;
  }
}

}  // namespace hlod::engine
