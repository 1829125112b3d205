// The program of a fusion group, with its reductions: what fused steps run on parts of the domain.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/hlo/module.h"
#include "server/engine/tile/fused_reduction.h"
#include "server/engine/tile/fusion.h"
#include "server/engine/tile/kernel.h"
#include "server/engine/tile/program.h"
#include "server/engine/tile/reduce_pattern.h"

namespace hlod::engine {

class FusedProgram {
 public:
  FusedProgram(const hlo::Module& module, const hlo::Computation& computation, const FusionGroup& group);

  // Returns false if the group could not be translated, which means that it is not one that PlanFusion made.
  bool complete() const { return complete_; }
  bool reduces() const { return !reductions_.empty(); }
  int64_t count() const { return count_; }
  // The pattern of the reductions. REQUIRES: reduces().
  const ReducePattern& pattern() const { return pattern_; }
  const TileProgram& program() const { return program_; }
  const std::vector<FusedReduction>& reductions() const { return reductions_; }
  // The place for machine code; null if it could not be faster.
  KernelSlot* slot() const { return slot_.get(); }
  // The bytes of working memory of a worker, aligned to 64.
  int64_t worker_bytes() const { return worker_bytes_; }

 private:
  friend class FusedWorker;
  void AddSlot();

  int64_t count_ = 0;
  bool complete_ = true;
  ReducePattern pattern_;
  TileProgram program_;
  std::vector<FusedReduction> reductions_;
  std::unique_ptr<KernelSlot> slot_;
  int64_t program_bytes_ = 0, worker_bytes_ = 0;  // The working memory of the program; all of a worker's.
};

// Computes parts of a program in one thread: by its machine code, if there is some when the worker is made, else
// by interpreting it.
class FusedWorker {
 public:
  FusedWorker(const FusedProgram& program, const std::byte* const* inputs, std::byte* const* outputs,
              std::byte* workspace);

  bool assembled() const { return run_.has_value(); }
  // The rows to pass to FoldRows at a time, of rows of `row` elements.
  int64_t rows_at_once(int64_t row) const {
    return assembled() ? std::clamp<int64_t>(kKernelPiece / row, 1, kTile)
                       : std::max<int64_t>(1, kTile / row);
  }
  // Computes elements [start, start + n) of a program without reductions.
  void Run(int64_t start, int64_t n);

  // Starts accumulators [0, n) of each reduction, and stores them as its elements from `first` on.
  void Start(int n) const;
  void Finish(int64_t first, int n) const;
  // Computes `rows` rows of `row` elements from `start` on, at most a tile unless assembled(), and combines
  // row i into accumulator i of each reduction. If assembled(), rows of columns are those of the pattern.
  void FoldRows(int64_t start, int rows, int64_t row) {
    Fold(start, rows, row, /*columns=*/false, [this](size_t r, int j) {
      return accumulators(r) + j * program_.reductions_[r].accumulator_bytes();
    });
  }
  // Does the same with column i and accumulator i.
  void FoldColumns(int64_t start, int rows, int64_t columns) {
    Fold(start, rows, columns, /*columns=*/true, [this](size_t r, int) { return accumulators(r); });
  }
  // Does the same for `groups` neighbouring matrices, all of which are at most a tile: column i of matrix g
  // is combined into accumulator g * columns + i.
  void FoldGroups(int64_t start, int groups, int rows, int64_t columns);
  // Does one of these with the accumulators partial(r) of reduction r; `row` says whether the elements are one row.
  template <typename Partial>
  void FoldChunk(int64_t start, int rows, int64_t columns, bool row, Partial partial) {
    Fold(start, row ? 1 : rows, row ? rows : columns, /*columns=*/!row,
         [&partial](size_t r, int) { return partial(r); });
  }
  // Returns the accumulators of a reduction; there are as many as a tile has elements.
  std::byte* accumulators(size_t r) const {
    return workspace_ + program_.program_bytes_ + static_cast<int64_t>(r) * kAccumulatorBytes;
  }

  static constexpr int64_t kAccumulatorBytes = kTile * 8;
  // The elements that machine code computes between two checks whether the run must stop.
  static constexpr int64_t kKernelPiece = 128 * kTile;

 private:
  template <typename To>
  void Fold(int64_t start, int rows, int64_t row, bool columns, To to) {
    const std::vector<FusedReduction>& reductions = program_.reductions_;
    if (run_.has_value()) {
      for (size_t r = 0; r < reductions.size(); ++r) run_->SetAccumulators(r, to(r, 0));
      run_->RunRows(start, rows, row, columns ? program_.pattern_.inner : program_.pattern_.reduced);
      return;
    }
    program_.program_.RunTile(inputs_, outputs_, workspace_, start, static_cast<int>(rows * row));
    for (size_t r = 0; r < reductions.size(); ++r) {
      const FusedReduction& reduction = reductions[r];
      const auto* kept = static_cast<const std::byte*>(
          program_.program_.Kept(reduction.kept(), inputs_, outputs_, workspace_, start));
      if (!columns && rows > 1 && row < kShortRow) {
        reduction.FoldShortRows(to(r, 0), kept, rows, static_cast<int>(row));
        continue;
      }
      const int64_t row_bytes = row * CarrierBytes(reduction.carrier());
      for (int j = 0; j < rows; ++j) {
        if (columns) reduction.FoldColumns(to(r, j), kept + j * row_bytes, static_cast<int>(row));
        else reduction.Fold(to(r, j), kept + j * row_bytes, static_cast<int>(row));
      }
    }
  }

  const FusedProgram& program_;
  const std::byte* const* const inputs_;
  std::byte* const* const outputs_;
  std::byte* const workspace_;
  std::optional<KernelRun> run_;
};

}  // namespace hlod::engine
