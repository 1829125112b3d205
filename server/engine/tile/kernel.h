// Machine code for a tile program, as a fused step runs it. The code is made by server/engine/assemble.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "server/engine/run/step.h"
#include "server/engine/tile/program.h"

namespace hlod::engine {

struct TileKernel {
  // A pointer that the code takes.
  struct Operand {
    enum class Kind : uint8_t { kRead, kInput, kOutput, kAccumulator } kind = Kind::kInput;
    // For kInput and kOutput, whose elements are in the order of the domain, the number and the bytes per
    // element; for kAccumulator the number of the fold, and the bytes by which it advances per element.
    int number = -1, width = 0;
    // The bytes (for kIota the numbers) from a row to the next.
    int64_t step = 0;
    // For kRead the instruction of the program that it replaces, and its form.
    TileProgram::Instruction read;
    TileProgram::ReadForm form = TileProgram::ReadForm::kDense;
  };
  // Computes `rows` rows of `n` elements from the pointers on, one per operand; for kIota to the first number
  // as an int64. A row begins `row` elements after the one before it. If `row` is 0, `rows` must be 1.
  using Function = void (*)(const std::byte* const* pointers, int64_t n, int64_t rows);

  std::vector<Operand> operands;
  Function function = nullptr;
  int64_t row = 0;
  bool folds = false;
  std::shared_ptr<const void> code;  // Keeps the code in memory.
};

// A reduction of the elements that a program keeps.
struct KernelFold {
  int kept = -1;  // The value, of TileProgram::Kept.
  FoldOp op = FoldOp::kAdd;
  Carrier carrier = Carrier::kF32;
  // The bytes of an accumulator, which is a double for sums and products of floats (FoldsInDouble).
  int accumulator_bytes() const { return FoldsInDouble(op, carrier) ? 8 : CarrierBytes(carrier); }
};
// The use of the kept values besides computing them: none; combining all into one accumulator per
// fold; or combining each into an accumulator of its own. They are combined in the order of TileOps::fold,
// tile by tile from the first element on.
enum class KernelForm : uint8_t { kMap, kRows, kColumns };

// The place of the kernel of one program, which is interpreted until a kernel is installed. Any thread may
// run the program meanwhile.
class KernelSlot {
 public:
  // `count` is the number of elements of the domain. The program must outlive the slot.
  KernelSlot(const TileProgram& program, int64_t count, KernelForm form = KernelForm::kMap,
             std::vector<KernelFold> folds = {})
      : program_(program), count_(count), form_(form), folds_(std::move(folds)) {}

  // Says that running the program over its domain is all that its step does.
  void set_is_step() { is_step_ = true; }
  bool is_step() const { return is_step_; }

  const TileProgram& program() const { return program_; }
  int64_t count() const { return count_; }
  KernelForm form() const { return form_; }
  const std::vector<KernelFold>& folds() const { return folds_; }
  // Returns null until a kernel is installed.
  const TileKernel* kernel() const { return kernel_.load(std::memory_order_acquire); }
  // Must be called at most once.
  void Install(std::shared_ptr<const TileKernel> kernel) {
    owned_ = std::move(kernel);
    kernel_.store(owned_.get(), std::memory_order_release);
  }
  // Goes back to interpreting, for good. Runs that have begun with the kernel go on with it.
  void Withdraw() {
    withdrawn_.store(true, std::memory_order_relaxed);
    kernel_.store(nullptr, std::memory_order_release);
  }
  bool withdrawn() const { return withdrawn_.load(std::memory_order_relaxed); }
  // Keeps the outputs in the caches: other code reads them soon, or ranges may begin at any element, whereas
  // stores past the caches need the addresses of whole vectors. Must be called before the program is
  // assembled.
  void KeepInCaches() { in_caches_ = true; }
  bool in_caches() const { return in_caches_; }
  // Returns true if the domain is so large that its elements come from memory or the last cache.
  bool streams() const { return count_ >= kStreamElementsMin; }
  // The limit on the bytes of its code. Plans are charged for it before there is any.
  int64_t code_bytes_max() const;
  // The limit on the bytes of the tables that it has as part of a loop's code, if its elements are at most
  // kTableElementsMax (server/engine/assemble/view_tables.h).
  int64_t table_bytes_max() const;
  static constexpr int64_t kTableElementsMax = 4096;

 private:
  // With four bytes each, they fill a small second-level cache.
  static constexpr int64_t kStreamElementsMin = 128 * 1024;

  const TileProgram& program_;
  const int64_t count_;
  const KernelForm form_;
  const std::vector<KernelFold> folds_;
  bool in_caches_ = false, is_step_ = false;
  std::shared_ptr<const TileKernel> owned_;
  std::atomic<const TileKernel*> kernel_{nullptr};
  std::atomic<bool> withdrawn_{false};
};

// The limit on the elements of a program that becomes part of a loop's code: those that one thread computes.
inline constexpr int64_t kLoopElementsMax = 16 * 1024;
// Returns the slot of the step's program if running it is all that the step does, and as part of a loop's
// code it would be fast; else null.
inline const KernelSlot* LoopProgram(const Step& step) {
  const absl::Span<KernelSlot* const> slots = step.kernel_slots();
  const bool runs_one = slots.size() == 1 && slots[0]->is_step();
  return runs_one && slots[0]->count() <= kLoopElementsMax ? slots[0] : nullptr;
}

// The limit on the instructions of all programs in a loop's code.
inline constexpr int64_t kLoopCodeMax = 2000;

// Chooses the programs that become part of a loop's code: the first ones that fit. The others are called.
class LoopCodeSpace {
 public:
  explicit LoopCodeSpace(int64_t size_max) : size_max_(size_max) {}

  // Takes the place that a program needs, or returns false if there is not enough left.
  bool Take(const KernelSlot& slot) {
    const int64_t size = SizeOf(slot);
    if (size_ + size > size_max_) return false;
    size_ += size;
    return true;
  }
  bool is_empty() const { return size_ == 0; }

 private:
  // Returns the instructions that a program is in a loop's code, which computes a few elements one by one.
  static int64_t SizeOf(const KernelSlot& slot) {
    constexpr int64_t kOneByOneMax = 4;
    const auto size = static_cast<int64_t>(slot.program().code().size());
    return slot.count() <= kOneByOneMax ? slot.count() * size : size;
  }

  const int64_t size_max_;
  int64_t size_ = 0;
};

// The limits on a kernel's operands. A program with more is interpreted.
inline constexpr size_t kKernelOperandsMax = 256, kKernelRunsMax = 16, kKernelFoldsMax = 16;

// Runs a kernel on ranges of the domain, for one worker.
class KernelRun {
 public:
  // `workspace` has room for a tile of temporary memory, and for a tile per staged read.
  KernelRun(const TileProgram& program, const TileKernel& kernel, const std::byte* const* inputs,
            std::byte* const* outputs, std::byte* workspace);
  // The bytes of `workspace`.
  static int64_t WorkspaceBytes(const TileProgram& program) {
    return kTile * 8 + program.StagedReads() * StagedBytes(program);
  }
  // Sets the accumulators of a fold for the following runs: for kColumns that of the first element of a row,
  // else that of the first row.
  void SetAccumulators(size_t fold, std::byte* accumulators) { accumulators_[fold] = accumulators; }
  // Computes elements [start, start + n), of one row if the program folds.
  void Run(int64_t start, int64_t n);
  // Computes elements [start + i * stride, start + i * stride + n) for each row i.
  void RunRows(int64_t start, int64_t rows, int64_t n, int64_t stride);

 private:
  void RunPieces(int64_t start, int64_t n, int64_t row);
  void Seek(int64_t start);
  void Point(int64_t start, int64_t done, int64_t row);
  void PointRuns();
  void Stage(int64_t start, int64_t n);
  void StagePeriod(size_t operand, int64_t period);
  bool IsPeriodic(size_t operand) const {
    for (size_t p = 0; p < periodic_count_; ++p) {
      if (periodic_[p].operand == operand) return true;
    }
    return false;
  }
  // The bytes of a staged tile, and of one period more.
  static int64_t StagedBytes(const TileProgram& program) {
    return program.slot_bytes() + TileProgram::kPeriodMax * kCarrierBytesMax;
  }
  // A staged read that repeats a few elements: its tile is read once, and begins anywhere in the first
  // period.
  struct Periodic {
    size_t operand = 0;
    const std::byte* tile = nullptr;
    int64_t period = 1;
    int width = 0;  // The bytes of an element in the tile.
  };
  int64_t RunLength(int64_t n) const;

  const TileProgram& program_;
  const TileKernel& kernel_;
  const std::byte* const* const inputs_;
  std::byte* const* const outputs_;
  std::byte* const workspace_;
  bool in_tiles_ = false;  // True if there are staged reads.
  size_t periodic_count_ = 0;
  Periodic periodic_[kKernelRunsMax];
  size_t run_count_ = 0;
  const std::byte* pointers_[kKernelOperandsMax];
  std::byte* accumulators_[kKernelFoldsMax];
  RunCursor cursors_[kKernelRunsMax];
  int64_t cursors_at_ = -1;  // The element that the cursors are at; -1 before the first Seek.
  size_t run_operands_[kKernelRunsMax];
  int64_t numbers_[kKernelRunsMax];  // The first numbers of iotas.
};

}  // namespace hlod::engine
