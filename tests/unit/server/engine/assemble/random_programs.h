// Random programs of what fused steps consist of, and how their results compare: for the tests and the fuzz
// target of machine code.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/hlo/builder.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod::engine {

// Returns numbers of all magnitudes with NaN, infinities, zeros of both signs and subnormals among them, or
// any bits.
hlo::Literal SpecialValues(const hlo::Shape& shape, std::mt19937& random);

// Returns true when the elements have the same bits. Any NaN equals any other, because the processor chooses
// a payload by the order of the operands.
bool SameBits(const hlo::Literal& a, const hlo::Literal& b);

// Returns a sentence about the first element that differs in more than its bits.
std::string FirstDifference(const hlo::Literal& actual, const hlo::Literal& expected);

// Grows programs of random operations.
class RandomPrograms {
 public:
  explicit RandomPrograms(uint32_t seed) : random_(seed) {}

  // Returns a module with `size` operations on arrays of these dimensions, and `reductions` of some
  // dimensions, whose results are read again.
  std::unique_ptr<hlo::Module> Make(const std::vector<int64_t>& dims, int size, int reductions = 0);
  // Returns a module with a loop of `iterations`, whose state has arrays of these dimensions and a counter.
  // Each iteration computes `size` operations. With `nested`, it contains a loop of three iterations and a
  // branch.
  std::unique_ptr<hlo::Module> MakeLoop(const std::vector<int64_t>& dims, int size, int iterations,
                                        bool nested);

 private:
  using Op = hlo::Op;
  using Type = hlo::PrimitiveType;

  int Roll(size_t n) { return static_cast<int>(random_() % n); }
  template <typename List>
  auto Any(const List& list) {
    return list[random_() % std::size(list)];
  }
  Op Value(Type type) { return Any(values_[type]); }
  void Keep(Type type, Op op) { values_[type].push_back(op); }

  void ChooseTypes();
  // Makes parameters of each type: whole arrays, and ones that are broadcast, sliced or reversed; and an
  // iota.
  void Open(hlo::Builder& b);
  Op View(hlo::Builder& b, Type type, int number);
  // Appends one operation.
  void Grow(hlo::Builder& b);
  void GrowFloat(hlo::Builder& b, Type type);
  void GrowInteger(hlo::Builder& b, Type type);
  // Reduces a value, and keeps the result as a broadcast one.
  void Reduce(hlo::Builder& b, std::vector<Op>& results);

  // Takes the state's values from a tuple, and makes one of the last values.
  void OpenState(hlo::Builder& b, Op state);
  std::vector<Op> Last(Op counter);
  hlo::ComputationId Condition(hlo::Module& module, const hlo::Shape& state, int iterations);
  hlo::ComputationId Body(hlo::Module& module, const hlo::Shape& state, int size, bool nested);
  Op NestedLoop(hlo::Builder& b, hlo::ComputationId condition, hlo::ComputationId body);

  std::mt19937 random_;
  std::vector<int64_t> dims_;
  std::vector<Type> types_;
  std::map<Type, std::vector<Op>> values_;
  std::map<Type, std::vector<hlo::ComputationId>> reducers_;
};

}  // namespace hlod::engine
