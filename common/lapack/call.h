// A custom call that is a LAPACK routine, checked and ready to run. JAX emits such calls for linear algebra
// on the CPU (lapack_sgetrf_ffi and so on), with these operands, results and attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/hlo/module.h"
#include "common/lapack/signature.h"

namespace hlod::lapack {

class Frame;
struct Routine;

// Returns true when a target is one of these routines.
bool IsTarget(std::string_view target);
std::vector<std::string> Targets();

// The memory layout of an array argument.
struct Layout {
  int64_t bytes;          // The bytes of one problem.
  int64_t rows, columns;  // The matrix's size; 1 x n, not transposed, for other arrays.
  int width;              // Bytes of an element.
};

class Call {
 public:
  // Checks and prepares a call. INVALID_ARGUMENT for operands, results or attributes that do not fit the
  // routine, FAILED_PRECONDITION without LAPACK, RESOURCE_EXHAUSTED for a matrix too large for its 32-bit
  // sizes.
  static absl::StatusOr<Call> Make(hlo::Instruction instruction);
  static absl::StatusOr<Call> Make(std::string_view target, const std::vector<const hlo::Shape*>& operands,
                                   const std::vector<const hlo::Shape*>& results, std::string_view config);

  int64_t batch() const { return batch_; }  // The number of problems.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  double work() const { return work_; }  // The approximate number of operations of one problem.

  // A place for one problem at a time in scratch memory, between operands and results.
  class Problem {
   public:
    ~Problem();
    void Load(const std::byte* const* operands, int64_t problem);
    void Solve();  // Accesses only the scratch memory.
    void Store(std::byte* const* results) const;

   private:
    friend class Call;
    Problem() = default;
    const Call* call_ = nullptr;
    int64_t index_ = 0;
    std::vector<std::byte*> operands_, results_;
    std::unique_ptr<Frame> frame_;
  };
  // Returns a place in `scratch`, which has scratch_bytes() bytes, aligned to 64. It and the call must
  // outlive the place.
  std::unique_ptr<Problem> Place(std::byte* scratch) const;

  // Solves one problem of the batch. Arrays are row-major. Thread-safe, with a place per thread. Results that
  // the routine leaves undefined are zero. If the matrix is not finite, eigenvalues and singular values are
  // NaN, and info is -4.
  void Run(const std::byte* const* operands, std::byte* const* results, int64_t problem,
           Problem& place) const;

  // Fills in the results of a problem for which the routine is not called. Returns false for other problems,
  // which Run loads, solves and stores.
  bool Answer(const std::byte* const* operands, std::byte* const* results, int64_t problem) const;

 private:
  Call() = default;
  // Computes scratch_bytes_ and work_ from the layouts, and asks the routine for its workspace.
  void Measure();
  std::byte* ResultAt(std::byte* const* results, size_t i, int64_t problem) const {
    return results[i] + problem * results_[i].bytes;
  }

  const Routine* routine_ = nullptr;
  int type_ = 0;  // The index of the type in Routine::solve.
  Sizes sizes_;
  std::map<std::string, int64_t, std::less<>> config_;
  std::vector<Layout> operands_, results_;
  int64_t batch_ = 1, scratch_bytes_ = 0;
  double work_ = 0;
  bool empty_ = false;  // True when an operand has no elements; then every result is zero.
};

}  // namespace hlod::lapack
