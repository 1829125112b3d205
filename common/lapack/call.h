// A custom call that is a LAPACK routine, checked and ready to run. JAX emits these for linear algebra on the
// CPU (lapack_sgetrf_ffi and so on), with operands, results and attributes.
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
  int64_t bytes;          // Bytes of one problem.
  int64_t rows, columns;  // 1 x n, not transposed, when it is not a matrix.
  int width;              // Bytes of an element.
};

class Call {
 public:
  // Checks and prepares a call. INVALID_ARGUMENT for operands, results or attributes that the routine does
  // not have, FAILED_PRECONDITION without LAPACK, RESOURCE_EXHAUSTED for a matrix too large for its 32-bit
  // sizes.
  static absl::StatusOr<Call> Make(hlo::Instruction instruction);
  static absl::StatusOr<Call> Make(std::string_view target, const std::vector<const hlo::Shape*>& operands,
                                   const std::vector<const hlo::Shape*>& results, std::string_view config);

  int64_t batch() const { return batch_; }  // The number of problems.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  double work() const { return work_; }  // The approximate number of operations of one problem.

  // Solves one problem of the batch. Arrays are row-major; `scratch` has scratch_bytes() bytes, aligned to
  // 64. Thread-safe. Results that the routine leaves undefined are zero. Eigenvalues and singular values of
  // numbers that are not finite are NaN, with an info of -4.
  void Run(const std::byte* const* operands, std::byte* const* results, int64_t problem,
           std::byte* scratch) const;

  // One problem in scratch memory, between operands and results.
  class Problem {
   public:
    ~Problem();
    void Solve();  // Accesses only the scratch memory.
    void Store(std::byte* const* results) const;

   private:
    friend class Call;
    Problem() = default;
    const Call* call_ = nullptr;
    int64_t index_ = 0;
    std::unique_ptr<Frame> frame_;
  };
  // Run, split into parts. Answer fills in the results of a problem for which no routine is called, and
  // returns false for others; these are loaded, solved and stored. The call and the scratch must outlive the
  // problem.
  bool Answer(const std::byte* const* operands, std::byte* const* results, int64_t problem) const;
  std::unique_ptr<Problem> Load(const std::byte* const* operands, int64_t problem, std::byte* scratch) const;

 private:
  Call() = default;
  std::byte* ResultAt(std::byte* const* results, size_t i, int64_t problem) const {
    return results[i] + problem * results_[i].bytes;
  }

  const Routine* routine_ = nullptr;
  int type_ = 0;  // An index into Routine::solve.
  Sizes sizes_;
  std::map<std::string, int64_t, std::less<>> config_;
  std::vector<Layout> operands_, results_;
  int64_t batch_ = 1, scratch_bytes_ = 0;
  double work_ = 0;
  bool empty_ = false;  // An operand has no elements, so every result is zero.
};

}  // namespace hlod::lapack
