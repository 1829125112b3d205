// torch.nn.utils: weights that are computed from others before each call, and parameters as one vector.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlod/nn/module.h"

namespace hlod::nn::utils {

// Salimans and Kingma 2016: the parameter `name` becomes name_g (its norm) and name_v (its direction), and is
// name_g name_v / |name_v| before each call. Norms are over all dimensions but `dim`, or over all of them. An
// optimizer is made afterwards, for it takes the new parameters. Throws for a parameter that does not exist,
// as one that is normalised already, and for a dimension that it has not.
Module& WeightNorm(Module& module, const std::string& name = "weight", std::optional<int64_t> dim = 0,
                   Caller caller = Caller::Here());
// Undoes WeightNorm: `name` is a parameter again, with its present value. Throws when it was not normalised
// by WeightNorm.
Module& RemoveWeightNorm(Module& module, const std::string& name = "weight", Caller caller = Caller::Here());

struct SpectralNormOptions {
  std::string name = "weight";
  int64_t n_power_iterations = 1;  // At each call while training.
  double eps = 1e-12;
  std::optional<int64_t> dim = {};  // The rows of the matrix: 0, of a ConvTranspose 1.
};
// Miyato et al. 2018: the parameter `name` becomes name_orig, and is name_orig divided by its largest
// singular value before each call. The value comes of power iterations on the buffers name_u and name_v,
// which begin at random. Throws as WeightNorm does.
Module& SpectralNorm(Module& module, const SpectralNormOptions& options = {}, Caller caller = Caller::Here());
Module& RemoveSpectralNorm(Module& module, const std::string& name = "weight",
                           Caller caller = Caller::Here());

// The elements of all parameters one after another; and the values of parameters from such a vector, in place
// and outside of what derivatives see. The vector must have as many elements.
Tensor ParametersToVector(const std::vector<Tensor>& parameters, Caller caller = Caller::Here());
void VectorToParameters(const Tensor& vector, const std::vector<Tensor>& parameters,
                        Caller caller = Caller::Here());

}  // namespace hlod::nn::utils
