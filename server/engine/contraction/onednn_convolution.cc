// Convolutions on oneDNN: a kernel for a problem, and reorders before and after it where oneDNN needs a
// layout of its own.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "server/engine/contraction/convolution_problems.h"
#include "server/engine/contraction/exact_sums.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

using dnnl::memory;

// A primitive descriptor of any of the three directions, reduced to the data for running it.
struct Chosen {
  dnnl::primitive primitive;
  memory::desc src, weights, dst, scratch;
  std::string implementation;
};

std::optional<Chosen> Choose(const ConvolutionProblem& p, const memory::desc& src,
                             const memory::desc& weights, const memory::desc& dst) {
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

// One of the three arrays during a run: either HLO's own bytes, or oneDNN's layout in scratch and the reorder
// between the two.
struct Operand {
  int64_t user_offset = 0;     // The offset in bytes into HLO's array.
  std::optional<CopyNd> flip;  // The copy that reverses weights into scratch before.
  int64_t flip_offset = 0;     // The offset of the reversed weights in the scratch.
  std::unique_ptr<OneDnnPrimitive> reorder;
  int64_t reorder_offset = 0;  // The offset of oneDNN's layout of the array in the scratch.
};

class Convolution final : public OneDnnConvolution {
 public:
  // Chooses a kernel and the reorders around it. Returns false if oneDNN has only its reference kernel. May
  // throw dnnl::error.
  bool Prepare(const ConvolutionProblem& problem, std::optional<CopyNd> flip, const int (&widths)[3],
               int threads) {
    const ProblemArray* arrays[3] = {&problem.src, &problem.weights, &problem.dst};
    memory::desc user[3], any[3];
    for (int i = 0; i < 3; ++i) {
      user[i] = memory::desc(arrays[i]->dims, arrays[i]->type, arrays[i]->strides);
      any[i] = memory::desc(arrays[i]->dims, arrays[i]->type, memory::format_tag::any);
    }
    // With channels last, the kernels are as fast as with oneDNN's blocked layouts, and two reorders are
    // saved.
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
    // For each of oneDNN's arrays: HLO's lhs (0), rhs (1) or result (2).
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

  // The primitives run one after another, and share the scratchpad at the end.
  int64_t scratch_bytes() const override { return bytes_ + primitive_scratch_; }
  const std::string& implementation() const override { return primitive_->implementation(); }

  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   const StepContext& context) const override {
    std::byte* const user[3] = {const_cast<std::byte*>(lhs), const_cast<std::byte*>(rhs), out};
    std::byte* scratchpad = scratch + bytes_;
    std::byte* pointers[3];
    for (int i = 0; i < 3; ++i) {
      const Operand& operand = operands_[i];
      std::byte* at = user[role_[i]] + operand.user_offset;
      if (operand.flip) {
        RETURN_IF_ERROR(operand.flip->Run(at, scratch + operand.flip_offset, context));
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

// Returns true for 8-bit integers whose sums oneDNN computes exactly: it converts them to f32, signed ones
// when 128 times the sum of the weights is still added to them.
bool IsByteConvolution(const ConvolutionForm& form, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs,
                       hlo::PrimitiveType out) {
  return (lhs == hlo::kS8 || lhs == hlo::kU8) && rhs == hlo::kS8 && out == hlo::kS32 &&
         OneDnnHas(dnnl::cpu_isa::avx512_core_vnni) && SumsAreExactInF32(form.terms(), hlo::kU8, hlo::kS8);
}

std::unique_ptr<OneDnnConvolution> MakeWhole(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                             hlo::PrimitiveType rhs, hlo::PrimitiveType out, int threads) {
  const auto lhs_type = OneDnnType(lhs), rhs_type = OneDnnType(rhs), out_type = OneDnnType(out);
  const bool bytes = IsByteConvolution(form, lhs, rhs, out);
  if (!lhs_type || !rhs_type || !out_type || !(bytes || (hlo::IsFloat(lhs) && lhs == rhs))) return nullptr;
  if (form.axes.empty() || form.axes.size() > 3) return nullptr;
  const int widths[3] = {hlo::ByteWidth(lhs), hlo::ByteWidth(rhs), hlo::ByteWidth(out)};
  for (ConvolutionProblem& problem : ConvolutionProblems(form, *lhs_type, *rhs_type, *out_type)) {
    if (bytes && problem.direction != Direction::kForward) continue;
    std::optional<CopyNd> flip;
    if (problem.direction != Direction::kBackwardWeights) {
      std::vector<bool> flipped;
      bool any = false;
      for (const ConvolutionAxis& axis : form.axes) {
        flipped.push_back(axis.kernel > 1 &&
                          axis.window.reversal != (problem.direction == Direction::kBackwardData));
        any = any || flipped.back();
      }
      if (any) flip = FlipWeights(problem.weights, flipped, widths[1]);
    }
    auto convolution = std::make_unique<Convolution>();
    const auto prepare = [&] { return convolution->Prepare(problem, std::move(flip), widths, threads); };
    if (TryOneDnn(threads, prepare)) return convolution;
  }
  return nullptr;
}

// A convolution of many images or output features, done in parts. libdnnl cannot be interrupted, so a run may
// stop between the parts.
class SplitConvolution final : public OneDnnConvolution {
 public:
  struct Part {
    int64_t lhs, rhs, out;  // The offsets in bytes at which the part's arrays begin.
    const OneDnnConvolution* convolution;
  };

  int64_t scratch_bytes() const override {
    int64_t most = 0;
    for (const auto& [key, kind] : kinds_) most = std::max(most, kind->scratch_bytes());
    return most;
  }
  const std::string& implementation() const override { return kinds_.begin()->second->implementation(); }

  absl::Status Run(const std::byte* lhs, const std::byte* rhs, std::byte* out, std::byte* scratch,
                   const StepContext& context) const override {
    for (const Part& part : parts_) {
      RETURN_IF_ERROR(StopCheck::Verdict(context.run));
      RETURN_IF_ERROR(
          part.convolution->Run(lhs + part.lhs, rhs + part.rhs, out + part.out, scratch, context));
    }
    return absl::OkStatus();
  }

  // Makes parts of `images` images and `outputs` output features each. Returns false when oneDNN has no
  // kernel for a part.
  bool Prepare(const ConvolutionForm& form, int64_t images, int64_t outputs, hlo::PrimitiveType lhs,
               hlo::PrimitiveType rhs, hlo::PrimitiveType out, int threads) {
    for (int64_t n = 0; n < form.batch; n += images) {
      for (int64_t o = 0; o < form.outputs; o += outputs) {
        ConvolutionForm part = form;
        part.batch = std::min(images, form.batch - n);
        part.outputs = std::min(outputs, form.outputs - o);
        std::unique_ptr<OneDnnConvolution>& kind = kinds_[{part.batch, part.outputs}];
        if (kind == nullptr) kind = MakeWhole(part, lhs, rhs, out, threads);
        if (kind == nullptr) return false;
        parts_.push_back({n * form.lhs_batch * hlo::ByteWidth(lhs), o * form.rhs_output * hlo::ByteWidth(rhs),
                          (n * form.out_batch + o * form.out_feature) * hlo::ByteWidth(out), kind.get()});
      }
    }
    return true;
  }

 private:
  // The primitives by numbers of images and outputs.
  std::map<std::pair<int64_t, int64_t>, std::unique_ptr<OneDnnConvolution>> kinds_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<OneDnnConvolution> MakeOneDnnConvolution(const ConvolutionForm& form, hlo::PrimitiveType lhs,
                                                         hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                                                         int threads) {
  constexpr double kPartFlops = 1e9;  // The work of about 10 ms.
  constexpr int64_t kOutputsMin = 64;
  const double image_flops = form.flops() / static_cast<double>(std::max<int64_t>(1, form.batch));
  if (form.flops() > kPartFlops && form.batch_groups == 1) {
    const int64_t images = std::clamp<int64_t>(static_cast<int64_t>(kPartFlops / image_flops), 1, form.batch);
    int64_t outputs = form.outputs;
    if (image_flops > kPartFlops && form.feature_groups == 1) {
      outputs = static_cast<int64_t>(static_cast<double>(outputs) * kPartFlops / image_flops);
      outputs = std::min(form.outputs, std::max(outputs / kOutputsMin * kOutputsMin, kOutputsMin));
    }
    // More parts would be days of work, and the list of parts is memory that is not charged.
    constexpr int64_t kPartsMax = 1 << 18;
    if (CeilDiv(form.batch, images) > kPartsMax / CeilDiv(form.outputs, outputs)) return nullptr;
    auto split = std::make_unique<SplitConvolution>();
    if (split->Prepare(form, images, outputs, lhs, rhs, out, threads)) return split;
  }
  return MakeWhole(form, lhs, rhs, out, threads);
}

}  // namespace hlod::engine
