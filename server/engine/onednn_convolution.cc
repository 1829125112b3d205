// Convolutions as one of oneDNN's three: forward, backward by data, backward by weights.
//
// HLO has one opcode for all of them. A base dilation is the gradient by data (a transposed convolution); a
// window larger than the result, or batch groups, is the gradient by weights, where batch and feature have
// changed places. Each of the three is given HLO's arrays as strided memory; where oneDNN wants its own
// layout, a reorder goes before or after.
#include <algorithm>
#include <optional>
#include <utility>

#include "common/base/status.h"
#include "server/engine/convolution.h"
#include "server/engine/copy_nd.h"
#include "server/engine/onednn.h"
#include "server/engine/step_util.h"

namespace hlod::engine {
namespace {

using dnnl::memory;
using Dims = memory::dims;

enum class Direction { kForward, kBackwardData, kBackwardWeights };

// One of the three arrays, in oneDNN's order of dimensions: batch, channels, spatial; weights: [groups,]
// outputs, inputs, spatial.
struct Array {
  Dims dims, strides;
  memory::data_type type{};
  int64_t offset = 0;  // Elements before the first, where negative padding crops.
};

struct Problem {
  Direction direction = Direction::kForward;
  Array src, weights, dst;
  Dims strides, dilations, padding_low, padding_high;
};

// Padding after the last element, given all the rest; nothing when none makes oneDNN's size formula true.
std::optional<int64_t> PaddingHigh(int64_t src, int64_t dst, int64_t kernel, int64_t stride, int64_t dilation,
                                   int64_t low) {
  const int64_t exact = (dst - 1) * stride + (kernel - 1) * dilation + 1 - src - low;
  if (exact >= 0) return exact;
  if (exact + stride - 1 >= 0) return 0;
  return std::nullopt;
}

// Gives `weights` its spatial strides reversed by a copy: `flip` is the copy, `weights` becomes dense.
CopyNd FlipWeights(Array& weights, size_t spatial, const std::vector<bool>& flipped, int width) {
  std::vector<CopyDim> dims;
  Dims dense(weights.dims.size(), 1);
  for (size_t d = weights.dims.size(); d-- > 1;) dense[d - 1] = dense[d] * weights.dims[d];
  int64_t start = 0;
  for (size_t d = 0; d < weights.dims.size(); ++d) {
    int64_t stride = weights.strides[d];
    const size_t first_spatial = weights.dims.size() - spatial;
    if (d >= first_spatial && flipped[d - first_spatial]) {
      start += (weights.dims[d] - 1) * stride;
      stride = -stride;
    }
    dims.push_back({weights.dims[d], stride * width, dense[d] * width});
  }
  weights.strides = dense;
  weights.offset = start;  // Where the copy starts reading.
  return CopyNd(dims, width);
}

// The oneDNN problems that a convolution can be posed as.
class Problems {
 public:
  Problems(const ConvolutionForm& form, memory::data_type lhs, memory::data_type rhs, memory::data_type out)
      : form_(form), lhs_(lhs), rhs_(rhs), out_(out) {}

  // The better first.
  std::vector<Problem> All() const {
    std::vector<Problem> problems;
    const bool dilated = std::any_of(form_.axes.begin(), form_.axes.end(),
                                     [](const auto& a) { return a.window.base_dilation > 1; });
    const bool reversed =
        std::any_of(form_.axes.begin(), form_.axes.end(), [](const auto& a) { return a.window.reversal; });
    if (dilated) {
      if (form_.batch_groups == 1) Add(problems, BackwardData());
      return problems;
    }
    double kernel = 1, out = 1;
    for (const ConvolutionAxis& axis : form_.axes) {
      kernel *= static_cast<double>(axis.kernel);
      out *= static_cast<double>(axis.out);
    }
    const bool by_weights = form_.feature_groups == 1 && !reversed;
    if (by_weights && (form_.batch_groups > 1 || kernel > out)) Add(problems, BackwardWeights());
    if (form_.batch_groups == 1) Add(problems, Forward());
    return problems;
  }

 private:
  static void Add(std::vector<Problem>& problems, std::optional<Problem> problem) {
    if (problem) problems.push_back(std::move(*problem));
  }

  // HLO's arrays in oneDNN's order. `groups` > 1 gives weights their leading dimension.
  Array Lhs() const {
    Array array{{form_.batch, form_.features}, {form_.lhs_batch, form_.lhs_feature}, lhs_};
    for (const ConvolutionAxis& axis : form_.axes) Append(array, axis.in, axis.in_stride);
    return array;
  }
  Array Result() const {
    Array array{{form_.out_batches(), form_.outputs}, {form_.out_batch, form_.out_feature}, out_};
    for (const ConvolutionAxis& axis : form_.axes) Append(array, axis.out, axis.out_stride);
    return array;
  }
  static void Append(Array& array, int64_t size, int64_t stride) {
    array.dims.push_back(size);
    array.strides.push_back(stride);
  }

  std::optional<Problem> Forward() const {
    Problem problem;
    problem.src = Lhs();
    problem.dst = Result();
    const int64_t groups = form_.feature_groups, outputs = form_.outputs / groups;
    Array& w = problem.weights;
    w.type = rhs_;
    if (groups > 1) Append(w, groups, outputs * form_.rhs_output);
    Append(w, outputs, form_.rhs_output);
    Append(w, form_.features_a_group(), form_.rhs_input);
    for (size_t i = 0; i < form_.axes.size(); ++i) {
      const ConvolutionAxis& axis = form_.axes[i];
      Append(w, axis.kernel, axis.kernel_stride);
      int64_t& in = problem.src.dims[i + 2];
      int64_t low = axis.window.padding_low;
      if (low < 0) {  // Crop in front.
        problem.src.offset += -low * axis.in_stride;
        in += low;
        low = 0;
      }
      const int64_t reach =
          (axis.out - 1) * axis.window.stride + (axis.kernel - 1) * axis.window.window_dilation + 1 - low;
      in = std::min(in, std::max<int64_t>(reach, 1));  // Crop behind what no window reaches.
      if (in <= 0) return std::nullopt;
      const auto high =
          PaddingHigh(in, axis.out, axis.kernel, axis.window.stride, axis.window.window_dilation, low);
      if (!high) return std::nullopt;
      Append(problem, axis.window.stride, axis.window.window_dilation, low, *high);
    }
    return problem;
  }

  // The gradient by data of a convolution from the result to lhs, whose stride is the base dilation; its
  // weights are flipped.
  std::optional<Problem> BackwardData() const {
    Problem problem;
    problem.direction = Direction::kBackwardData;
    problem.dst = Lhs();
    problem.src = Result();
    const int64_t groups = form_.feature_groups, outputs = form_.outputs / groups;
    Array& w = problem.weights;
    w.type = rhs_;
    if (groups > 1) Append(w, groups, outputs * form_.rhs_output);
    Append(w, form_.features_a_group(), form_.rhs_input);
    Append(w, outputs, form_.rhs_output);
    for (const ConvolutionAxis& axis : form_.axes) {
      if (axis.window.stride != 1) return std::nullopt;
      Append(w, axis.kernel, axis.kernel_stride);
      const int64_t low = (axis.kernel - 1) * axis.window.window_dilation - axis.window.padding_low;
      if (low < 0) return std::nullopt;
      const auto high = PaddingHigh(axis.out, axis.in, axis.kernel, axis.window.base_dilation,
                                    axis.window.window_dilation, low);
      if (!high) return std::nullopt;
      Append(problem, axis.window.base_dilation, axis.window.window_dilation, low, *high);
    }
    return problem;
  }

  // The gradient by weights of a convolution whose images are lhs's features, whose input channels are lhs's
  // batch, whose result's gradient is rhs: stride and dilation change places. Batch groups are its groups.
  std::optional<Problem> BackwardWeights() const {
    Problem problem;
    problem.direction = Direction::kBackwardWeights;
    problem.src = Lhs();
    std::swap(problem.src.dims[0], problem.src.dims[1]);
    std::swap(problem.src.strides[0], problem.src.strides[1]);
    problem.dst = Array{{form_.features, form_.outputs}, {form_.rhs_input, form_.rhs_output}, rhs_};
    const int64_t groups = form_.batch_groups, outputs = form_.outputs / groups;
    Array& w = problem.weights;
    w.type = out_;
    if (groups > 1) Append(w, groups, outputs * form_.out_feature);
    Append(w, outputs, form_.out_feature);
    Append(w, form_.out_batches(), form_.out_batch);
    for (size_t i = 0; i < form_.axes.size(); ++i) {
      const ConvolutionAxis& axis = form_.axes[i];
      Append(problem.dst, axis.kernel, axis.kernel_stride);
      Append(w, axis.out, axis.out_stride);
      const int64_t low = axis.window.padding_low;
      if (low < 0) return std::nullopt;
      int64_t& in = problem.src.dims[i + 2];
      const int64_t reach =
          (axis.kernel - 1) * axis.window.window_dilation + (axis.out - 1) * axis.window.stride + 1 - low;
      in = std::min(in, std::max<int64_t>(reach, 1));
      const auto high =
          PaddingHigh(in, axis.kernel, axis.out, axis.window.window_dilation, axis.window.stride, low);
      if (!high) return std::nullopt;
      Append(problem, axis.window.window_dilation, axis.window.stride, low, *high);
    }
    return problem;
  }

  static void Append(Problem& problem, int64_t stride, int64_t dilation, int64_t low, int64_t high) {
    problem.strides.push_back(stride);
    problem.dilations.push_back(dilation - 1);
    problem.padding_low.push_back(low);
    problem.padding_high.push_back(high);
  }

  const ConvolutionForm& form_;
  memory::data_type lhs_, rhs_, out_;
};

// A primitive descriptor of any of the three directions, reduced to what running needs.
struct Chosen {
  dnnl::primitive primitive;
  memory::desc src, weights, dst, scratch;
  std::string implementation;
};

std::optional<Chosen> Choose(const Problem& p, const memory::desc& src, const memory::desc& weights,
                             const memory::desc& dst) {
  using dnnl::algorithm;
  const auto& engine = OneDnnEngine();
  const dnnl::primitive_attr attributes = OneDnnAttributes();
  const dnnl::convolution_forward::desc forward(p.direction == Direction::kForward
                                                    ? dnnl::prop_kind::forward_inference
                                                    : dnnl::prop_kind::forward_training,
                                                algorithm::convolution_direct, src, weights, dst, p.strides,
                                                p.dilations, p.padding_low, p.padding_high);
  const dnnl::convolution_forward::primitive_desc hint(forward, attributes, engine, true);
  if (!hint) return std::nullopt;
  switch (p.direction) {
    case Direction::kForward:
      return Chosen{
          dnnl::convolution_forward(hint), hint.src_desc(),     hint.weights_desc(), hint.dst_desc(),
          hint.scratchpad_desc(),          hint.impl_info_str()};
    case Direction::kBackwardData: {
      const dnnl::convolution_backward_data::desc desc(algorithm::convolution_direct, src, weights, dst,
                                                       p.strides, p.dilations, p.padding_low, p.padding_high);
      const dnnl::convolution_backward_data::primitive_desc pd(desc, attributes, engine, hint, true);
      if (!pd) return std::nullopt;
      return Chosen{dnnl::convolution_backward_data(pd),
                    pd.diff_src_desc(),
                    pd.weights_desc(),
                    pd.diff_dst_desc(),
                    pd.scratchpad_desc(),
                    pd.impl_info_str()};
    }
    case Direction::kBackwardWeights: {
      const dnnl::convolution_backward_weights::desc desc(algorithm::convolution_direct, src, weights, dst,
                                                          p.strides, p.dilations, p.padding_low,
                                                          p.padding_high);
      const dnnl::convolution_backward_weights::primitive_desc pd(desc, attributes, engine, hint, true);
      if (!pd) return std::nullopt;
      return Chosen{dnnl::convolution_backward_weights(pd),
                    pd.src_desc(),
                    pd.diff_weights_desc(),
                    pd.diff_dst_desc(),
                    pd.scratchpad_desc(),
                    pd.impl_info_str()};
    }
  }
  return std::nullopt;
}

bool IsReference(const std::string& implementation) {
  return implementation.find("ref") != std::string::npos;
}

// One of the three arrays while running: HLO's own bytes, or oneDNN's layout in scratch and the reorder
// between them.
struct Operand {
  int64_t user_offset = 0;     // Bytes into HLO's array.
  std::optional<CopyNd> flip;  // Weights are read backwards into scratch first ...
  int64_t flip_offset = 0;     // ... at this place.
  std::unique_ptr<OneDnnPrimitive> reorder;
  int64_t reorder_offset = 0;  // oneDNN's layout of it, in scratch.
};

class Convolution final : public OneDnnConvolution {
 public:
  // Chooses a kernel and the reorders around it. False when oneDNN has none but its reference. May throw
  // dnnl::error.
  bool Prepare(const Problem& problem, std::optional<CopyNd> flip, const int (&widths)[3], int threads) {
    const Array* arrays[3] = {&problem.src, &problem.weights, &problem.dst};
    memory::desc user[3], any[3];
    for (int i = 0; i < 3; ++i) {
      user[i] = memory::desc(arrays[i]->dims, arrays[i]->type, arrays[i]->strides);
      any[i] = memory::desc(arrays[i]->dims, arrays[i]->type, memory::format_tag::any);
    }
    // Channels last is as fast as oneDNN's blocks and saves two reorders.
    std::optional<Chosen> chosen;
    if (problem.src.strides[1] == 1 && problem.dst.strides[1] == 1)
      chosen = Choose(problem, user[0], any[1], user[2]);
    if (!chosen || IsReference(chosen->implementation)) chosen = Choose(problem, any[0], any[1], any[2]);
    if (!chosen || IsReference(chosen->implementation)) return false;

    const bool data = problem.direction == Direction::kBackwardData,
               weights = problem.direction == Direction::kBackwardWeights;
    using Arguments = std::vector<OneDnnPrimitive::Argument>;
    primitive_ = std::make_unique<OneDnnPrimitive>(
        chosen->primitive,
        Arguments{{data ? DNNL_ARG_DIFF_SRC : DNNL_ARG_SRC, chosen->src},
                  {weights ? DNNL_ARG_DIFF_WEIGHTS : DNNL_ARG_WEIGHTS, chosen->weights},
                  {data || weights ? DNNL_ARG_DIFF_DST : DNNL_ARG_DST, chosen->dst}},
        chosen->scratch, threads, chosen->implementation);
    primitive_scratch_ = primitive_->scratch_bytes();
    // Which of HLO's lhs (0), rhs (1), result (2) each of oneDNN's arrays is.
    role_[0] = data ? 2 : 0;
    role_[1] = weights ? 2 : 1;
    role_[2] = data ? 0 : weights ? 1 : 2;
    const memory::desc* theirs[3] = {&chosen->src, &chosen->weights, &chosen->dst};
    for (int i = 0; i < 3; ++i) {
      Operand& operand = operands_[i];
      operand.user_offset = arrays[i]->offset * widths[role_[i]];
      if (i == 1 && flip) {
        operand.flip = std::move(flip);
        operand.flip_offset = Reserve(static_cast<int64_t>(user[i].get_size()));
      }
      if (*theirs[i] == user[i]) continue;
      const memory::desc& from = role_[i] == 2 ? *theirs[i] : user[i];
      const memory::desc& to = role_[i] == 2 ? user[i] : *theirs[i];
      const dnnl::reorder::primitive_desc pd(OneDnnEngine(), from, OneDnnEngine(), to, OneDnnAttributes());
      operand.reorder = std::make_unique<OneDnnPrimitive>(dnnl::reorder(pd),
                                                          Arguments{{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}},
                                                          pd.scratchpad_desc(), threads, pd.impl_info_str());
      operand.reorder_offset = Reserve(static_cast<int64_t>(theirs[i]->get_size()));
      primitive_scratch_ = std::max(primitive_scratch_, operand.reorder->scratch_bytes());
    }
    return true;
  }

  // The primitives run one after the other and share the scratchpad at the end.
  int64_t scratch_bytes() const override { return bytes_ + primitive_scratch_; }
  const std::string& implementation() const override { return primitive_->implementation(); }

  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   int threads) const override {
    std::byte* const user[3] = {const_cast<std::byte*>(lhs), const_cast<std::byte*>(rhs), out};
    std::byte* scratchpad = scratch + bytes_;
    std::byte* pointers[3];
    for (int i = 0; i < 3; ++i) {
      const Operand& operand = operands_[i];
      std::byte* at = user[role_[i]] + operand.user_offset;
      if (operand.flip) {
        operand.flip->Run(at, scratch + operand.flip_offset, threads);
        at = scratch + operand.flip_offset;
      }
      pointers[i] = operand.reorder == nullptr ? at : scratch + operand.reorder_offset;
      if (operand.reorder != nullptr && role_[i] != 2)
        RETURN_IF_ERROR(operand.reorder->Run({at, pointers[i]}, scratchpad));
    }
    RETURN_IF_ERROR(primitive_->Run(pointers, scratchpad));
    for (int i = 0; i < 3; ++i) {
      const Operand& operand = operands_[i];
      if (role_[i] != 2 || operand.reorder == nullptr) continue;
      RETURN_IF_ERROR(operand.reorder->Run({pointers[i], user[2] + operand.user_offset}, scratchpad));
    }
    return absl::OkStatus();
  }

 private:
  int64_t Reserve(int64_t bytes) {
    const int64_t offset = bytes_;
    bytes_ += ScratchAlign(bytes);
    return offset;
  }

  int role_[3] = {0, 1, 2};
  std::unique_ptr<OneDnnPrimitive> primitive_;
  Operand operands_[3];  // src, weights, dst
  int64_t bytes_ = 0, primitive_scratch_ = 0;
};

}  // namespace

std::unique_ptr<OneDnnConvolution> MakeOneDnnConvolution(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                                         hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                                                         int threads) {
  const auto lhs_type = OneDnnType(lhs), rhs_type = OneDnnType(rhs), out_type = OneDnnType(out);
  if (!lhs_type || !rhs_type || !out_type || !hlo::IsFloat(lhs) || lhs != rhs) return nullptr;
  if (form.axes.empty() || form.axes.size() > 3) return nullptr;
  const int widths[3] = {hlo::ByteWidth(lhs), hlo::ByteWidth(rhs), hlo::ByteWidth(out)};
  for (Problem& problem : Problems(form, *lhs_type, *rhs_type, *out_type).All()) {
    std::optional<CopyNd> flip;
    if (problem.direction != Direction::kBackwardWeights) {
      std::vector<bool> flipped;
      bool any = false;
      for (const ConvolutionAxis& axis : form.axes) {
        flipped.push_back(axis.kernel > 1 &&
                          axis.window.reversal != (problem.direction == Direction::kBackwardData));
        any = any || flipped.back();
      }
      if (any) flip = FlipWeights(problem.weights, form.axes.size(), flipped, widths[1]);
    }
    auto convolution = std::make_unique<Convolution>();
    const auto prepare = [&] { return convolution->Prepare(problem, std::move(flip), widths, threads); };
    if (TryOneDnn(threads, prepare)) return convolution;
  }
  return nullptr;
}

}  // namespace hlod::engine
