// Reductions, numbers of all types, and updates under views at edges. arithmetic.py has the same programs, by
// the same names, which PyTorch ran or refused.
#include <cmath>

#include "tests/unit/client/tensor/edges/edges.h"

namespace hlod {
namespace {

Results ExtremesOfNone(const Device& d) { return {Max(Ramp(d, {0, 3}), 0).values}; }

Results ArgmaxOfNone(const Device& d) { return {Argmax(Ramp(d, {0}))}; }

Results MaxAlongWhatIsThereOfNone(const Device& d) {
  return {Amax(Ramp(d, {0, 3}), 1), Max(Ramp(d, {0, 3}), 1).indices, Argmax(Ramp(d, {2, 0}), 0),
          Median(Ramp(d, {0, 3}), 1).values, Median(Ramp(d, {0}))};
}

Results OtherReductionsOfNone(const Device& d) {
  const Tensor x = Ramp(d, {2, 0});
  return {All(x, 1), Any(x, 1),  All(x),     Logsumexp(x, 1),    Std(x, 1),    Var(x),
          Norm(x),   Norm(x, 1), Norm(x, 0), CountNonzero(x, 1), Nansum(x, 1), Nanmean(x, 1)};
}

Results NormOfNoneWithoutLimit(const Device& d) { return {VectorNorm(Ramp(d, {0}), kInf)}; }

Results MeanOfIntegers(const Device& d) { return {Mean(Indices(d, {1, 2}, {2}))}; }

Results SumsOfSmallTypes(const Device& d) {
  const Tensor b = Ne(Indices(d, {1, 1}, {2}), 0);
  return {Sum(b),
          Sum(Indices(d, {200, 100}, {2}).To(kU8)),
          Prod(Indices(d, {100, 100}, {2}).To(kS8)),
          Prod(b),
          Sum(Values(d, {60000, 60000}, {2}).To(kF16)),
          Any(b),
          Any(Indices(d, {0, 3}, {2}).To(kU8)),
          All(Values(d, {0.5, kNaN}, {2}).To(kF32))};
}

Results DeviationBeyondItsCount(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2, 4}, {3}), z = Std(x, {}, 0);
  z.Backward();
  return {Var(x, {}, 3), Std(x, {}, 5), Std(Values(d, {2}, {})), z, x.Grad()};
}

Results NormsAtZero(const Device& d) {
  const Tensor x = LeafOf(d, {0, 0, 3, -4, 0, 0}, {3, 2});
  Results results;
  Tensor sum = Zeros({3}, {.type = kF64, .device = d});
  for (const double p : {0.0, 1.0, 2.0, 3.0, kInf, -kInf}) {
    results.push_back(VectorNorm(x, p, 1));
    sum = sum + results.back();
  }
  BackwardOf(sum, d);
  results.push_back(x.Grad());
  return results;
}

Results SecondDerivativesAtKinks(const Device& d) {
  const Tensor x = LeafOf(d, {-1, 0, 0, 2}, {4});
  const Tensor f = Sum(Abs(x) * x + Pow(Relu(x), 2) + Clamp(x, 0, 1) * x + Maximum(x, x.Detach()) * x);
  const Tensor g = Gradients({f}, {x}, {.create_graph = true})[0];
  BackwardOf(g, d);
  return {g, x.Grad()};
}

Results SecondDerivativeOfANorm(const Device& d) {
  const Tensor x = LeafOf(d, {3, 0, -4}, {3}),
               g = Gradients({VectorNorm(x, 2)}, {x}, {.create_graph = true})[0];
  BackwardOf(g, d);
  const Tensor y = LeafOf(d, {1, 2, 4}, {3}), h = Gradients({Std(y)}, {y}, {.create_graph = true})[0];
  BackwardOf(h, d);
  return {g, x.Grad(), h, y.Grad()};
}

Results LogsumexpOfInfinities(const Device& d) {
  const Tensor x = LeafOf(d, {-kInf, -kInf, kInf, 1, -kInf, 2}, {3, 2}), y = Logsumexp(x, 1);
  y[2].Backward();
  return {y, x.Grad()};
}

Results DerivativesAtPoles(const Device& d) {
  const Tensor x = LeafOf(d, {0, -0.0, 1}, {3});
  Results gradients;
  for (const Tensor& z : {Sqrt(x), Pow(x, 0.5), Pow(x, 1.5), Log(x), Reciprocal(x), Atan2(x, x * 0),
                          Xlogy(x, x), Hypot(x, x * 0), Sinc(x)})
    gradients.push_back(Gradients({Sum(z)}, {x})[0]);
  return gradients;
}

Results PowersAtZeroByExponent(const Device& d) {
  const Tensor b = LeafOf(d, {0, 0, 0, -2, 4}, {5}), e = LeafOf(d, {2, 0, -1, 2, 0.5}, {5}), y = Pow(b, e);
  Sum(y).Backward();
  const Tensor z = LeafOf(d, {0, 1, 2}, {3});
  Sum(Pow(0.0, z)).Backward();
  return {y, b.Grad(), e.Grad(), z.Grad()};
}

Results SignsOfRemainders(const Device& d) {
  const Tensor a = Values(d, {5.5, -5.5, 5.5, -5.5, -0.0, 5, -5, 1}, {8}),
               b = Values(d, {2, 2, -2, -2, 3, kInf, kInf, 0}, {8});
  return {Remainder(a, b), Fmod(a, b), FloorDivide(a, b), Div(a, b, Rounding::kTrunc),
          Div(a, b, Rounding::kFloor)};
}

Results DerivativesOfRemainders(const Device& d) {
  const Tensor a = LeafOf(d, {5.5, -5.5, 6, -7}, {4}), b = LeafOf(d, {2, 2, 3, -2}, {4});
  const Tensor y = Remainder(a, b) + 2 * Fmod(a, b);
  BackwardOf(y, d);
  return {y, a.Grad(), b.Grad()};
}

Results DivisionOfIntegersByZero(const Device& d) {
  return {Remainder(Indices(d, {5}, {1}), Indices(d, {0}, {1}))};
}

Results IntegersThatWrap(const Device& d) {
  const Tensor u = Indices(d, {255, 0}, {2}).To(kU8), s = Indices(d, {-128, 127}, {2}).To(kS8);
  return {
      u + 1, -u, Abs(s), -s, s + s, u * u, ~u, ~s, Square(s), u - 1, Indices(d, {int64_t{1} << 62}, {1}) * 4};
}

Results Shifts(const Device& d) {
  const Tensor x = Indices(d, {-8, 7}, {2}), u = Indices(d, {200}, {1}).To(kU8),
               s = Indices(d, {-128}, {1}).To(kS8);
  return {BitwiseLeftShift(x, 1), BitwiseRightShift(x, 1), BitwiseRightShift(u, 1), BitwiseRightShift(s, 7),
          BitwiseLeftShift(u, 1)};
}

Results PowersOfIntegers(const Device& d) {
  const Tensor x = Indices(d, {-2, 0, 3}, {3});
  return {Pow(x, 3),
          Pow(x, 0),
          Pow(2, Indices(d, {0, 3}, {2})),
          Pow(x, 0.5),
          Pow(x.To(kS8), 5),
          Pow(-1, Indices(d, {3, 4}, {2})),
          Pow(x, Full({}, 2.0, {.type = kF32, .device = d}))};
}

Results NegativePowerOfIntegers(const Device& d) { return {Pow(Indices(d, {2}, {1}), -1)}; }

Results NegativePowersOfIntegers(const Device& d) {
  return {Pow(Indices(d, {1, -1, 2, 0}, {4}), Indices(d, {-1, -1, -1, 0}, {4}))};
}

Results TypesWithNumbers(const Device& d) {
  const Tensor b = Ne(Indices(d, {1, 0}, {2}), 0), u = Indices(d, {1, 2}, {2}).To(kU8),
               h = Indices(d, {1, 2}, {2}).To(kF16);
  return {b + 1,
          b + 1.5,
          b * true,
          u + 1.5,
          h + 1e10,
          h * Indices(d, {3}, {1}),
          Indices(d, {1, 2}, {2}).To(kS32) * 1.5,
          u + Indices(d, {-1, 1}, {2}).To(kS8),
          h + Indices(d, {1, 2}, {2}).To(kBF16),
          u / u,
          Where(b, 1, 2.5),
          Sum(b) / 2,
          Indices(d, {1, 2}, {2}) * Full({}, 2.5, {.type = kF16, .device = d}),
          Indices(d, {3}, {}) + u};
}

Results ANumberThatDoesNotFit(const Device& d) { return {Indices(d, {1, 2}, {2}).To(kU8).Fill_(300)}; }

Results BoolsThatAreSubtracted(const Device& d) {
  const Tensor b = Ne(Indices(d, {1, 0}, {2}), 0);
  return {b - b};
}

Results Roundings(const Device& d) {
  const Tensor x = Values(d, {0.5, 1.5, 2.5, -0.5, -1.5, kNaN, kInf, 2.675}, {8});
  return {Round(x),   Round(x, 2),       Round(x * 100, -2),     Trunc(x), Frac(x), Sign(x),
          Signbit(x), Floor(x).To(kF32), NanToNum(x).Slice(0, 6)};
}

Results ClampsTheWrongWayRound(const Device& d) {
  const Tensor x = LeafOf(d, {-1, 0, 2, kNaN}, {4}), lo = LeafOf(d, {1, 1, 1, 1}, {4}),
               hi = LeafOf(d, {0, 0, 0, 0}, {4});
  const Tensor y = Clamp(x, lo, hi);
  Sum(y.Slice(0, 0, 3)).Backward();
  return {y,        Clamp(x, 2, 1), ClampMax(x, 1), Clamp(Indices(d, {1, 5}, {2}), 2.5),
          x.Grad(), lo.Grad(),      hi.Grad()};
}

Results Gcds(const Device& d) {
  const Tensor a = Indices(d, {12, -12, 0, 0, 7}, {5}), b = Indices(d, {18, 18, 5, 0, -7}, {5});
  return {Gcd(a, b), Lcm(a, b)};
}

Results ConversionsToIntegers(const Device& d) {
  const Tensor x = Values(d, {2.9, -2.9, 127.5}, {3});
  return {x.To(kS8),
          x.To(kS64),
          x.To(kPred),
          Values(d, {kNaN, 0, -0.0}, {3}).To(kPred),
          Indices(d, {300, -1}, {2}).To(kU8),
          Indices(d, {int64_t{1} << 31}, {1}).To(kS32),
          Indices(d, {(int64_t{1} << 53) + 1}, {1}).To(kF64)};
}

Results RangesOfOddSteps(const Device& d) {
  const TensorOptions on = {.device = d};
  return {Arange(0, 1, 0.3, on),    Arange(5, 0, -2, on),
          Arange(0, 0, 1, on),      Linspace(0, 1, 1, on),
          Linspace(0, 1, 0, on),    Linspace(3, -1, 4, {.type = kF64, .device = d}),
          Logspace(0, 2, 3, 3, on), Arange(1, 2.5, 1, {.type = kS64, .device = d})};
}

Results OverlappingPartsAdded(const Device& d) {
  const Tensor x = Ramp(d, {4});
  x.Slice(0, 1).Add_(x.Slice(0, 0, -1));
  return {x};
}

Results AMatrixAddedToItsTranspose(const Device& d) {
  const Tensor x = Ramp(d, {2, 2});
  x.T().Add_(x);
  return {x};
}

Results ATensorAddedToItself(const Device& d) {
  const Tensor x = LeafOf(d, {1, 2}, {2}), y = x * 1;
  Tensor z = y;
  z.Add_(z).Mul_(z);
  BackwardOf(z, d);
  return {z, x.Grad()};
}

Results ChunksWrittenAndJoined(const Device& d) {
  const Tensor x = Leaf(d, {2, 5}), y = x * 1;
  std::vector<Tensor> parts = Chunk(y, 3, 1);
  parts[0].Mul_(2);
  parts[2].Zero_();
  parts[1].Select(1, 0).Copy_(parts[2].Detach().Select(1, 0) + 1);
  const Tensor z = Cat({parts[2], parts[0], parts[1]}, 1);
  BackwardOf(z, d);
  return {y, z, x.Grad()};
}

Results AStridedSliceScaled(const Device& d) {
  const Tensor x = Leaf(d, {7}), y = x * 1;
  y.Slice(0, 1, {}, 3).Mul_(y.Slice(0, {}, {}, 3).Slice(0, 0, 2).Detach().Clone());
  y.Slice(0, {}, {}, 2).Slice(0, 1, 3).Fill_(0);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results FilledByWhatHasAGradient(const Device& d) {
  const Tensor x = Leaf(d, {2, 2}), v = LeafOf(d, {3}, {}), y = x * 1;
  y.Select(1, 1).Fill_(v);
  y.Diagonal().Mul_(v);
  BackwardOf(y, d);
  return {y, x.Grad(), v.Grad()};
}

Results UnfoldedWindowsWritten(const Device& d) {
  const Tensor x = Leaf(d, {6}), y = x * 1;
  y.Unfold(0, 2, 3)[1].Mul_(10);
  y.Unfold(0, 2, 2).Select(1, 1).Add_(1);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results StridedViewsWritten(const Device& d) {
  const Tensor x = Leaf(d, {6}), y = x * 1;
  y.AsStrided({2, 2}, {3, 1}, 1).Mul_(Values(d, {2, 3, 4, 5}, {2, 2}));
  BackwardOf(y, d);
  return {y, y.Detach().AsStrided({3, 2}, {1, 3}), x.Grad()};
}

Results AViewBeyondItsStorage(const Device& d) { return {Ramp(d, {4}).AsStrided({2, 3}, {2, 1})}; }

Results MaskedPartsFilled(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), y = x * 1;
  Tensor part = y.T().Slice(0, 1), row = y[0];
  MaskedFill_(part, Ne(Indices(d, {1, 0, 0, 1}, {2, 2}), 0), -1);
  MaskedFill_(row, Gt(row.Detach(), 2), 0);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results RunningSumsInPlace(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), y = x * 1;
  Tensor row = y[1], first = y.Select(1, 0), last = y.T()[2];
  Cumsum_(row, 0);
  Neg_(first);
  Sqrt_(last);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results AnUpdateOfAnotherShape(const Device& d) { return {Ramp(d, {3}).Add_(Ramp(d, {2, 3}))}; }

Results GradientsOfAGradientNotAsked(const Device& d) {
  const Tensor x = Leaf(d, {2}), u = LeafOf(d, {3, 4}, {2}), y = x * x;
  const std::vector<Tensor> g = Gradients({Sum(y)}, {x, u}, {.retain_graph = true});
  return {g[0], Gradients({Sum(y)}, {y})[0]};
}

Results ALeafReadThroughExpands(const Device& d) {
  const Tensor x = Leaf(d, {2, 1}), y = x.Expand({2, 3});
  const Tensor z = Sum(y * y.T().Reshape({2, 3})) + Sum(x.Expand({3, 2, 1}));
  z.Backward();
  return {z, x.Grad()};
}

Results FlipsRollsAndTurns(const Device& d) {
  const Tensor x = Leaf(d, {2, 3});
  const Tensor y = Roll(x, {1, -4}, {0, 1}) + Flip(x, {0, 1}) * 2 + Rot90(Rot90(x, 3)) + Roll(x, -7);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results JoinedWithTheEmptyVector(const Device& d) {
  const Tensor x = Leaf(d, {2, 2}), none = Zeros({0}, {.type = kF32, .device = d}),
               y = Cat({none, x, none}, 1);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results TrianglesOfWideMatrices(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), y = Tril(x, 1) + 2 * Triu(x, -1) + Tril(x, -3);
  BackwardOf(y, d);
  return {y,        Diag(x), Diag(x, 2), Diag(x, 5), Diag(Leaf(d, {2}), -1), DiagEmbed(Ramp(d, {2, 1}), 1),
          Trace(x), x.Grad()};
}

}  // namespace

Programs Arithmetic() {
  return {
      {"extremes_of_none", ExtremesOfNone},
      {"argmax_of_none", ArgmaxOfNone},
      {"max_along_what_is_there_of_none", MaxAlongWhatIsThereOfNone},
      {"other_reductions_of_none", OtherReductionsOfNone},
      {"norm_of_none_without_limit", NormOfNoneWithoutLimit},
      {"mean_of_integers", MeanOfIntegers},
      {"sums_of_small_types", SumsOfSmallTypes},
      {"deviation_beyond_its_count", DeviationBeyondItsCount},
      {"norms_at_zero", NormsAtZero},
      {"second_derivatives_at_kinks", SecondDerivativesAtKinks},
      {"second_derivative_of_a_norm", SecondDerivativeOfANorm},
      {"logsumexp_of_infinities", LogsumexpOfInfinities},
      {"derivatives_at_poles", DerivativesAtPoles},
      {"powers_at_zero_by_exponent", PowersAtZeroByExponent},
      {"signs_of_remainders", SignsOfRemainders},
      {"derivatives_of_remainders", DerivativesOfRemainders},
      {"division_of_integers_by_zero", DivisionOfIntegersByZero},
      {"integers_that_wrap", IntegersThatWrap},
      {"shifts", Shifts},
      {"powers_of_integers", PowersOfIntegers},
      {"negative_power_of_integers", NegativePowerOfIntegers},
      {"negative_powers_of_integers", NegativePowersOfIntegers},
      {"types_with_numbers", TypesWithNumbers},
      {"a_number_that_does_not_fit", ANumberThatDoesNotFit},
      {"bools_that_are_subtracted", BoolsThatAreSubtracted},
      {"roundings", Roundings},
      {"clamps_the_wrong_way_round", ClampsTheWrongWayRound},
      {"gcds", Gcds},
      {"conversions_to_integers", ConversionsToIntegers},
      {"ranges_of_odd_steps", RangesOfOddSteps},
      {"overlapping_parts_added", OverlappingPartsAdded},
      {"a_matrix_added_to_its_transpose", AMatrixAddedToItsTranspose},
      {"a_tensor_added_to_itself", ATensorAddedToItself},
      {"chunks_written_and_joined", ChunksWrittenAndJoined},
      {"a_strided_slice_scaled", AStridedSliceScaled},
      {"filled_by_what_has_a_gradient", FilledByWhatHasAGradient},
      {"unfolded_windows_written", UnfoldedWindowsWritten},
      {"strided_views_written", StridedViewsWritten},
      {"a_view_beyond_its_storage", AViewBeyondItsStorage},
      {"masked_parts_filled", MaskedPartsFilled},
      {"running_sums_in_place", RunningSumsInPlace},
      {"an_update_of_another_shape", AnUpdateOfAnotherShape},
      {"gradients_of_a_gradient_not_asked", GradientsOfAGradientNotAsked},
      {"a_leaf_read_through_expands", ALeafReadThroughExpands},
      {"flips_rolls_and_turns", FlipsRollsAndTurns},
      {"joined_with_the_empty_vector", JoinedWithTheEmptyVector},
      {"triangles_of_wide_matrices", TrianglesOfWideMatrices},
  };
}

}  // namespace hlod
