// Layers that pad the last one, two or three dimensions.
#pragma once

#include <string>
#include <utility>

#include "hlod/nn/module.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/sizes.h"

namespace hlod::nn {

// The base of the padding layers. `padding` is one number for all sides, or (low, high) of the last
// dimension, then of the one before, ...: left, right, top, bottom, front, back. A negative amount removes
// elements.
class PadLayer : public Module {
 public:
  Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const;

 protected:
  // Throws unless `padding` has one number, or two for each of `dims` dimensions.
  PadLayer(Module& parent, PartName name, int64_t dims, const Sizes& padding, PadMode mode,
           Scalar value = 0);

 private:
  int64_t dims_;
  Dims padding_;
  PadMode mode_;
  Scalar value_;
};

template <int64_t kDims, PadMode kMode>
struct PadBy : PadLayer {
  PadBy(Module& parent, PartName name, const Sizes& padding)
      : PadLayer(parent, std::move(name), kDims, padding, kMode) {}
};
using ZeroPad1d = PadBy<1, PadMode::kConstant>;
using ZeroPad2d = PadBy<2, PadMode::kConstant>;
using ZeroPad3d = PadBy<3, PadMode::kConstant>;
using ReflectionPad1d = PadBy<1, PadMode::kReflect>;
using ReflectionPad2d = PadBy<2, PadMode::kReflect>;
using ReflectionPad3d = PadBy<3, PadMode::kReflect>;
using ReplicationPad1d = PadBy<1, PadMode::kReplicate>;
using ReplicationPad2d = PadBy<2, PadMode::kReplicate>;
using ReplicationPad3d = PadBy<3, PadMode::kReplicate>;
using CircularPad1d = PadBy<1, PadMode::kCircular>;
using CircularPad2d = PadBy<2, PadMode::kCircular>;
using CircularPad3d = PadBy<3, PadMode::kCircular>;

template <int64_t kDims>
struct ConstantPad : PadLayer {
  ConstantPad(Module& parent, PartName name, const Sizes& padding, Scalar value)
      : PadLayer(parent, std::move(name), kDims, padding, PadMode::kConstant, value) {}
};
using ConstantPad1d = ConstantPad<1>;
using ConstantPad2d = ConstantPad<2>;
using ConstantPad3d = ConstantPad<3>;

}  // namespace hlod::nn
