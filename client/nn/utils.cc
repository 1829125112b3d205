// Normalised weights: the tensors that take a weight's place, and how the weight is computed from them.
#include "hlod/nn/utils.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/nn/module_hooks.h"
#include "client/tensor/value/throw.h"
#include "hlod/nn/layers.h"
#include "hlod/ops/joining.h"
#include "hlod/ops/linear_algebra.h"
#include "hlod/ops/math.h"
#include "hlod/ops/nn/distance.h"
#include "hlod/ops/norm.h"
#include "hlod/ops/random.h"
#include "hlod/tensor/autograd.h"

namespace hlod::nn::utils {
namespace {

// Returns the norm over all dimensions but `dim`, which stays a dimension; over all of them when there is
// none.
Tensor NormExcept(const Tensor& v, std::optional<int64_t> dim) {
  if (!dim.has_value()) return Norm(v);
  Dims others;
  for (int64_t i = 0; i < v.rank(); ++i) {
    if (i != *dim) others.push_back(i);
  }
  return others.empty() ? Abs(v) : Norm(v, 2, others, /*keepdim=*/true);
}

class WeightNormed : public Reparametrization {
 public:
  WeightNormed(std::string name, Tensor& weight, std::optional<int64_t> dim)
      : Reparametrization(std::move(name), weight), dim_(dim) {
    const NoGrad scope;
    v = weight.Detach().Clone();
    g = NormExcept(v, dim_);
  }
  Tensor Compute(bool) const override { return v * (g / NormExcept(v, dim_)); }
  std::vector<const Tensor*> Parts() const override { return {&g, &v}; }
  Tensor g, v;

 private:
  const std::optional<int64_t> dim_;
};

class SpectralNormed : public Reparametrization {
 public:
  SpectralNormed(Tensor& weight, const SpectralNormOptions& options, int64_t dim)
      : Reparametrization(options.name, weight), options_(options), dim_(dim) {
    const NoGrad scope;
    orig = weight.Detach().Clone();
    const Tensor matrix = Matrix();
    const TensorOptions like = {.type = orig.dtype(), .device = orig.device()};
    u = Normalize(Randn({matrix.size(0)}, like), 2, 0, options.eps);
    v = Normalize(Randn({matrix.size(1)}, like), 2, 0, options.eps);
  }

  Tensor Compute(bool training) const override {
    const Tensor matrix = Matrix();
    Tensor left = u, right = v;
    if (training && options_.n_power_iterations > 0) {
      const NoGrad scope;
      const Tensor fixed = matrix.Detach();
      for (int64_t i = 0; i < options_.n_power_iterations; ++i) {
        right = Normalize(Mv(fixed.T(), left), 2, 0, options_.eps);
        left = Normalize(Mv(fixed, right), 2, 0, options_.eps);
      }
      // Copies share the buffers' data; the factors below keep this call's values.
      Tensor(u).Copy_(left);
      Tensor(v).Copy_(right);
    }
    return orig / Dot(left.Detach(), Mv(matrix, right.Detach()));
  }
  std::vector<const Tensor*> Parts() const override { return {&orig, &u, &v}; }
  Tensor orig, u, v;

 private:
  // Returns the weight as a matrix whose rows are dimension dim_.
  Tensor Matrix() const {
    Dims order = {dim_};
    for (int64_t i = 0; i < orig.rank(); ++i) {
      if (i != dim_) order.push_back(i);
    }
    return orig.Permute(order).Reshape({orig.size(dim_), -1});
  }

  const SpectralNormOptions options_;
  const int64_t dim_;
};

// Takes the parameter `name` out of the module's list and returns it. Throws when there is none, or when it
// does not have the dimension `dim`.
Tensor& Taken(Module& module, const std::string& name, std::optional<int64_t> dim, const char* operation,
              const Caller& caller) {
  std::vector<std::string> names;
  for (const auto& [other, tensor] : module.NamedParameters()) {
    if (other.find('.') == std::string::npos) names.push_back(other);
    if (other == name && dim.has_value() && (*dim < 0 || *dim >= tensor.rank())) {
      lazy::Throw(ErrorKind::kArgument,
                  absl::StrCat(name, " has ", tensor.rank(), " dimensions, and none is ", *dim), operation,
                  caller);
    }
  }
  Tensor* const weight = ModuleHooks::Unregister(module, name);
  if (weight == nullptr) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the module has no parameter of its own named ", name, "; it has (",
                             absl::StrJoin(names, ", "), ")"),
                operation, caller);
  }
  return *weight;
}

template <typename Normed>
Module& Remove(Module& module, const std::string& name, const char* operation, const Caller& caller) {
  std::vector<std::unique_ptr<Reparametrization>>& weights = ModuleHooks::Of(module).weights;
  const auto found = std::ranges::find_if(weights, [&](const auto& weight) {
    return weight->name() == name && dynamic_cast<Normed*>(weight.get()) != nullptr;
  });
  if (found == weights.end()) {
    lazy::Throw(ErrorKind::kArgument, absl::StrCat(name, " is not a parameter that was normalised so"),
                operation, caller);
  }
  Tensor& weight = (*found)->weight();
  {
    const NoGrad scope;
    weight = (*found)->Compute(/*training=*/false);
  }
  for (const Tensor* part : (*found)->Parts()) ModuleHooks::Unregister(module, part);
  weights.erase(found);
  ModuleHooks::RegisterParameter(module, name, weight);
  return module;
}

}  // namespace

Module& WeightNorm(Module& module, const std::string& name, std::optional<int64_t> dim, Caller caller) {
  const CallerScope scope(caller);
  Tensor& weight = Taken(module, name, dim, "weight_norm", caller);
  auto normed = std::make_unique<WeightNormed>(name, weight, dim);
  ModuleHooks::RegisterParameter(module, name + "_g", normed->g);
  ModuleHooks::RegisterParameter(module, name + "_v", normed->v);
  weight = normed->Compute(module.training());
  ModuleHooks::Of(module).weights.push_back(std::move(normed));
  return module;
}

Module& RemoveWeightNorm(Module& module, const std::string& name, Caller caller) {
  const CallerScope scope(caller);
  return Remove<WeightNormed>(module, name, "remove_weight_norm", caller);
}

Module& SpectralNorm(Module& module, const SpectralNormOptions& options, Caller caller) {
  const CallerScope scope(caller);
  const int64_t dim = options.dim.value_or(dynamic_cast<ConvTranspose*>(&module) == nullptr ? 0 : 1);
  Tensor& weight = Taken(module, options.name, dim, "spectral_norm", caller);
  auto normed = std::make_unique<SpectralNormed>(weight, options, dim);
  ModuleHooks::RegisterParameter(module, options.name + "_orig", normed->orig);
  ModuleHooks::RegisterBuffer(module, options.name + "_u", normed->u);
  ModuleHooks::RegisterBuffer(module, options.name + "_v", normed->v);
  weight = normed->orig.Detach();
  ModuleHooks::Of(module).weights.push_back(std::move(normed));
  return module;
}

Module& RemoveSpectralNorm(Module& module, const std::string& name, Caller caller) {
  const CallerScope scope(caller);
  return Remove<SpectralNormed>(module, name, "remove_spectral_norm", caller);
}

Tensor ParametersToVector(const std::vector<Tensor>& parameters, Caller caller) {
  const CallerScope scope(caller);
  std::vector<Tensor> flat;
  for (const Tensor& parameter : parameters) flat.push_back(parameter.Reshape({-1}));
  return Cat(flat);
}

void VectorToParameters(const Tensor& vector, const std::vector<Tensor>& parameters, Caller caller) {
  const CallerScope scope(caller);
  int64_t elements = 0;
  for (const Tensor& parameter : parameters) elements += parameter.numel();
  if (vector.rank() != 1 || vector.numel() != elements) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the parameters have ", elements, " elements, and the vector is ",
                             hlo::ToStringNoLayout(vector.shape())),
                "vector_to_parameters", caller);
  }
  const NoGrad no_grad;
  int64_t at = 0;
  for (Tensor parameter : parameters) {
    parameter.Copy_(vector.Narrow(0, at, parameter.numel()).Reshape(parameter.dims()));
    at += parameter.numel();
  }
}

}  // namespace hlod::nn::utils
