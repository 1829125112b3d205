// The ragged dot: one product per group. The sizes of the groups are known only when it runs.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/errors/status.h"
#include "common/hlo/dynamic/ragged_dot.h"
#include "server/engine/contraction/contraction_steps.h"
#include "server/engine/contraction/dot.h"
#include "server/engine/contraction/onednn_matmul.h"
#include "server/engine/contraction/side.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using hlo::Dims;
using hlo::RaggedMode;

// Returns the dimensions of an array that are in none of the lists.
Dims Others(const hlo::Shape& shape, std::initializer_list<absl::Span<const int64_t>> lists) {
  Dims others;
  for (int64_t d = 0; d < shape.rank(); ++d) {
    const bool taken = std::any_of(lists.begin(), lists.end(), [d](auto list) { return Contains(list, d); });
    if (!taken) others.push_back(d);
  }
  return others;
}

int64_t SizeOf(const hlo::Shape& shape, absl::Span<const int64_t> dimensions) {
  int64_t size = 1;
  for (const int64_t d : dimensions) size *= shape.dims[static_cast<size_t>(d)];
  return size;
}

class RaggedDotStep final : public Step {
 public:
  explicit RaggedDotStep(hlo::Instruction dot) : Step(StepKind::kLibrary, DescribeStep(dot)) {}

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (out_count_ == 0) return absl::OkStatus();
    ASSIGN_OR_RETURN(const std::byte* lhs, lhs_.Prepare(inputs[0], context));
    ASSIGN_OR_RETURN(const std::byte* rhs, rhs_.Prepare(inputs[1], context));
    std::byte* out = out_convert_ != nullptr ? context.scratch + out_offset_ : outputs[0];
    // Elements outside all groups are zero.
    RETURN_IF_ERROR(FillZeros(context, out, out_count_ * width_));
    if (mode_ == RaggedMode::kFree) {
      RETURN_IF_ERROR(RunRows(lhs, rhs, inputs[2], out, context));
    } else {
      RETURN_IF_ERROR(RunSums(lhs, rhs, inputs[2], out, context));
    }
    if (out_convert_ == nullptr) return absl::OkStatus();
    return ConvertParallel(out_convert_, out, width_, outputs[0], out_width_, out_count_, context);
  }

  // Returns false when no type fits.
  bool Prepare(hlo::Instruction dot, int threads) {
    const auto& ragged = dot.attributes<hlo::RaggedDotAttributes>();
    mode_ = hlo::RaggedModeOf(ragged);
    const hlo::Shape &lhs = dot.operand(0).shape(), &rhs = dot.operand(1).shape(),
                     &sizes = dot.operand(2).shape();
    type_ = ContractionType(lhs.type, rhs.type, dot.shape().type);
    if (type_ == hlo::kInvalid || mode_ == RaggedMode::kBatch) return false;
    const auto lhs_convert = FindConversion(lhs.type, type_), rhs_convert = FindConversion(rhs.type, type_),
               out_convert = FindConversion(type_, dot.shape().type);
    if (!lhs_convert || !rhs_convert || !out_convert) return false;
    width_ = hlo::ByteWidth(type_);
    out_width_ = Width(dot.shape());
    out_count_ = Elements(dot.shape());
    out_convert_ = *out_convert;
    groups_ = sizes.dims.back();
    size_type_ = sizes.type;
    has_rows_ = sizes.rank() > 1;
    mode_ == RaggedMode::kFree ? ArrangeRows(ragged, lhs, rhs) : ArrangeSums(ragged, lhs, rhs);
    lhs_.convert = *lhs_convert;
    rhs_.convert = *rhs_convert;
    if (mode_ == RaggedMode::kFree && type_ == hlo::kF32) MakeBlocks(threads);
    Reserve();
    return true;
  }

 private:
  // A block of rows for oneDNN, which needs constant sizes.
  struct Block {
    int64_t rows;
    std::unique_ptr<OneDnnMatmul> product;
  };

  // Arranges lhs as [batch, outer, ragged * inner, depth], and rhs as [group, batch, depth, columns].
  void ArrangeRows(const hlo::RaggedDotAttributes& ragged, const hlo::Shape& lhs, const hlo::Shape& rhs) {
    const hlo::DotAttributes& dot = ragged.dot;
    const int64_t dimension = ragged.lhs_ragged[0];
    const Dims free = Others(lhs, {dot.lhs_batch, dot.lhs_contracting});
    const auto at = std::find(free.begin(), free.end(), dimension);
    const Dims columns = Others(rhs, {dot.rhs_batch, dot.rhs_contracting, ragged.rhs_group});
    batches_ = SizeOf(lhs, dot.lhs_batch);
    outer_ = SizeOf(lhs, Dims(free.begin(), at));
    ragged_ = lhs.dims[static_cast<size_t>(dimension)];
    inner_ = SizeOf(lhs, Dims(at + 1, free.end()));
    depth_ = SizeOf(lhs, dot.lhs_contracting);
    columns_ = SizeOf(rhs, columns);
    Pack(lhs, {dot.lhs_batch, free, dot.lhs_contracting}, lhs_);
    Pack(rhs, {ragged.rhs_group, dot.rhs_batch, dot.rhs_contracting, columns}, rhs_);
    set_flops(2.0 * static_cast<double>(Elements(lhs)) * static_cast<double>(columns_));
  }

  // Arranges lhs as [batch, rows, outer, ragged * inner], and rhs as [batch, outer, ragged * inner, columns].
  void ArrangeSums(const hlo::RaggedDotAttributes& ragged, const hlo::Shape& lhs, const hlo::Shape& rhs) {
    const hlo::DotAttributes& dot = ragged.dot;
    const Dims &left = dot.lhs_contracting, &right = dot.rhs_contracting;
    const auto at = std::find(left.begin(), left.end(), ragged.lhs_ragged[0]);
    const Dims rows = Others(lhs, {dot.lhs_batch, left}), columns = Others(rhs, {dot.rhs_batch, right});
    batches_ = SizeOf(lhs, dot.lhs_batch);
    outer_ = SizeOf(lhs, Dims(left.begin(), at));
    ragged_ = lhs.dims[static_cast<size_t>(*at)];
    inner_ = SizeOf(lhs, Dims(at + 1, left.end()));
    depth_ = outer_ * ragged_ * inner_;
    rows_ = SizeOf(lhs, rows);
    columns_ = SizeOf(rhs, columns);
    Pack(lhs, {dot.lhs_batch, rows, left}, lhs_);
    Pack(rhs, {dot.rhs_batch, right, columns}, rhs_);
    set_flops(2.0 * static_cast<double>(Elements(lhs)) * static_cast<double>(columns_));
  }

  // Plans a copy with the dimensions in the order of the lists, unless they are in that order already.
  void Pack(const hlo::Shape& shape, std::initializer_list<absl::Span<const int64_t>> lists,
            Side& side) const {
    const Dims strides = hlo::RowMajorStrides(shape.dims);
    Dims order;
    for (const auto list : lists) order.insert(order.end(), list.begin(), list.end());
    side.count = Elements(shape);
    side.from_width = Width(shape);
    side.width = width_;
    if (std::is_sorted(order.begin(), order.end())) return;
    std::vector<CopyDim> dims(order.size());
    int64_t stride = width_;
    for (size_t i = order.size(); i-- > 0;) {
      const auto d = static_cast<size_t>(order[i]);
      dims[i] = {shape.dims[d], strides[d] * width_, stride};
      stride *= shape.dims[d];
    }
    side.copy.emplace(dims, static_cast<int>(width_));
  }

  DotView ViewOf(int64_t rows) const {
    DotView view;
    view.m = rows;
    view.n = columns_;
    view.k = depth_;
    view.lhs_m = depth_;
    view.lhs_k = 1;
    view.rhs_k = columns_;
    view.rhs_n = 1;
    return view;
  }

  // Makes blocks of a few sizes. The engine's own loops compute the remaining rows of a group.
  void MakeBlocks(int threads) {
    constexpr int64_t kRows[] = {512, 128, 32, 8};
    constexpr double kFlopsMin = 1 << 16;  // The work below which a call costs more than it saves.
    for (const int64_t rows : kRows) {
      const DotView view = ViewOf(rows);
      if (rows > ragged_ * inner_ || view.flops() < kFlopsMin) continue;
      std::unique_ptr<OneDnnMatmul> product = OneDnnMatmul::Make(view, type_, type_, type_, threads);
      if (product != nullptr) blocks_.push_back({rows, std::move(product)});
    }
    if (!blocks_.empty()) set_text(text() + " [oneDNN " + blocks_[0].product->implementation() + "]");
  }

  void Reserve() {
    int64_t bytes = rhs_.Reserve(lhs_.Reserve(0));
    if (out_convert_ != nullptr) {
      out_offset_ = bytes;
      bytes += ScratchAlign(out_count_ * width_);
    }
    library_offset_ = bytes;
    int64_t library = 0;
    for (const Block& block : blocks_) library = std::max(library, block.product->scratch_bytes());
    set_scratch_bytes(bytes + library);
  }

  // Calls body(batch, outer, group, begin, end) for each group that is not empty, where [begin, end) is a
  // range of the ragged dimension, times `inner`. A group of negative size is empty, and groups are truncated
  // at the dimension's end.
  template <typename Body>
  absl::Status ForGroups(const std::byte* sizes, Body body) const {
    const int size_width = hlo::ByteWidth(size_type_);
    for (int64_t batch = 0; batch < batches_; ++batch) {
      for (int64_t outer = 0; outer < outer_; ++outer) {
        const int64_t row = has_rows_ ? batch * outer_ + outer : 0;
        int64_t begin = 0;
        for (int64_t group = 0; group < groups_; ++group) {
          const int64_t size = ReadInteger(sizes + (row * groups_ + group) * size_width, size_type_);
          const int64_t end = begin + std::clamp<int64_t>(size, 0, ragged_ - begin);
          if (end > begin) RETURN_IF_ERROR(body(batch, outer, group, begin * inner_, end * inner_));
          begin = end;
        }
      }
    }
    return absl::OkStatus();
  }

  absl::Status RunRows(const std::byte* lhs, const std::byte* rhs, const std::byte* sizes, std::byte* out,
                       const StepContext& context) const {
    if (depth_ == 0) return absl::OkStatus();
    return ForGroups(sizes, [&](int64_t batch, int64_t outer, int64_t group, int64_t begin, int64_t end) {
      const int64_t first = (batch * outer_ + outer) * ragged_ * inner_;
      const std::byte* right = rhs + (group * batches_ + batch) * depth_ * columns_ * width_;
      for (const Block& block : blocks_) {
        for (; end - begin >= block.rows; begin += block.rows) {
          RETURN_IF_ERROR(block.product->Run(lhs + (first + begin) * depth_ * width_, right,
                                             out + (first + begin) * columns_ * width_,
                                             context.scratch + library_offset_, context));
          RETURN_IF_ERROR(StopCheck::Verdict(context.run));
        }
      }
      if (begin == end) return absl::OkStatus();
      return LoopDot(type_, ViewOf(end - begin), lhs + (first + begin) * depth_ * width_, right,
                     out + (first + begin) * columns_ * width_, context);
    });
  }

  absl::Status RunSums(const std::byte* lhs, const std::byte* rhs, const std::byte* sizes, std::byte* out,
                       const StepContext& context) const {
    return ForGroups(sizes, [&](int64_t batch, int64_t outer, int64_t group, int64_t begin, int64_t end) {
      DotView view = ViewOf(rows_);
      view.k = end - begin;
      view.adds = true;
      const int64_t first = outer * ragged_ * inner_ + begin;
      return LoopDot(type_, view, lhs + (batch * rows_ * depth_ + first) * width_,
                     rhs + (batch * depth_ + first) * columns_ * width_,
                     out + (group * batches_ + batch) * rows_ * columns_ * width_, context);
    });
  }

  RaggedMode mode_ = RaggedMode::kFree;
  hlo::PrimitiveType type_ = hlo::kInvalid, size_type_ = hlo::kInvalid;
  int64_t width_ = 0, out_width_ = 0, out_count_ = 0;
  bool has_rows_ = false;  // True when there are sizes for each batch and outer index.
  int64_t groups_ = 0, batches_ = 1, outer_ = 1, ragged_ = 1, inner_ = 1, depth_ = 1, rows_ = 1, columns_ = 1;
  Side lhs_, rhs_;
  ConvertFunction out_convert_ = nullptr;
  std::vector<Block> blocks_;
  int64_t out_offset_ = 0, library_offset_ = 0;
};

}  // namespace

MaybeStep MakeRaggedDotStep(const hlo::Module&, hlo::Instruction instruction, int threads) {
  if (instruction.opcode() != hlo::kRaggedDot || !AllStatic(instruction)) return nullptr;
  auto step = std::make_unique<RaggedDotStep>(instruction);
  if (!step->Prepare(instruction, threads)) return nullptr;
  return step;
}

}  // namespace hlod::engine
