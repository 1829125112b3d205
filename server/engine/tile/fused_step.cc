// The step that runs a fusion group: one pass over its domain, tile by tile, which also computes reductions.
#include <algorithm>
#include <cstring>
#include <vector>

#include "common/base/errors/status.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"
#include "server/engine/tile/fusion.h"
#include "server/engine/tile/program.h"
#include "server/engine/tile/reduce_pattern.h"

namespace hlod::engine {
namespace {

class FusedStep final : public Step {
 public:
  FusedStep(const hlo::Module& module, const hlo::Computation& computation, const FusionGroup& group,
            int threads)
      : Step(StepKind::kFused, Describe(computation, group)), threads_(threads) {
    for (hlo::NodeId id : group.nodes) {
      if (computation[id].opcode() != hlo::kReduce) continue;
      pattern_ = *MatchReduce(module, computation[id]);
      has_reduce_ = true;
    }
    const hlo::Instruction first = computation[group.nodes[0]];
    count_ = has_reduce_ ? pattern_.count() : Elements(first.shape());
    TileProgram::Builder builder(computation, count_);
    for (size_t i = 0; i < group.inputs.size(); ++i) builder.AddInput(group.inputs[i], static_cast<int>(i));
    for (hlo::NodeId id : group.nodes) {
      const hlo::Instruction instruction = computation[id];
      if (instruction.opcode() != hlo::kReduce) {
        complete_ = complete_ && builder.Add(id);
      }
    }
    for (size_t o = 0; o < group.outputs.size(); ++o) {
      const hlo::Instruction instruction = computation[group.outputs[o]];
      if (instruction.opcode() != hlo::kReduce)
        complete_ = complete_ && builder.AddOutput(instruction.id(), static_cast<int>(o));
    }
    for (size_t o = 0; o < group.outputs.size(); ++o) {
      const hlo::Instruction instruction = computation[group.outputs[o]];
      if (instruction.opcode() == hlo::kReduce)
        AddReduction(module, computation, instruction, group, builder, static_cast<int>(o));
    }
    program_ = std::move(builder).Build();
    const int64_t accumulators =
        has_reduce_ ? static_cast<int64_t>(reductions_.size()) * kAccumulatorBytes : 0;
    worker_bytes_ = AlignUp(program_.workspace_bytes() + accumulators + kTile * 8, 64);
    if (has_reduce_) Split();
    set_scratch_bytes(worker_bytes_ * threads_ + (chunks_ > 1 ? PartialBytes() : 0));
    set_flops(static_cast<double>(count_) * static_cast<double>(group.nodes.size()));
    for (int o = 0; o < static_cast<int>(group.outputs.size()); ++o) {
      for (int i = 0; i < static_cast<int>(group.inputs.size()); ++i) {
        if (program_.MayShare(o, i)) Share(o, i);
      }
    }
  }

  bool complete() const { return complete_; }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    const int threads = std::min(context.threads, threads_);
    if (!has_reduce_) {
      const int64_t tiles = (count_ + kTile - 1) / kTile;
      // A tile of one instruction takes a fraction of a microsecond.
      const int64_t tile_work = std::max(1, program_.instruction_count()) * kTile / 2;
      ParallelRanges(threads, tiles, count_, [&](int64_t begin, int64_t end, int worker) {
        std::byte* workspace = context.scratch + worker * worker_bytes_;
        program_.Begin(inputs, workspace, static_cast<int>(std::min<int64_t>(count_, kTile)));
        StopCheck stop(context.run);
        for (int64_t tile = begin; tile < end && !stop.Stops(tile_work); ++tile) {
          program_.RunTile(inputs, outputs, workspace, tile * kTile,
                           static_cast<int>(std::min<int64_t>(kTile, count_ - tile * kTile)));
        }
      });
      return StopCheck::VerdictAfter(WorkOf(tiles, tile_work), context.run);
    }
    if (chunks_ > 1) RunChunks(inputs, outputs, context, threads);
    else if (pattern_.inner == 1) RunRows(inputs, outputs, context, threads);
    else RunColumns(inputs, outputs, context, threads);
    return StopCheck::VerdictAfter(count_, context.run);
  }

 private:
  static constexpr int64_t kAccumulatorBytes = kTile * 8;
  // With fewer than kJobsWanted outputs side by side, a reduction of kSplitElementsMin elements or more is
  // split itself, into chunks of at least kElementsAChunk.
  static constexpr int64_t kJobsWanted = 64, kElementsAChunk = 32768, kSplitElementsMin = 256 * 1024;

  struct Reduction {
    int output = 0, kept = 0;
    Carrier carrier = Carrier::kF32;
    bool in_double = false;
    hlo::PrimitiveType type = hlo::kInvalid;
    int width = 0;        // The bytes of an element in memory.
    int init_input = -1;  // When negative, the initial value is the constant below.
    alignas(8) std::byte init[8] = {};
    // The conversions from the initial value in memory to an accumulator, and from accumulators to the
    // output; null if not needed.
    TileFunction load = nullptr, widen = nullptr, round = nullptr, store = nullptr;
    FoldFunction fold = nullptr;
    FoldColumnsFunction fold_columns = nullptr;
    FoldColumnsFunction join_columns = nullptr;  // The same on accumulators: joins the results of chunks.
    int accumulator_bytes() const { return in_double ? 8 : CarrierBytes(carrier); }
  };

  void AddReduction(const hlo::Module& module, const hlo::Computation& computation, hlo::Instruction reduce,
                    const FusionGroup& group, TileProgram::Builder& builder, int output) {
    const TileOps& ops = GetTileOps();
    Reduction r;
    r.output = output;
    r.type = reduce.shape().type;
    r.kept = builder.Keep(reduce.operands()[0]);
    if (r.kept < 0) complete_ = false;
    CarrierOf(r.type, &r.carrier);
    const FoldOp op = FoldOpOf(module, reduce);
    r.in_double = FoldsInDouble(op, r.carrier);
    if (r.in_double && r.carrier == Carrier::kF32) {
      r.widen = ops.convert(Carrier::kF32, Carrier::kF64);
      r.round = ops.convert(Carrier::kF64, Carrier::kF32);
    }
    r.load = ops.load(r.type);
    r.store = ops.store(r.type);
    r.width = hlo::ByteWidth(r.type);
    r.fold = ops.fold(op, r.carrier);
    r.fold_columns = ops.fold_columns(op, r.carrier);
    const Carrier wide = r.in_double ? Carrier::kF64 : r.carrier;
    r.join_columns = ops.fold_columns(op, wide);
    const View init = ResolveView(computation, reduce.operands()[1], 1);
    const hlo::Instruction base = computation[init.base];
    const auto input = std::find(group.inputs.begin(), group.inputs.end(), init.base);
    if (input != group.inputs.end()) {
      r.init_input = static_cast<int>(input - group.inputs.begin());
      if (init.offset != 0) complete_ = false;
    } else if (base.opcode() == hlo::kConstant && base.literal().element_count() == 1) {
      std::memcpy(r.init, base.literal().bytes().data(), base.literal().bytes().size());
    } else {
      complete_ = false;
    }
    reductions_.push_back(r);
  }

  // Fills `n` accumulators with the initial value.
  void Start(const Reduction& r, const std::byte* const* inputs, std::byte* accumulators, int n) const {
    const std::byte* init = r.init_input >= 0 ? inputs[r.init_input] : r.init;
    alignas(8) std::byte wide[8], element[8];
    if (r.load != nullptr) r.load(wide, init, nullptr, nullptr, 1, 0);
    else std::memcpy(wide, init, static_cast<size_t>(r.width));
    if (r.widen != nullptr) r.widen(element, wide, nullptr, nullptr, 1, 0);
    else std::memcpy(element, wide, 8);
    Fill(element, r.accumulator_bytes(), n, accumulators);
  }
  // Converts accumulators [0, n) to the output's elements from `first` on. `temporary` has room for a tile of
  // 8-byte elements.
  void Finish(const Reduction& r, std::byte* const* outputs, const std::byte* accumulators, int64_t first,
              int n, std::byte* temporary) const {
    const void* values = accumulators;
    if (r.round != nullptr) {
      r.round(temporary, values, nullptr, nullptr, n, 0);
      values = temporary;
    }
    std::byte* out = outputs[r.output] + first * r.width;
    if (r.store != nullptr) r.store(out, values, nullptr, nullptr, n, 0);
    else std::memcpy(out, values, static_cast<size_t>(n) * r.width);
  }

  std::byte* Accumulators(std::byte* workspace, size_t r) const {
    return workspace + program_.workspace_bytes() + static_cast<int64_t>(r) * kAccumulatorBytes;
  }
  std::byte* Temporary(std::byte* workspace) const { return Accumulators(workspace, reductions_.size()); }

  // For inner == 1: each row of `reduced` neighbours becomes one element.
  void RunRows(const std::byte* const* inputs, std::byte* const* outputs, StepContext& context,
               int threads) const {
    const int64_t row = pattern_.reduced;
    const int64_t rows_a_tile = std::max<int64_t>(1, kTile / row);
    const int64_t chunks = (pattern_.outer + rows_a_tile - 1) / rows_a_tile;
    ParallelRanges(threads, chunks, count_, [&](int64_t begin, int64_t end, int worker) {
      std::byte* workspace = context.scratch + worker * worker_bytes_;
      program_.Begin(inputs, workspace, static_cast<int>(std::min<int64_t>(count_, kTile)));
      // The reduced elements may never be stored, and may be more than fit into any memory.
      StopCheck stop(context.run);
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t first = chunk * rows_a_tile;
        const int rows = static_cast<int>(std::min(rows_a_tile, pattern_.outer - first));
        for (size_t i = 0; i < reductions_.size(); ++i)
          Start(reductions_[i], inputs, Accumulators(workspace, i), rows);
        if (row > kTile) {
          for (int64_t done = 0; done < row; done += kTile) {
            const int n = static_cast<int>(std::min<int64_t>(kTile, row - done));
            if (stop.Stops(n)) return;
            const int64_t start = first * row + done;
            program_.RunTile(inputs, outputs, workspace, start, n);
            for (size_t i = 0; i < reductions_.size(); ++i) {
              reductions_[i].fold(Accumulators(workspace, i),
                                  program_.Kept(reductions_[i].kept, inputs, outputs, workspace, start), n);
            }
          }
        } else {
          if (stop.Stops(rows * row)) return;
          const int64_t start = first * row;
          program_.RunTile(inputs, outputs, workspace, start, static_cast<int>(rows * row));
          for (size_t i = 0; i < reductions_.size(); ++i) {
            const Reduction& r = reductions_[i];
            const auto* kept =
                static_cast<const std::byte*>(program_.Kept(r.kept, inputs, outputs, workspace, start));
            for (int j = 0; j < rows; ++j) {
              r.fold(Accumulators(workspace, i) + j * r.accumulator_bytes(),
                     kept + j * row * CarrierBytes(r.carrier), static_cast<int>(row));
            }
          }
        }
        for (size_t i = 0; i < reductions_.size(); ++i) {
          Finish(reductions_[i], outputs, Accumulators(workspace, i), first, rows, Temporary(workspace));
        }
      }
    });
  }

  // For inner > 1: reduces columns of a [reduced, inner] matrix, `outer` times. A tile consists of several
  // whole rows if rows are short.
  void RunColumns(const std::byte* const* inputs, std::byte* const* outputs, StepContext& context,
                  int threads) const {
    const int64_t inner = pattern_.inner;
    const int64_t strips = (inner + kTile - 1) / kTile;
    const int64_t width = std::min<int64_t>(inner, kTile);
    const int64_t rows_a_tile = strips > 1 ? 1 : std::max<int64_t>(1, kTile / inner);
    ParallelRanges(threads, pattern_.outer * strips, count_, [&](int64_t begin, int64_t end, int worker) {
      std::byte* workspace = context.scratch + worker * worker_bytes_;
      program_.Begin(inputs, workspace, static_cast<int>(std::min<int64_t>(count_, kTile)));
      StopCheck stop(context.run);
      for (int64_t item = begin; item < end; ++item) {
        const int64_t outer = item / strips, column = item % strips * kTile;
        const int columns = static_cast<int>(std::min(width, inner - column));
        for (size_t i = 0; i < reductions_.size(); ++i)
          Start(reductions_[i], inputs, Accumulators(workspace, i), columns);
        for (int64_t at = 0; at < pattern_.reduced; at += rows_a_tile) {
          const int rows = static_cast<int>(std::min(rows_a_tile, pattern_.reduced - at));
          if (stop.Stops(rows * columns)) return;
          const int64_t start = (outer * pattern_.reduced + at) * inner + column;
          program_.RunTile(inputs, outputs, workspace, start, rows * columns);
          for (size_t i = 0; i < reductions_.size(); ++i) {
            const Reduction& r = reductions_[i];
            const auto* kept =
                static_cast<const std::byte*>(program_.Kept(r.kept, inputs, outputs, workspace, start));
            for (int j = 0; j < rows; ++j)
              r.fold_columns(Accumulators(workspace, i), kept + j * columns * CarrierBytes(r.carrier),
                             columns);
          }
        }
        for (size_t i = 0; i < reductions_.size(); ++i) {
          Finish(reductions_[i], outputs, Accumulators(workspace, i), outer * inner + column, columns,
                 Temporary(workspace));
        }
      }
    });
  }

  // Splits a reduction with few outputs side by side, by its shape alone, so that its result has the same
  // bits for every team. A chunk is a number of steps: tiles of a row, or tiles of whole rows above a strip
  // of columns.
  void Split() {
    const int64_t independent = strips() * pattern_.outer;
    if (count_ < kSplitElementsMin || independent >= kJobsWanted) return;
    const int64_t wanted = std::min(kJobsWanted / independent, count_ / independent / kElementsAChunk);
    chunks_ = std::clamp<int64_t>(wanted, 1, steps());
  }
  // An item is a row, or a strip of at most kTile columns; a step is what a tile holds of it.
  int64_t strips() const { return pattern_.inner == 1 ? 1 : (pattern_.inner + kTile - 1) / kTile; }
  int64_t item_width() const { return std::min<int64_t>(pattern_.inner, kTile); }
  int64_t rows_a_step() const {
    return pattern_.inner == 1 ? kTile : std::max<int64_t>(1, kTile / pattern_.inner);
  }
  int64_t steps() const { return (pattern_.reduced + rows_a_step() - 1) / rows_a_step(); }
  // The accumulators of all chunks of one reduction.
  int64_t ReductionBytes() const { return pattern_.outer * strips() * chunks_ * item_width() * 8; }
  int64_t PartialBytes() const { return static_cast<int64_t>(reductions_.size()) * ReductionBytes(); }
  std::byte* Partial(StepContext& context, size_t r, int64_t chunk) const {
    return context.scratch + worker_bytes_ * threads_ + static_cast<int64_t>(r) * ReductionBytes() +
           chunk * item_width() * reductions_[r].accumulator_bytes();
  }

  // Reduces the chunks of every item, then joins them.
  void RunChunks(const std::byte* const* inputs, std::byte* const* outputs, StepContext& context,
                 int threads) const {
    const int64_t items = pattern_.outer * strips(), inner = pattern_.inner;
    ParallelRanges(threads, items * chunks_, count_, [&](int64_t begin, int64_t end, int worker) {
      std::byte* workspace = context.scratch + worker * worker_bytes_;
      program_.Begin(inputs, workspace, kTile);
      StopCheck stop(context.run);
      for (int64_t chunk = begin; chunk < end; ++chunk) {
        const int64_t item = chunk / chunks_, part = chunk % chunks_;
        const int64_t outer = item / strips(), column = item % strips() * kTile;
        const int columns = static_cast<int>(std::min(item_width(), inner - column));
        const int64_t first = steps() * part / chunks_, last = steps() * (part + 1) / chunks_;
        for (int64_t step = first; step < last; ++step) {
          const int64_t at = step * rows_a_step();
          const int rows = static_cast<int>(std::min(rows_a_step(), pattern_.reduced - at));
          if (stop.Stops(rows * columns)) return;
          const int64_t start = (outer * pattern_.reduced + at) * inner + column;
          program_.RunTile(inputs, outputs, workspace, start, rows * columns);
          for (size_t i = 0; i < reductions_.size(); ++i) {
            const Reduction& r = reductions_[i];
            FoldStep(r, program_.Kept(r.kept, inputs, outputs, workspace, start), rows, columns,
                     /*begins=*/step == first, Partial(context, i, chunk));
          }
        }
      }
    });
    if (StopCheck::MustStop(context.run)) return;  // Some chunks may be missing.
    std::byte* const workspace = context.scratch;
    for (int64_t item = 0; item < items; ++item) {
      const int64_t outer = item / strips(), column = item % strips() * kTile;
      const int columns = static_cast<int>(std::min(item_width(), inner - column));
      for (size_t i = 0; i < reductions_.size(); ++i) {
        const Reduction& r = reductions_[i];
        std::byte* const accumulators = Accumulators(workspace, i);
        Start(r, inputs, accumulators, columns);
        for (int64_t part = 0; part < chunks_; ++part)
          r.join_columns(accumulators, Partial(context, i, item * chunks_ + part), columns);
        Finish(r, outputs, accumulators, outer * inner + column, columns, Temporary(workspace));
      }
    }
  }

  // Combines a tile of `rows` rows into accumulators. The first tile of a chunk begins them with its first
  // row.
  static void FoldStep(const Reduction& r, const void* tile, int rows, int columns, bool begins,
                       std::byte* accumulators) {
    const auto* kept = static_cast<const std::byte*>(tile);
    const int64_t row_bytes = static_cast<int64_t>(columns) * CarrierBytes(r.carrier);
    if (begins) {
      if (r.widen != nullptr) r.widen(accumulators, kept, nullptr, nullptr, columns, 0);
      else std::memcpy(accumulators, kept, static_cast<size_t>(row_bytes));
      kept += row_bytes;
      --rows;
    }
    if (columns == 1) {
      if (rows > 0) r.fold(accumulators, kept, rows);
      return;
    }
    for (int row = 0; row < rows; ++row) r.fold_columns(accumulators, kept + row * row_bytes, columns);
  }

  static std::string Describe(const hlo::Computation& computation, const FusionGroup& group) {
    std::string text = "fused";
    for (size_t i = 0; i < group.nodes.size(); ++i) {
      if (i == 6 && group.nodes.size() > 7) {
        text += absl::StrFormat(" +%d", group.nodes.size() - i);
        break;
      }
      text += absl::StrFormat(" %s", hlo::Name(computation[group.nodes[i]].opcode()));
    }
    for (hlo::NodeId output : group.outputs) text += " " + hlo::ToStringNoLayout(computation[output].shape());
    return text;
  }

  const int threads_;
  int64_t count_ = 0;
  ReducePattern pattern_;
  bool has_reduce_ = false, complete_ = true;
  TileProgram program_;
  std::vector<Reduction> reductions_;
  int64_t chunks_ = 1;  // The chunks that the reduction of each item is split into (Split).
  int64_t worker_bytes_ = 0;
};

}  // namespace

std::unique_ptr<Step> MakeFusedStep(const hlo::Module& module, const hlo::Computation& computation,
                                    const FusionGroup& group, int threads) {
  auto step = std::make_unique<FusedStep>(module, computation, group, threads);
  if (!step->complete()) return nullptr;
  return step;
}

}  // namespace hlod::engine
