// torch.nn.utils: weights that are computed from others before each call, and parameters as one vector.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "hlod/nn/module.h"

namespace hlod::nn::utils {

// Salimans and Kingma 2016: the parameter `name` becomes name_g (its norm) and name_v (its direction), and is
// name_g name_v / |name_v| before each call. Norms are over all dimensions but `dim`, or over all of them.
// Make the optimizer afterwards, because the parameters change. Throws for a parameter that does not exist
// (also one that is normalised already), and for a dimension that it does not have.
Module& WeightNorm(Module& module, const std::string& name = "weight", std::optional<int64_t> dim = 0,
                   Caller caller = Caller::Here());
// Undoes WeightNorm: `name` is a parameter again, with its current value. Throws when WeightNorm did not
// normalise it.
Module& RemoveWeightNorm(Module& module, const std::string& name = "weight", Caller caller = Caller::Here());

struct SpectralNormOptions {
  std::string name = "weight";
  int64_t n_power_iterations = 1;  // The number of iterations per call while training.
  double eps = 1e-12;
  // The dimension that becomes the rows of the matrix; nullopt: 0, or 1 for a ConvTranspose.
  std::optional<int64_t> dim = {};
};
// Miyato et al. 2018: the parameter `name` becomes name_orig, and is name_orig divided by its largest
// singular value before each call. The singular value is found by power iteration on the buffers name_u and
// name_v, which begin at random. Throws as WeightNorm does.
Module& SpectralNorm(Module& module, const SpectralNormOptions& options = {}, Caller caller = Caller::Here());
Module& RemoveSpectralNorm(Module& module, const std::string& name = "weight",
                           Caller caller = Caller::Here());

// ParametersToVector concatenates the elements of all parameters. VectorToParameters copies such a vector
// back into parameters, in place and hidden from derivatives; its length must match.
Tensor ParametersToVector(const std::vector<Tensor>& parameters, Caller caller = Caller::Here());
void VectorToParameters(const Tensor& vector, const std::vector<Tensor>& parameters,
                        Caller caller = Caller::Here());

}  // namespace hlod::nn::utils
