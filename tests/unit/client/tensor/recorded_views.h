// The views in programs that PyTorch has run, as their generators record them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hlod/tensor/tensor.h"
#include "nlohmann/json.hpp"

namespace hlod {

inline std::vector<int64_t> List(const nlohmann::json& numbers) {
  return numbers.get<std::vector<int64_t>>();
}

// Returns the view of x that the step ["view", target, x, name, arguments...] describes.
inline Tensor ViewOf(const Tensor& x, const nlohmann::json& step) {
  const std::string name = step[3];
  const auto at = [&](size_t i) { return step[4 + i].get<int64_t>(); };
  if (name == "transpose") return x.Transpose(at(0), at(1));
  if (name == "unsqueeze") return x.Unsqueeze(at(0));
  if (name == "slice") return x.Slice(at(0), at(1), at(2), at(3));
  if (name == "select") return x.Select(at(0), at(1));
  if (name == "narrow") return x.Narrow(at(0), at(1), at(2));
  if (name == "flatten") return x.Flatten();
  if (name == "squeeze") return x.Squeeze();
  if (name == "permute") return x.Permute(List(step[4]));
  if (name == "diagonal") return x.Diagonal(at(0));
  if (name == "as_strided") return x.AsStrided(List(step[4]), List(step[5]), at(2));
  if (name == "view") return x.View(List(step[4]));
  if (name == "reshape") return x.Reshape(List(step[4]));
  if (name == "expand") return x.Expand(List(step[4]));
  if (name == "unfold") return x.Unfold(at(0), at(1), at(2));
  ADD_FAILURE() << "no view " << name;
  return x;
}

}  // namespace hlod
