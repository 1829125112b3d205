// The dot step: the library that the table of products names, or the engine's own loops where no library
// supports the types or the product is tiny.
#include "server/engine/contraction/dot.h"

#include <optional>
#include <utility>

#include "common/base/errors/status.h"
#include "server/engine/contraction/contraction_steps.h"
#include "server/engine/contraction/exact_sums.h"
#include "server/engine/contraction/onednn_matmul.h"
#include "server/engine/contraction/panels/pair_product.h"
#include "server/engine/contraction/panels/panel_product.h"
#include "server/engine/contraction/products.h"
#include "server/engine/contraction/side.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/parallel.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

// The size below which creating a primitive (0.1 ms) takes longer than it saves.
constexpr double kTinyDotFlops = 2 * 4096;

// Returns true when oneDNN's product of these types equals HLO's. That holds for floats. For integers it
// holds only if the result is s32, which wraps like HLO's sums, and if the processor sums four products
// without saturating their pairs. oneDNN saturates narrower results, and sums in s32 when the result is a
// float.
bool OneDnnSumsAsHlo(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out) {
  if (hlo::IsFloat(lhs) && hlo::IsFloat(rhs) && hlo::IsFloat(out)) return true;
  return hlo::IsInteger(lhs) && hlo::IsInteger(rhs) && out == hlo::kS32 &&
         OneDnnHas(dnnl::cpu_isa::avx512_core_vnni);
}

class DotStep final : public Step {
 public:
  // Without a library, the table of products chooses it.
  DotStep(hlo::Instruction dot, std::optional<ProductLibrary> library)
      : Step(StepKind::kLibrary, DescribeStep(dot)), library_(library) {}

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (out_count_ == 0) return absl::OkStatus();
    if (view_.k == 0) return FillZeros(context, outputs[0], out_bytes_);
    ASSIGN_OR_RETURN(const std::byte* lhs, lhs_.Prepare(inputs[0], context));
    ASSIGN_OR_RETURN(const std::byte* rhs, rhs_.Prepare(inputs[1], context));
    std::byte* out = out_convert_ != nullptr ? context.scratch + out_offset_ : outputs[0];
    if (onednn_ != nullptr) {
      RETURN_IF_ERROR(onednn_->Run(lhs, rhs, out, context.scratch + library_offset_, context));
    } else if (panels_ != nullptr) {
      RETURN_IF_ERROR(panels_->Run(lhs, rhs, out, context.scratch + library_offset_, context));
    } else if (pairs_ != nullptr) {
      RETURN_IF_ERROR(pairs_->Run(lhs, rhs, out, context.scratch + library_offset_, context));
    } else {
      RETURN_IF_ERROR(LoopDot(type_, view_, lhs, rhs, out, context));
    }
    if (out_convert_ == nullptr) return absl::OkStatus();
    return ConvertParallel(out_convert_, out, hlo::ByteWidth(type_), outputs[0], out_width_, out_count_,
                           context);
  }

  // Sets up a library on operands of the given types: the best one, else the other. Returns false when
  // neither supports them.
  bool UseLibrary(hlo::Instruction dot, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs,
                  hlo::PrimitiveType out, int threads) {
    const ProductLibrary best = library_.has_value() ? *library_ : BestProductLibrary(view_, lhs, rhs, out);
    const auto use_onednn = [&](bool force_copy) {
      if (view_.flops() <= kTinyDotFlops || !OneDnnSumsAsHlo(lhs, rhs, out)) return false;
      DotForm form = MakeDotForm(dot, hlo::ByteWidth(lhs), hlo::ByteWidth(rhs), force_copy);
      onednn_ = OneDnnMatmul::Make(form.view, lhs, rhs, out, threads);
      if (onednn_ != nullptr) UseForm(std::move(form));
      return onednn_ != nullptr;
    };
    const auto use_panels = [&] {
      DotForm form = MakeDotForm(dot, hlo::ByteWidth(lhs), hlo::ByteWidth(rhs), false);
      panels_ = PanelProduct::Make(form.view, lhs, rhs, out, threads);
      if (panels_ != nullptr) UseForm(std::move(form));
      return panels_ != nullptr;
    };
    if (best == ProductLibrary::kLoops) return false;
    if (best == ProductLibrary::kPanels && use_panels()) return true;
    // With packed operands oneDNN may have a kernel that it lacks for others.
    return use_onednn(false) || (best == ProductLibrary::kOneDnn && use_onednn(true)) || use_panels();
  }

  // Sets up products of pairs, whose sums have 32 bits. Returns false if they do not support the types.
  bool UsePairs(hlo::Instruction dot) {
    if (library_.has_value() || view_.flops() <= kTinyDotFlops) return false;
    const hlo::PrimitiveType out = dot.shape().type;
    DotForm form = MakeDotForm(dot, lhs_.width, rhs_.width, false);
    pairs_ = PairProduct::Make(form.view, dot.operand(0).shape().type, dot.operand(1).shape().type, out);
    if (pairs_ == nullptr) return false;
    UseForm(std::move(form));
    type_ = hlo::kU32;
    out_convert_ = FindConversion(type_, out).value_or(nullptr);
    return true;
  }

  // Sets up a library on integers in f32. Returns false if that would not be exact, or not pay.
  bool UseExactFloats(hlo::Instruction dot, int threads) {
    constexpr hlo::PrimitiveType kType = hlo::kF32;
    const hlo::PrimitiveType lhs = dot.operand(0).shape().type, rhs = dot.operand(1).shape().type;
    const auto lhs_convert = FindConversion(lhs, kType), rhs_convert = FindConversion(rhs, kType);
    const ConvertFunction out_convert = FindWholeSumConversion(dot.shape().type);
    if (!lhs_convert || !rhs_convert || out_convert == nullptr || view_.flops() <= kTinyDotFlops ||
        !SumsAreExactInF32(static_cast<double>(view_.k), lhs, rhs) ||
        !UseLibrary(dot, kType, kType, kType, threads))
      return false;
    type_ = kType;
    lhs_.convert = *lhs_convert;
    rhs_.convert = *rhs_convert;
    out_convert_ = out_convert;
    lhs_.width = rhs_.width = hlo::ByteWidth(kType);
    return true;
  }

  // Chooses the type and the means to compute with. Returns false when no type fits.
  bool Prepare(hlo::Instruction dot, int threads) {
    const hlo::Shape& lhs = dot.operand(0).shape();
    const hlo::Shape& rhs = dot.operand(1).shape();
    const hlo::Shape& out = dot.shape();
    out_count_ = Elements(out);
    out_bytes_ = Bytes(out);
    out_width_ = Width(out);
    lhs_.count = Elements(lhs);
    rhs_.count = Elements(rhs);
    lhs_.from_width = lhs_.width = Width(lhs);
    rhs_.from_width = rhs_.width = Width(rhs);
    type_ = ContractionType(lhs.type, rhs.type, out.type);
    if (type_ == hlo::kInvalid) return false;

    view_ = MakeDotForm(dot, lhs_.width, rhs_.width, false).view;
    if (UseLibrary(dot, lhs.type, rhs.type, out.type, threads)) return Reserve();
    if (UsePairs(dot) || UseExactFloats(dot, threads)) return Reserve();

    // Computes in the contraction type; converted arrays are dense in the scratch.
    const auto lhs_convert = FindConversion(lhs.type, type_), rhs_convert = FindConversion(rhs.type, type_),
               out_convert = FindConversion(type_, out.type);
    if (!lhs_convert || !rhs_convert || !out_convert) return false;
    lhs_.convert = *lhs_convert;
    rhs_.convert = *rhs_convert;
    out_convert_ = *out_convert;
    lhs_.width = rhs_.width = hlo::ByteWidth(type_);
    if (hlo::IsFloat(type_) && UseLibrary(dot, type_, type_, type_, threads)) return Reserve();
    DotForm form = MakeDotForm(dot, lhs_.width, rhs_.width, false);
    // The fast loop needs contiguous rows of rhs.
    if (form.view.n != 1 && form.view.rhs_n != 1 && !form.view.is_tiny() && view_.flops() > kTinyDotFlops)
      form = MakeDotForm(dot, lhs_.width, rhs_.width, true);
    UseForm(std::move(form));
    return Reserve();
  }

 private:
  void UseForm(DotForm form) {
    view_ = std::move(form.view);
    lhs_.copy = std::move(form.lhs_copy);
    rhs_.copy = std::move(form.rhs_copy);
  }

  bool Reserve() {
    int64_t bytes = rhs_.Reserve(lhs_.Reserve(0));
    if (out_convert_ != nullptr) {
      out_offset_ = bytes;
      bytes += ScratchAlign(out_count_ * hlo::ByteWidth(type_));
    }
    library_offset_ = bytes;
    if (onednn_ != nullptr) bytes += onednn_->scratch_bytes();
    if (panels_ != nullptr) bytes += panels_->scratch_bytes();
    if (pairs_ != nullptr) bytes += pairs_->scratch_bytes();
    set_scratch_bytes(bytes);
    set_flops(view_.flops());
    if (onednn_ != nullptr) set_text(text() + " [oneDNN " + onednn_->implementation() + "]");
    if (panels_ != nullptr) set_text(text() + " [panels]");
    if (pairs_ != nullptr) set_text(text() + " [pairs]");
    return true;
  }

  const std::optional<ProductLibrary> library_;
  hlo::PrimitiveType type_ = hlo::kInvalid;
  DotView view_;
  Side lhs_, rhs_;
  ConvertFunction out_convert_ = nullptr;
  int out_width_ = 0;
  int64_t out_count_ = 0, out_bytes_ = 0;
  std::unique_ptr<OneDnnMatmul> onednn_;
  std::unique_ptr<PanelProduct> panels_;
  std::unique_ptr<PairProduct> pairs_;
  int64_t out_offset_ = 0, library_offset_ = 0;
};

MaybeStep MakeDotStepOf(hlo::Instruction instruction, int threads, std::optional<ProductLibrary> library) {
  if (instruction.opcode() != hlo::kDot || !AllStatic(instruction)) return nullptr;
  auto step = std::make_unique<DotStep>(instruction, library);
  if (!step->Prepare(instruction, threads)) return nullptr;
  return step;
}

}  // namespace

MaybeStep MakeDotStep(const hlo::Module&, hlo::Instruction instruction, int threads) {
  return MakeDotStepOf(instruction, threads, std::nullopt);
}

MaybeStep MakeDotStepBy(ProductLibrary library, const hlo::Module&, hlo::Instruction instruction,
                        int threads) {
  return MakeDotStepOf(instruction, threads, library);
}

}  // namespace hlod::engine
