// Padding layers.
#include "hlod/nn/padding.h"

#include "absl/strings/str_cat.h"

namespace hlod::nn {

PadLayer::PadLayer(Module& parent, PartName name, int64_t dims, const Sizes& padding, PadMode mode,
                   Scalar value)
    : Module(parent, std::move(name)), dims_(dims), padding_(padding.values()), mode_(mode), value_(value) {
  const auto sides = static_cast<size_t>(2 * dims);
  if (padding_.size() == 1) padding_ = Dims(sides, padding_[0]);
  if (padding_.size() != sides) {
    Refuse(absl::StrCat("padding has ", padding_.size(), " numbers; of ", dims, " dimensions it takes 1 or ",
                        sides),
           "pad", made_at());
  }
}

Tensor PadLayer::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) {
    // PyTorch pads any rank with constants, and for other modes needs channels, with or without a batch.
    const int64_t rank = in[0].rank();
    if (mode_ != PadMode::kConstant && rank != dims_ + 1 && rank != dims_ + 2) {
      Refuse(absl::StrCat("the input has ", rank, " dimensions; it takes ", dims_ + 1, ", or ", dims_ + 2,
                          " with a batch"),
             "pad", caller);
    }
    return Pad(in[0], padding_, mode_, value_);
  });
}

}  // namespace hlod::nn
