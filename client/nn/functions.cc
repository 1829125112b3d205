// The layers that are functions without weights (hlod/nn/activations.h, hlod/nn/pooling.h). Here, because
// each function that is put into a std::function costs every file that includes the header time.
#include "hlod/nn/activations.h"
#include "hlod/nn/pooling.h"

namespace hlod::nn {

Tensor Function::operator()(const Tensor& x, Caller caller) const {
  return Forward(caller, {x}, [&](Tensors in) { return call_(in[0]); });
}

Gelu::Gelu(Module& parent, std::string name, GeluApproximation approximation)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Gelu(x, approximation); }) {}

LeakyRelu::LeakyRelu(Module& parent, std::string name, double slope)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::LeakyRelu(x, slope); }) {}

Elu::Elu(Module& parent, std::string name, double alpha)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Elu(x, alpha); }) {}

Celu::Celu(Module& parent, std::string name, double alpha)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Celu(x, alpha); }) {}

Softplus::Softplus(Module& parent, std::string name, double beta, double threshold)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softplus(x, beta, threshold); }) {
}

Hardtanh::Hardtanh(Module& parent, std::string name, double min, double max)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Hardtanh(x, min, max); }) {}

Hardshrink::Hardshrink(Module& parent, std::string name, double lambda)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Hardshrink(x, lambda); }) {}

Softshrink::Softshrink(Module& parent, std::string name, double lambda)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softshrink(x, lambda); }) {}

Threshold::Threshold(Module& parent, std::string name, Scalar threshold, Scalar value)
    : Function(parent, std::move(name),
               [=](const Tensor& x) { return hlod::Threshold(x, threshold, value); }) {}

Glu::Glu(Module& parent, std::string name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Glu(x, dim); }) {}

Softmax::Softmax(Module& parent, std::string name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softmax(x, dim); }) {}

LogSoftmax::LogSoftmax(Module& parent, std::string name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::LogSoftmax(x, dim); }) {}

Softmin::Softmin(Module& parent, std::string name, int64_t dim)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Softmin(x, dim); }) {}
Upsample::Upsample(Module& parent, std::string name, InterpolateOptions options)
    : Function(parent, std::move(name),
               [options = std::move(options)](const Tensor& x) { return Interpolate(x, options); }) {}

PixelShuffle::PixelShuffle(Module& parent, std::string name, int64_t factor)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::PixelShuffle(x, factor); }) {}

PixelUnshuffle::PixelUnshuffle(Module& parent, std::string name, int64_t factor)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::PixelUnshuffle(x, factor); }) {}

Flatten::Flatten(Module& parent, std::string name, int64_t start, int64_t end)
    : Function(parent, std::move(name), [=](const Tensor& x) { return hlod::Flatten(x, start, end); }) {}

Identity::Identity(Module& parent, std::string name)
    : Function(parent, std::move(name), [](const Tensor& x) { return x; }) {}
}  // namespace hlod::nn
