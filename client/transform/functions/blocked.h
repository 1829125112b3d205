// One array of a kernel, cut into blocks: which block a step of the grid takes, how it is read and written.
#pragma once

#include <string>
#include <vector>

#include "client/tensor/dispatch/apply.h"
#include "hlod/transform/kernel.h"

namespace hlod::lazy {

inline constexpr Operation kKernel = {"Kernel", "kernel", Promotion::kNone, "a loop over blocks"};

// A kernel whose body is being traced.
struct Running {
  const Dims& grid;
  Tensor step;                // s32: how many steps came before.
  std::vector<Tensor> ids{};  // s32, one for each dimension of the grid.
};
int64_t StepsOf(const Dims& grid);

// The number of a block along one dimension: a sum of multiples of the step's place in the grid; where it is
// not, a table of all steps.
struct Coordinate {
  int64_t at_zero = 0;
  Dims factors;
  std::vector<int64_t> table;

  int64_t Linear(const Dims& at) const {
    int64_t sum = at_zero;
    for (size_t d = 0; d < at.size(); ++d) sum += factors[d] * at[d];
    return sum;
  }
};

// One array of a kernel and how it is cut into blocks.
class Blocked {
 public:
  // `what` names the array in errors: "input 0". Throws when the block does not fit the array.
  Blocked(const std::string& kernel, std::string what, Shape array, const BlockSpec& spec, const Dims& grid,
          const Caller& caller);

  Shape block() const { return Shape::Array(array_.type, block_); }
  const Dims& padded() const { return padded_; }
  const std::string& what() const { return what_; }

  // Zeros behind the array up to the end of its last blocks; and what is not behind.
  Tensor Pad(const Tensor& x) const;
  Tensor Trim(const Tensor& x) const;

  // In the body: the step's block of the array.
  Tensor Read(const Running& running, const Tensor& padded);
  // The array with the step's block replaced. REQUIRES: Read() was called.
  Tensor Write(const Running& running, const Tensor& padded, const Tensor& block);

 private:
  // What a step takes is all there is.
  bool IsWhole() const { return sizes_ == padded_; }
  Tensor Squeezed(const Tensor& x) const;
  [[noreturn]] void Fail(const std::string& why) const;
  [[noreturn]] void FailArity(size_t dims) const;
  void CheckRank(size_t size) const;
  // Calls the map for each step: checks the blocks, and finds what gives their numbers.
  void FindCoordinates(const Dims& grid);
  // The block of a step: checked.
  Dims At(const Dims& at) const;
  // What the block's place is computed from: the step and its place in the grid; or what the map has
  // computed.
  void AddIndex(const Running& running, std::vector<Operand>& operands);
  std::vector<Op> Starts(Lowering& l, Operands o) const;
  // The number of the block along dimension `k`, from what a map of tensors gave.
  Op ComputedNumber(Lowering& l, size_t k, Operands& o) const;

  const std::string& kernel_;
  const std::string what_;
  const Shape array_;
  const BlockSpec& spec_;
  const Caller caller_;
  Dims sizes_;   // Of a block in the array ...
  Dims block_;   // ... and as the body sees it.
  Dims counts_;  // Of blocks.
  Dims padded_;
  std::vector<Coordinate> coordinates_;  // Of a map of numbers.
  BlockIndex index_;                     // Of a map of tensors, once it is computed.
  bool computed_ = false;
};

}  // namespace hlod::lazy
