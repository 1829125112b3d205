// Small programs at edges: dimensions of size 0, tensors without dimensions, broadcasts, repeated updates
// under views, negative indices and steps, mixed types. generate.py has the same programs, by the same names,
// which PyTorch ran or refused.
#include "tests/unit/client/tensor/edges/edges.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/support/source_dir.h"

namespace hlod {
namespace {

using nlohmann::json;

Programs OfNone() {
  return {
      {"sum_of_none",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {0, 3}), y = Sum(x) + 2;
         y.Backward();
         return {y, x.Grad()};
       }},
      {"max_of_none",
       [](const Device& d) -> Results {
         return {Amax(Ramp(d, {0, 3}))};
       }},
      {"mean_of_none",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 0}), y = Mean(x, 1);
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"prod_of_none",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 0}), y = Prod(x, 1);
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
      {"add_into_an_empty_slice",
       [](const Device& d) -> Results {
         const Tensor x = Ramp(d, {3, 2});
         x.Slice(0, 2, 2).Add_(5);
         x.Slice(0, 3).Mul_(0);
         return {x};
       }},
      {"cat_with_none",
       [](const Device& d) -> Results {
         const Tensor a = Leaf(d, {0, 2}), b = Leaf(d, {2, 2}), y = Cat({a, b, a}, 0);
         Sum(y * y).Backward();
         return {y, a.Grad(), b.Grad()};
       }},
      {"matmul_over_none",
       [](const Device& d) -> Results {
         const Tensor a = Leaf(d, {2, 0}), b = Leaf(d, {0, 3}), y = MatMul(a, b);
         Sum(y).Backward();
         return {y, a.Grad(), b.Grad()};
       }},
      {"broadcast_of_none",
       [](const Device& d) -> Results {
         const Tensor a = Leaf(d, {1, 3}), b = Leaf(d, {0, 1}), y = a * b;
         Sum(y).Backward();
         return {y, a.Grad(), b.Grad()};
       }},
  };
}

Programs OfNoIndices() {
  return {
      {"index_add_of_none",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3, 2}), s = Leaf(d, {0, 2});
         const Tensor y = IndexAdd(x, 0, Zeros({0}, {.type = kS64, .device = d}), s);
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"gather_of_none",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3, 2}), y = Gather(x, 0, Zeros({0, 2}, {.type = kS64, .device = d}));
         const Tensor z = Index(x.Slice(1, 1), {Zeros({0}, {.type = kS64, .device = d})});
         (Sum(y) + Sum(z)).Backward();
         return {y, z, x.Grad()};
       }},
      {"masked_select_of_none",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 3}), y = MaskedSelect(x, Lt(x, 0));
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"view_with_inferred_of_none",
       [](const Device& d) -> Results {
         return {Ramp(d, {0, 3}).View({3, -1}), Ramp(d, {0, 3}).Reshape({0, 5})};
       }},
      {"infer_of_none",
       [](const Device& d) -> Results {
         return {Ramp(d, {0, 3}).Reshape({-1, 0})};
       }},
      {"softmax_of_none_and_of_a_number",
       [](const Device& d) -> Results {
         return {Softmax(Ramp(d, {2, 0}), 1), Softmax(Full({}, 3.0, {.type = kF32, .device = d}), 0),
                 Logsumexp(Ramp(d, {2, 0}), 1)};
       }},
  };
}

Programs OfNumbers() {
  return {
      {"zero_d_in_place",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {2}, {}).RequiresGrad_();
         Tensor y = x * 3;
         y.Add_(1).Mul_(y.Detach().Clone());
         y.Backward();
         return {y, x.Grad()};
       }},
      {"zero_d_expanded",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {2}, {}).RequiresGrad_(), y = x.Expand({2, 3});
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
      {"zero_d_promotes_not",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {2.5}, {});
         return {Ramp(d, {2}, kF32) + x, Ramp(d, {2}, kS64) + x, Ramp(d, {2}, kS32) * Indices(d, {3}, {})};
       }},
      {"integer_plus_half_in_place",
       [](const Device& d) -> Results { return {Ramp(d, {3}, kS64).Add_(0.5)}; }},
      {"float_takes_integers_in_place",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3}, kF32);
         Tensor y = x * 1;
         y.Mul_(Ramp(d, {3}, kS64)).Add_(Ne(Indices(d, {1, 0, 1}, {3}), 0));
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"half_by_double",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3}, kF16), w = Leaf(d, {3}), y = x * w;
         Sum(y).Backward();
         return {y, x.Grad(), w.Grad()};
       }},
      {"divide_integers",
       [](const Device& d) -> Results {
         const Tensor a = Indices(d, {-7, 7, -8}, {3}), b = Indices(d, {2, -2, 3}, {3});
         return {a / b, FloorDivide(a, b), TruncDivide(a, b), Remainder(a, b), Fmod(a, b)};
       }},
      {"where_of_two_types",
       [](const Device& d) -> Results {
         const Tensor a = Leaf(d, {3}, kF32), b = Leaf(d, {3}), y = Where(Gt(a, 2), a, b);
         Sum(y * y).Backward();
         return {y, a.Grad(), b.Grad()};
       }},
      {"copy_broadcasts_and_converts",
       [](const Device& d) -> Results {
         Tensor x = Ramp(d, {2, 3}, kF32);
         x.Copy_(Indices(d, {1, 2, 3}, {3}));
         x.Select(1, 0).Copy_(Values(d, {7.5}, {}));
         return {x};
       }},
  };
}

Programs OfUpdates() {
  return {
      {"write_to_an_expanded",
       [](const Device& d) -> Results {
         const Tensor x = Ramp(d, {1, 3});
         x.Expand({2, 3}).Add_(1);
         return {x};
       }},
      {"write_to_expanded_of_one",
       [](const Device& d) -> Results {
         const Tensor x = Ramp(d, {1, 3});
         x.Expand({1, 3}).Add_(1);
         return {x};
       }},
      {"chain_under_views",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 3}), y = x * 1;
         Tensor v = y.T().Slice(0, 1);
         v.Mul_(2);
         v[0].Add_(v[1].Detach().Clone());
         y[1].Mul_(y[1].Clone());
         BackwardOf(y, d);
         return {y, v, x.Grad()};
       }},
      {"repeated_squares_of_a_column",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 2}), y = x.Clone();
         for (int i = 0; i < 3; ++i) {
           Tensor c = y.Select(1, 1);
           const Tensor copy = c.Clone();
           c.Copy_(copy * copy);
         }
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"diagonal_filled_then_scaled",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3, 3}), y = x * 2;
         y.Diagonal().Zero_();
         y.Diagonal(1).Mul_(3);
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
  };
}

Programs OfLeaves() {
  return {
      {"a_leaf_updated_under_no_grad",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3});
         Sum(x * x).Backward();
         {
           const NoGrad scope;
           x.Slice(0, 1).Sub_(x.Grad().Slice(0, 1));
           x.Grad().Zero_();
         }
         Sum(x * x * x).Backward();
         return {x, x.Grad()};
       }},
      {"a_leaf_updated_in_place", [](const Device& d) -> Results { return {Leaf(d, {3}).Add_(1)}; }},
      {"a_view_of_a_leaf_updated",
       [](const Device& d) -> Results { return {Leaf(d, {3}).Slice(0, 1).Add_(1)}; }},
  };
}

Programs OfSharedValues() {
  return {
      {"detached_shares",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3}), y = x * 2, shared = y.Detach();
         shared[0].Fill_(10);
         BackwardOf(y, d);
         return {y, shared, x.Grad()};
       }},
      {"flip_then_write",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 3}), y = Flip(x, -1);
         y[0].Mul_(0);
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
      {"squeeze_in_the_middle_then_write",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 1, 2}), y = x + 0;
         y.Squeeze(1).Unsqueeze(0)[0][1].Copy_(Values(d, {5, 6}, {2}));
         y.Select(-1, 0).Add_(1);
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
  };
}

Programs OfIndices() {
  return {
      {"negative_select_and_narrow",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3, 4});
         const Tensor y = x.Select(-1, -2) * x.Narrow(-1, -3, 1).Squeeze(-1) + x[-1].Slice(0, -4, -1);
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"slice_out_of_range",
       [](const Device& d) -> Results {
         const Tensor x = Ramp(d, {4});
         return {x.Slice(0, 2, 100), x.Slice(0, -100, 2), x.Slice(0, 3, 1), x.Slice(0, 4), x.Slice(0, -1)};
       }},
      {"negative_step", [](const Device& d) -> Results { return {Ramp(d, {4}).Slice(0, {}, {}, -1)}; }},
      {"select_out_of_range", [](const Device& d) -> Results { return {Ramp(d, {3}).Select(0, -4)}; }},
      {"gather_repeated",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3, 2}), y = Gather(x, 0, Indices(d, {0, 0, 0, 2, 2, 2}, {3, 2}));
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
      {"index_with_negatives",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3, 2}), y = Index(x, {Indices(d, {-1, 0, -1}, {3})});
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
  };
}

Programs OfRepeatedReads() {
  return {
      {"put_repeated_accumulates",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {3}), v = Leaf(d, {4}, kF64, 10);
         const Tensor y = IndexPut(x * 1, {Indices(d, {0, -1, 0, 2}, {4})}, v, /*accumulate=*/true);
         BackwardOf(y, d);
         return {y, x.Grad(), v.Grad()};
       }},
      {"masked_fill_of_broadcast",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 3}), y = MaskedFill(x, Ne(Indices(d, {1, 0, 1}, {3}), 0), -1.0);
         Sum(y * y).Backward();
         return {y, x.Grad()};
       }},
      {"as_strided_overlapping_read",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {5}), y = x.AsStrided({3, 3}, {1, 1});
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
      {"unfold_overlapping",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {5}), y = x.Unfold(0, 3, 1);
         Sum(y * y).Backward();
         return {y, x.Grad()};
       }},
      {"view_of_other_count",
       [](const Device& d) -> Results {
         return {Ramp(d, {2, 3}).View({4})};
       }},
      {"transpose_then_view",
       [](const Device& d) -> Results {
         return {Ramp(d, {2, 3}).T().View({6})};
       }},
  };
}

Programs OfDerivatives() {
  return {
      {"max_of_ties",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {2, 2, 1, 0, 0, 0}, {2, 3}).RequiresGrad_(), y = Amax(x, 1);
         BackwardOf(y, d);
         const auto [value, index] = Max(FromValues<float>({1, 3, 3}, Dims{3}, d), 0);
         return {y, x.Grad(), value, index};
       }},
      {"norm_of_zero",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {0, 0, 0}, {3}).RequiresGrad_(), y = VectorNorm(x, 2);
         y.Backward();
         return {y, x.Grad()};
       }},
      {"prod_with_zeros",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {0, 2, 3, 0, 0, 5}, {2, 3}).RequiresGrad_(), y = Prod(x, 1);
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"cumprod_with_zero",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {2, 0, 3, 4}, {4}).RequiresGrad_(), y = Cumprod(x, 0);
         BackwardOf(y, d);
         return {y, x.Grad()};
       }},
      {"power_of_zero",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {0, 0, 0}, {3}).RequiresGrad_(), y = Pow(x, Values(d, {0, 1, 2}, {3}));
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"second_derivative_through_a_view",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2, 2}), y = Sum(Pow(x.T()[0], 3));
         const Tensor g = Gradients({y}, {x}, {.create_graph = true})[0];
         BackwardOf(g, d);
         return {g, x.Grad()};
       }},
      {"gradients_add_up",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {2}), y = x * x;
         Sum(y).Backward({.retain_graph = true});
         y.Backward({.gradient = Ramp(d, {2})});
         return {x.Grad()};
       }},
      {"clamp_at_its_ends",
       [](const Device& d) -> Results {
         const Tensor x = Values(d, {-1, 0, 0.5, 1, 2}, {5}).RequiresGrad_(), y = Clamp(x, 0, 1);
         Sum(y).Backward();
         return {y, x.Grad()};
       }},
      {"std_of_one",
       [](const Device& d) -> Results {
         const Tensor x = Leaf(d, {1, 2});
         return {Var(x, 0, 0), Var(x, 1)};
       }},
  };
}

Programs AllPrograms() {
  Programs all;
  for (const Programs& some :
       {OfNone(), OfNoIndices(), OfNumbers(), OfUpdates(), OfLeaves(), OfSharedValues(), OfIndices(),
        OfRepeatedReads(), OfDerivatives(), Arithmetic(), Layers(), Matrices(), Selections()})
    all.insert(some.begin(), some.end());
  return all;
}

double NumberOf(const json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

// Returns how far a number may be from PyTorch's, in parts of it.
double Tolerance(PrimitiveType type) {
  return type == kF64 ? 1e-9 : type == kF32 ? 2e-6 : hlo::IsFloat(type) ? 1e-2 : 0;
}

// Returns the first difference of a result from PyTorch's, or "".
std::string Difference(const Tensor& x, const json& wanted) {
  if (!x.defined()) return wanted.is_null() ? "" : "undefined";
  if (wanted.is_null()) return "PyTorch has none";
  const std::vector<int64_t> dims(x.dims().begin(), x.dims().end());
  if (dims != wanted["dims"].get<std::vector<int64_t>>()) return "its shape is " + x.ToString();
  if (wanted["type"] != hlo::Name(x.dtype())) return "its type is " + std::string(hlo::Name(x.dtype()));
  const std::vector<double> found = x.Detach().To(kF64).ToVector<double>();
  for (size_t i = 0; i < found.size(); ++i) {
    const double want = NumberOf(wanted["values"][i]);
    const bool same =
        std::isnan(want)
            ? std::isnan(found[i])
            : found[i] == want || std::abs(found[i] - want) <= Tolerance(x.dtype()) * (std::abs(want) + 1e-6);
    if (!same) return x.ToString();
  }
  return "";
}

std::string Compare(const EdgeProgram& program, const json& recorded, const Device& device) {
  Results results;
  try {
    results = program(device);
    for (const Tensor& x : results) {
      if (x.defined()) static_cast<void>(x.ToLiteral());
    }
  } catch (const Error& error) {
    return recorded.contains("refused") ? "" : error.what();
  }
  if (recorded.contains("refused")) return "PyTorch refuses it";
  if (results.size() != recorded["results"].size()) return "another number of results";
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string difference = Difference(results[i], recorded["results"][i]);
    if (!difference.empty()) return "result " + std::to_string(i) + ": " + difference;
  }
  return "";
}

class EdgePrograms : public TensorTest {};

TEST_F(EdgePrograms, AreWhatPyTorchMakesOfThem) {
  const json recorded = json::parse(std::ifstream(SourceDir() / "tests/unit/client/tensor/edges/edges.json"));
  const Programs all = AllPrograms();
  EXPECT_EQ(all.size(), recorded.size());
  for (const Device& place : {Device(), device()}) {
    for (const auto& [name, program] : all) {
      if (recorded.at(name).contains("differs")) continue;
      EXPECT_EQ(Compare(program, recorded.at(name), place), "") << name << " on " << place.ToString();
    }
  }
}

}  // namespace
}  // namespace hlod
