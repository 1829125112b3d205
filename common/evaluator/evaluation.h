// One run of the evaluator: shared values, limits, and the iteration over a computation.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "common/evaluator/evaluator.h"
#include "common/evaluator/random_counters.h"
#include "common/hlo/literal.h"
#include "common/hlo/module.h"

namespace hlod::evaluator {

// A value during the evaluation: an array (or token), or a tuple of values. Copies share the data. A value
// borrowed from the caller or the module has a pointer without an owner, and is never written to.
struct Value {
  std::shared_ptr<hlo::Literal> array;
  std::shared_ptr<const std::vector<Value>> tuple;

  static Value Own(hlo::Literal literal);            // Splits tuple literals.
  static Value Borrow(const hlo::Literal& literal);  // The result is valid as long as `literal`.
  static Value Tuple(std::vector<Value> elements);
};

// Returns the value as one literal: moved if this is its only owner, otherwise copied.
hlo::Literal ToLiteral(Value value);

// The array operands of one instruction.
class Operands {
 public:
  explicit Operands(absl::Span<Value> values) : values_(values) {}
  size_t size() const { return values_.size(); }
  const hlo::Literal& operator[](size_t index) const { return *values_[index].array; }
  // Returns an operand that the rule may keep or write to: moved if it is not read again, otherwise copied.
  // May be called once per operand.
  hlo::Literal Take(size_t index);

 private:
  absl::Span<Value> values_;
};

class Evaluation {
 public:
  // `module` and `options` must outlive it.
  Evaluation(const hlo::Module& module, const EvaluateOptions& options)
      : module_(module),
        options_(options),
        random_(options.random != nullptr ? *options.random : own_random_) {}
  Evaluation(const Evaluation&) = delete;
  Evaluation& operator=(const Evaluation&) = delete;

  const hlo::Module& module() const { return module_; }
  const EvaluateOptions& options() const { return options_; }

  // The counters that random instructions draw from.
  RandomCounters& random() { return random_; }

  // Returns a zeroed value. RESOURCE_EXHAUSTED when it is larger than options.bytes_max.
  absl::StatusOr<hlo::Literal> Allocate(const hlo::Shape& shape) const {
    return hlo::Literal::Make(shape, options_.bytes_max);
  }

  // Runs a computation. Values are dropped after their last use. Instructions that neither the root nor a
  // transfer needs are not run.
  absl::StatusOr<Value> Call(hlo::ComputationId id, std::vector<Value> arguments);
  // Runs an instruction that is not a parameter or a constant.
  absl::StatusOr<Value> Run(hlo::Instruction instruction, std::vector<Value> operands);

  // Returns CANCELLED or DEADLINE_EXCEEDED when the caller wants the run to end.
  absl::Status CheckInterrupt() const;
  // Calls CheckInterrupt once per kWorkBetweenChecks units of work; a unit is about one element operation.
  absl::Status Tick(int64_t work) {
    work_ += work;
    if (work_ < kWorkBetweenChecks) return absl::OkStatus();
    work_ = 0;
    return CheckInterrupt();
  }
  // Calls body(begin, end) on consecutive blocks of [0, count), with a Tick per block. Each item is
  // `work_each` units.
  template <typename Body>
  absl::Status InBlocks(int64_t count, int64_t work_each, Body body) {
    const int64_t block = std::max<int64_t>(1, kWorkBetweenChecks / work_each);
    for (int64_t begin = 0; begin < count;) {
      const int64_t end = count - begin > block ? begin + block : count;
      if (absl::Status status = Tick((end - begin) * work_each); !status.ok()) return status;
      body(begin, end);
      begin = end;
    }
    return absl::OkStatus();
  }

 private:
  static constexpr int64_t kWorkBetweenChecks = 1 << 16;
  static constexpr int kCallDepthMax = 128;  // The maximum depth of calls: twice the verifier's limit.

  // Returns, by instruction, its last user: Computation::kNoNode for the root and for transfers, and the
  // instruction itself if it is not needed.
  const std::vector<hlo::NodeId>& LastUses(hlo::ComputationId id);
  // Returns true when an instruction or a computation transfers values over channels, itself or through
  // calls.
  bool Transfers(hlo::Instruction instruction);
  bool Transfers(hlo::ComputationId id);

  const hlo::Module& module_;
  const EvaluateOptions& options_;
  absl::flat_hash_map<hlo::ComputationId, std::unique_ptr<std::vector<hlo::NodeId>>> last_uses_;
  absl::flat_hash_map<hlo::ComputationId, bool> transfers_;  // The cache of Transfers().
  RandomCounters own_random_;
  RandomCounters& random_;
  int64_t work_ = 0;
  int depth_ = 0;
};

}  // namespace hlod::evaluator
