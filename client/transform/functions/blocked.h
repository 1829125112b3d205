// An array of a kernel, divided into blocks: which block a step of the grid uses, and how the block is read
// and written.
#pragma once

#include <string>
#include <vector>

#include "client/tensor/dispatch/apply.h"
#include "hlod/transform/kernel.h"

namespace hlod::lazy {

inline constexpr Operation kKernel = {"Kernel", "kernel", Promotion::kNone, "a loop over blocks"};

// The kernel whose body is being traced.
struct Running {
  const Dims& grid;
  Tensor step;                // s32: the number of the step, counted from 0.
  std::vector<Tensor> ids{};  // s32: the step's position along each dimension of the grid.
};
// Returns the number of steps of a grid.
int64_t StepsOf(const Dims& grid);

// The position of a step's block along one dimension of the array: a linear function of the step's position
// in the grid, or a table by step if it is not linear.
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

// An array of a kernel, and its division into blocks.
class Blocked {
 public:
  // `what` names the array in errors: "input 0". Throws when the block does not fit the array.
  Blocked(const std::string& kernel, std::string what, Shape array, const BlockSpec& spec, const Dims& grid,
          const Caller& caller);

  Shape block() const { return Shape::Array(array_.type, block_); }
  const Dims& padded() const { return padded_; }
  const std::string& what() const { return what_; }

  // Pad() appends zeros up to the end of the array's last blocks; Trim() removes them.
  Tensor Pad(const Tensor& x) const;
  Tensor Trim(const Tensor& x) const;

  // Returns the step's block of the padded array, in the body.
  Tensor Read(const Running& running, const Tensor& padded);
  // Returns the padded array with the step's block replaced. REQUIRES: Read() was called.
  Tensor Write(const Running& running, const Tensor& padded, const Tensor& block);

 private:
  // Returns true when the only block is the whole padded array.
  bool IsWhole() const { return sizes_ == padded_; }
  Tensor Squeezed(const Tensor& x) const;
  [[noreturn]] void Fail(const std::string& why) const;
  [[noreturn]] void FailArity(size_t dims) const;
  void CheckRank(size_t size) const;
  // Calls the index map for every step, checks the blocks, and sets coordinates_.
  void FindCoordinates(const Dims& grid);
  // Returns the block's position for a position in the grid. Throws when that block does not exist.
  Dims At(const Dims& at) const;
  // Appends the operands from which Starts() computes the block's start: the step and its position in the
  // grid, or the tensors that an index map of tensors has returned.
  void AddIndex(const Running& running, std::vector<Operand>& operands);
  std::vector<Op> Starts(Lowering& l, Operands o) const;
  // Returns the block's position along dimension `k` as computed by a map of tensors; takes it from `o`.
  Op ComputedNumber(Lowering& l, size_t k, Operands& o) const;

  const std::string& kernel_;
  const std::string what_;
  const Shape array_;
  const BlockSpec& spec_;
  const Caller caller_;
  Dims sizes_;   // The sizes of a block, one per dimension of the array.
  Dims block_;   // The dimensions of a block in the body: sizes_ without squeezed dimensions.
  Dims counts_;  // The number of blocks, per dimension.
  Dims padded_;  // The dimensions of the padded array.
  std::vector<Coordinate> coordinates_;  // One coordinate per dimension; set for an index map of numbers.
  BlockIndex index_;                     // The result of an index map of tensors; valid if computed_.
  bool computed_ = false;
};

}  // namespace hlod::lazy
