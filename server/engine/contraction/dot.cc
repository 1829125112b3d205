// The dot step: oneDNN where it has the types, the engine's own loops where it has not or the product is
// tiny.
#include "server/engine/contraction/dot.h"

#include <cstring>
#include <utility>

#include "server/engine/contraction/contraction_steps.h"
#include "server/engine/contraction/onednn.h"
#include "server/engine/run/compute_types.h"
#include "server/engine/run/step_util.h"

namespace hlod::engine {
namespace {

constexpr double kTinyFlops = 2 * 4096;  // Below it a primitive's creation (0.1 ms) never pays.

// Whether oneDNN's product of these types is HLO's. Floats: yes. Integers: into s32 only, which wraps as
// HLO's sums do, and only where the processor sums four products without saturating their pairs; any narrower
// result oneDNN saturates, and a float result it sums in s32.
bool OneDnnSumsAsHlo(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out) {
  if (hlo::IsFloat(lhs) && hlo::IsFloat(rhs) && hlo::IsFloat(out)) return true;
  return hlo::IsInteger(lhs) && hlo::IsInteger(rhs) && out == hlo::kS32 &&
         dnnl::get_effective_cpu_isa() >= dnnl::cpu_isa::avx512_core_vnni;
}

// An operand on its way to the product: converted to the type computed in, then packed; each only when it
// must be.
struct Side {
  ConvertFunction convert = nullptr;
  int64_t count = 0;
  int from_width = 0, width = 0;  // Bytes an element before and after the conversion.
  std::optional<CopyNd> copy;
  int64_t convert_offset = 0, copy_offset = 0;  // In the scratch.

  // Reserves scratch from `bytes` on and returns the new end.
  int64_t Reserve(int64_t bytes) {
    const int64_t size = ScratchAlign(count * width);
    if (convert != nullptr) {
      convert_offset = bytes;
      bytes += size;
    }
    if (copy) {
      copy_offset = bytes;
      bytes += size;
    }
    return bytes;
  }
  const std::byte* Prepare(const std::byte* operand, StepContext& context) const {
    if (convert != nullptr) {
      std::byte* converted = context.scratch + convert_offset;
      ConvertParallel(convert, operand, from_width, converted, width, count, context.threads);
      operand = converted;
    }
    if (copy) {
      std::byte* packed = context.scratch + copy_offset;
      copy->Run(operand, packed, context.threads);
      operand = packed;
    }
    return operand;
  }
};

class DotStep final : public Step {
 public:
  DotStep(hlo::Instruction dot) : text_(DescribeStep(dot)) {}

  StepKind kind() const override { return StepKind::kLibrary; }
  std::string Describe() const override { return text_; }
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  double flops() const override { return view_.flops(); }

  absl::Status Run(const std::byte* const* inputs, std::byte* const* outputs,
                   StepContext& context) const override {
    if (out_count_ == 0) return absl::OkStatus();
    if (view_.k == 0) {
      std::memset(outputs[0], 0, static_cast<size_t>(out_bytes_));
      return absl::OkStatus();
    }
    const std::byte* lhs = lhs_.Prepare(inputs[0], context);
    const std::byte* rhs = rhs_.Prepare(inputs[1], context);
    std::byte* out = out_convert_ != nullptr ? context.scratch + out_offset_ : outputs[0];
    if (primitive_ != nullptr) {
      std::byte* const pointers[] = {const_cast<std::byte*>(lhs), const_cast<std::byte*>(rhs), out};
      if (absl::Status status = primitive_->Run(pointers, context.scratch + primitive_offset_); !status.ok())
        return status;
    } else {
      LoopDot(type_, view_, lhs, rhs, out, context.threads);
    }
    if (out_convert_ != nullptr) {
      ConvertParallel(out_convert_, out, hlo::ByteWidth(type_), outputs[0], out_width_, out_count_,
                      context.threads);
    }
    return absl::OkStatus();
  }

  // Computing in oneDNN on the operands' own types, or after conversion to f32. False when oneDNN has nothing
  // that is worth it.
  bool UseOneDnn(hlo::Instruction dot, hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType out,
                 int threads) {
    const auto lhs_type = OneDnnType(lhs), rhs_type = OneDnnType(rhs), out_type = OneDnnType(out);
    if (!lhs_type || !rhs_type || !out_type) return false;
    for (const bool force_copy : {false, true}) {
      DotForm form = MakeDotForm(dot, hlo::ByteWidth(lhs), hlo::ByteWidth(rhs), force_copy);
      const DotView& v = form.view;
      const auto matrices = [&](int64_t rows, int64_t row_stride, int64_t columns, int64_t column_stride,
                                auto batch_stride) {
        hlo::Dims dims, strides;
        for (size_t i = 0; i < v.batch.size(); ++i) {
          dims.push_back(v.batch[i].size);
          strides.push_back(batch_stride(i));
        }
        dims.insert(dims.end(), {rows, columns});
        strides.insert(strides.end(), {row_stride, column_stride});
        return std::pair(dims, strides);
      };
      const auto [ld, ls] =
          matrices(v.m, v.lhs_m, v.k, v.lhs_k, [&](size_t i) { return v.batch[i].lhs_stride; });
      const auto [rd, rs] =
          matrices(v.k, v.rhs_k, v.n, v.rhs_n, [&](size_t i) { return v.batch[i].rhs_stride; });
      const auto [od, os] = matrices(v.m, v.n, v.n, 1, [&](size_t i) {
        int64_t stride = v.m * v.n;
        for (size_t j = i + 1; j < v.batch.size(); ++j) stride *= v.batch[j].size;
        return stride;
      });
      std::unique_ptr<OneDnnPrimitive> primitive =
          TryOneDnn(threads, [&]() -> std::unique_ptr<OneDnnPrimitive> {
            const dnnl::memory::desc a = OneDnnDesc(ld, ls, *lhs_type), b = OneDnnDesc(rd, rs, *rhs_type);
            const dnnl::memory::desc c = OneDnnDesc(od, os, *out_type);
            dnnl::matmul::primitive_desc pd(dnnl::matmul::desc(a, b, c), OneDnnAttributes(), OneDnnEngine(),
                                            true);
            if (!pd) return nullptr;
            return std::make_unique<OneDnnPrimitive>(
                dnnl::matmul(pd),
                std::vector<OneDnnPrimitive::Argument>{
                    {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}},
                pd.scratchpad_desc(), threads, pd.impl_info_str());
          });
      // "ref" walks element by element; packed operands may find a real kernel.
      if (primitive == nullptr || primitive->implementation().find("ref") != std::string::npos) continue;
      view_ = v;
      lhs_.copy = std::move(form.lhs_copy);
      rhs_.copy = std::move(form.rhs_copy);
      primitive_ = std::move(primitive);
      return true;
    }
    return false;
  }

  // What the dot is computed in, and on what. False when no type fits.
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
    const bool big = view_.flops() > kTinyFlops;
    if (big && OneDnnSumsAsHlo(lhs.type, rhs.type, out.type) &&
        UseOneDnn(dot, lhs.type, rhs.type, out.type, threads))
      return Reserve();

    // In the contraction type, whose arrays are dense in scratch.
    const auto lhs_convert = FindConversion(lhs.type, type_), rhs_convert = FindConversion(rhs.type, type_),
               out_convert = FindConversion(type_, out.type);
    if (!lhs_convert || !rhs_convert || !out_convert) return false;
    lhs_.convert = *lhs_convert;
    rhs_.convert = *rhs_convert;
    out_convert_ = *out_convert;
    lhs_.width = rhs_.width = hlo::ByteWidth(type_);
    if (big && type_ == hlo::kF32 && UseOneDnn(dot, type_, type_, type_, threads)) return Reserve();
    DotForm form = MakeDotForm(dot, lhs_.width, rhs_.width, false);
    // The fast loop wants rhs rows.
    if (big && form.view.rhs_n != 1) form = MakeDotForm(dot, lhs_.width, rhs_.width, true);
    view_ = form.view;
    lhs_.copy = std::move(form.lhs_copy);
    rhs_.copy = std::move(form.rhs_copy);
    return Reserve();
  }

 private:
  bool Reserve() {
    int64_t bytes = rhs_.Reserve(lhs_.Reserve(0));
    if (out_convert_ != nullptr) {
      out_offset_ = bytes;
      bytes += ScratchAlign(out_count_ * hlo::ByteWidth(type_));
    }
    primitive_offset_ = bytes;
    if (primitive_ != nullptr) bytes += primitive_->scratch_bytes();
    scratch_bytes_ = bytes;
    if (primitive_ != nullptr) text_ += " [" + primitive_->implementation() + "]";
    return true;
  }

  std::string text_;
  hlo::PrimitiveType type_ = hlo::kInvalid;
  DotView view_;
  Side lhs_, rhs_;
  ConvertFunction out_convert_ = nullptr;
  int out_width_ = 0;
  int64_t out_count_ = 0, out_bytes_ = 0;
  std::unique_ptr<OneDnnPrimitive> primitive_;
  int64_t out_offset_ = 0, primitive_offset_ = 0, scratch_bytes_ = 0;
};

}  // namespace

MaybeStep MakeDotStep(const hlo::Module& module, hlo::Instruction instruction, int threads) {
  if (instruction.opcode() != hlo::kDot || !AllStatic(instruction)) return nullptr;
  auto step = std::make_unique<DotStep>(instruction);
  if (!step->Prepare(instruction, threads)) return nullptr;
  return step;
}

}  // namespace hlod::engine
