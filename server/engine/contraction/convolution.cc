// The convolution step: chooses the types to compute in, and oneDNN or the engine's own loops.
#include "server/engine/contraction/convolution.h"

#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/contraction/contraction_steps.h"
#include "server/engine/contraction/convolution_lines.h"
#include "server/engine/contraction/exact_sums.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/contraction/panels/pair_convolution.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// The size below which creating primitives (about a millisecond) takes longer than it saves.
constexpr double kTinyConvolutionFlops = 2 * 16384;

class ConvolutionStep final : public Step {
 public:
  explicit ConvolutionStep(hlo::Instruction instruction)
      : Step(StepKind::kLibrary, DescribeStep(instruction)), form_(MakeConvolutionForm(instruction)) {
    set_flops(form_.flops());
  }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (out_.count == 0) return absl::OkStatus();
    if (empty_sum_) return FillZeros(context, outputs[0], out_.count * out_.width);
    const auto convert = [&](const Array& array, const std::byte* from) -> absl::StatusOr<const std::byte*> {
      if (array.convert == nullptr) return from;
      RETURN_IF_ERROR(ConvertParallel(array.convert, from, array.width, context.scratch + array.offset,
                                      hlo::ByteWidth(type_), array.count, context));
      return context.scratch + array.offset;
    };
    ASSIGN_OR_RETURN(const std::byte* lhs, convert(lhs_, inputs[0]));
    ASSIGN_OR_RETURN(const std::byte* rhs, convert(rhs_, inputs[1]));
    std::byte* out = out_.convert != nullptr ? context.scratch + out_.offset : outputs[0];
    if (library_ != nullptr) {
      RETURN_IF_ERROR(library_->Run(lhs, rhs, out, context.scratch + library_offset_, context));
    } else if (pairs_ != nullptr) {
      RETURN_IF_ERROR(pairs_->Run(lhs, rhs, out, context.scratch + library_offset_, context));
    } else {
      RETURN_IF_ERROR(LoopConvolution(type_, form_, lhs, rhs, out, context));
    }
    if (out_.convert == nullptr) return absl::OkStatus();
    return ConvertParallel(out_.convert, out, hlo::ByteWidth(type_), outputs[0], out_.width, out_.count,
                           context);
  }

  bool Prepare(hlo::Instruction instruction, int threads) {
    const hlo::Shape& lhs = instruction.operand(0).shape();
    const hlo::Shape& rhs = instruction.operand(1).shape();
    const hlo::Shape& out = instruction.shape();
    lhs_ = {Elements(lhs), Width(lhs)};
    rhs_ = {Elements(rhs), Width(rhs)};
    out_ = {Elements(out), Width(out)};
    empty_sum_ = lhs_.count == 0 || rhs_.count == 0;
    type_ = ContractionType(lhs.type, rhs.type, out.type);
    if (type_ == hlo::kInvalid) return false;
    const bool big = form_.flops() > kTinyConvolutionFlops;
    // Without instructions for bf16, its kernels take several times as long as those of f32 and the
    // conversions.
    const bool slow = lhs.type == hlo::kBF16 && !OneDnnHas(dnnl::cpu_isa::avx512_core_bf16);
    const bool own = IsFilter(lhs.type, rhs.type, out.type);
    if (big && !slow && !own) library_ = MakeOneDnnConvolution(form_, lhs.type, rhs.type, out.type, threads);
    if (big && library_ == nullptr) pairs_ = PairConvolution::Make(form_, lhs.type, rhs.type, out.type);
    if (pairs_ != nullptr) {
      type_ = hlo::kU32;
      out_.convert = FindConversion(type_, out.type).value_or(nullptr);
    } else if (library_ == nullptr && !(big && UseExactFloats(lhs.type, rhs.type, out.type, threads))) {
      const auto lhs_convert = FindConversion(lhs.type, type_), rhs_convert = FindConversion(rhs.type, type_),
                 out_convert = FindConversion(type_, out.type);
      if (!lhs_convert || !rhs_convert || !out_convert) return false;
      lhs_.convert = *lhs_convert;
      rhs_.convert = *rhs_convert;
      out_.convert = *out_convert;
      if (big && type_ == hlo::kF32 && !own)
        library_ = MakeOneDnnConvolution(form_, type_, type_, type_, threads);
    }
    int64_t scratch = 0;
    for (Array* array : {&lhs_, &rhs_, &out_}) {
      array->offset = scratch;
      if (array->convert != nullptr) scratch += ScratchAlign(array->count * hlo::ByteWidth(type_));
    }
    library_offset_ = scratch;
    if (library_ != nullptr) {
      scratch += library_->scratch_bytes();
      set_text(text() + " [oneDNN " + library_->implementation() + "]");
    }
    if (pairs_ != nullptr) {
      scratch += pairs_->scratch_bytes();
      set_text(text() + " [pairs]");
    }
    set_scratch_bytes(scratch);
    return true;
  }

 private:
  // Returns true for filters of one feature, such as a signal's: oneDNN, which computes the features of a
  // place side by side, takes six times as long for them as sums of shifted lines.
  bool IsFilter(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out) const {
    return lhs == hlo::kF32 && rhs == hlo::kF32 && out == hlo::kF32 && form_.features == 1 &&
           form_.outputs == 1 && form_.feature_groups == 1 && form_.batch_groups == 1 &&
           ChooseConvolutionLines<float>(form_).has_value();
  }

  // Sets up oneDNN to compute a convolution of integers in f32, which is exact and several times as fast as
  // loops over integers. Returns false if it would not be exact, or oneDNN has no kernel.
  bool UseExactFloats(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out, int threads) {
    const auto lhs_convert = FindConversion(lhs, hlo::kF32), rhs_convert = FindConversion(rhs, hlo::kF32);
    const ConvertFunction out_convert = FindWholeSumConversion(out);
    if (!lhs_convert || !rhs_convert || out_convert == nullptr || !SumsAreExactInF32(form_.terms(), lhs, rhs))
      return false;
    library_ = MakeOneDnnConvolution(form_, hlo::kF32, hlo::kF32, hlo::kF32, threads);
    if (library_ == nullptr) return false;
    type_ = hlo::kF32;
    lhs_.convert = *lhs_convert;
    rhs_.convert = *rhs_convert;
    out_.convert = out_convert;
    return true;
  }

  struct Array {
    int64_t count = 0;
    int width = 0;
    ConvertFunction convert = nullptr;
    int64_t offset = 0;  // The offset of the converted array in the scratch.
  };

  ConvolutionForm form_;
  hlo::PrimitiveType type_ = hlo::kInvalid;
  Array lhs_, rhs_, out_;
  bool empty_sum_ = false;
  std::unique_ptr<OneDnnConvolution> library_;
  std::unique_ptr<PairConvolution> pairs_;
  int64_t library_offset_ = 0;
};

}  // namespace

double ConvolutionForm::terms() const {
  double terms = static_cast<double>(features_a_group());
  for (const ConvolutionAxis& axis : axes) terms *= static_cast<double>(axis.kernel);
  return terms;
}

double ConvolutionForm::flops() const {
  double flops = 2.0 * static_cast<double>(out_batches()) * static_cast<double>(outputs) *
                 static_cast<double>(features_a_group());
  for (const ConvolutionAxis& axis : axes)
    flops *= static_cast<double>(axis.kernel) * static_cast<double>(axis.out);
  return flops;
}

ConvolutionForm MakeConvolutionForm(hlo::Instruction convolution) {
  const auto& a = convolution.attributes<hlo::ConvolutionAttributes>();
  const hlo::Shape& lhs = convolution.operand(0).shape();
  const hlo::Shape& rhs = convolution.operand(1).shape();
  const hlo::Shape& out = convolution.shape();
  const hlo::Dims ls = hlo::RowMajorStrides(lhs.dims), rs = hlo::RowMajorStrides(rhs.dims),
                  os = hlo::RowMajorStrides(out.dims);
  ConvolutionForm form;
  form.batch = lhs.dims[a.input_batch];
  form.features = lhs.dims[a.input_feature];
  form.outputs = out.dims[a.output_feature];
  form.feature_groups = a.feature_group_count;
  form.batch_groups = a.batch_group_count;
  form.lhs_batch = ls[a.input_batch];
  form.lhs_feature = ls[a.input_feature];
  form.rhs_input = rs[a.kernel_input_feature];
  form.rhs_output = rs[a.kernel_output_feature];
  form.out_batch = os[a.output_batch];
  form.out_feature = os[a.output_feature];
  for (size_t i = 0; i < a.window.size(); ++i) {
    const int64_t l = a.input_spatial[i], r = a.kernel_spatial[i], o = a.output_spatial[i];
    form.axes.push_back({lhs.dims[l], rhs.dims[r], out.dims[o], ls[l], rs[r], os[o], a.window[i]});
  }
  return form;
}

MaybeStep MakeConvolutionStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (instruction.opcode() != hlo::kConvolution || !AllStatic(instruction)) return nullptr;
  auto step = std::make_unique<ConvolutionStep>(instruction);
  if (!step->Prepare(instruction, threads)) return nullptr;
  return step;
}

}  // namespace hlod::engine
