// Selections, scatters and orders at edges. selections.py has the same programs, by the same names, which
// PyTorch ran or refused.
#include <cmath>

#include "tests/unit/client/tensor/edges/edges.h"

namespace hlod {
namespace {

Results ScatterReduceSum(const Device& d) {
  const Tensor x = LeafOf(d, {2, 3, 4}, {3}), s = LeafOf(d, {2, 3, 3, 5}, {4}),
               i = Indices(d, {0, 0, 0, 2}, {4});
  const Tensor y = ScatterReduce(x, 0, i, s, ScatterReduction::kSum);
  const Tensor z = ScatterReduce(x, 0, i, s, ScatterReduction::kSum, false);
  BackwardOf(y + 2 * z, d);
  return {y, z, x.Grad(), s.Grad()};
}

Results ScatterReduceProd(const Device& d) {
  const Tensor x = LeafOf(d, {2, 3, 4}, {3}), s = LeafOf(d, {2, 3, 3, 5}, {4}),
               i = Indices(d, {0, 0, 0, 2}, {4});
  const Tensor y = ScatterReduce(x, 0, i, s, ScatterReduction::kProd);
  const Tensor z = ScatterReduce(x, 0, i, s, ScatterReduction::kProd, false);
  BackwardOf(y + 2 * z, d);
  return {y, z, x.Grad(), s.Grad()};
}

Results ScatterReduceMean(const Device& d) {
  const Tensor x = LeafOf(d, {2, 3, 4}, {3}), s = LeafOf(d, {2, 3, 3, 5}, {4}),
               i = Indices(d, {0, 0, 0, 2}, {4});
  const Tensor y = ScatterReduce(x, 0, i, s, ScatterReduction::kMean);
  const Tensor z = ScatterReduce(x, 0, i, s, ScatterReduction::kMean, false);
  BackwardOf(y + 2 * z, d);
  return {y, z, x.Grad(), s.Grad()};
}

Results ScatterReduceAmax(const Device& d) {
  const Tensor x = LeafOf(d, {2, 3, 4}, {3}), s = LeafOf(d, {2, 3, 3, 5}, {4}),
               i = Indices(d, {0, 0, 0, 2}, {4});
  const Tensor y = ScatterReduce(x, 0, i, s, ScatterReduction::kAmax);
  const Tensor z = ScatterReduce(x, 0, i, s, ScatterReduction::kAmax, false);
  BackwardOf(y + 2 * z, d);
  return {y, z, x.Grad(), s.Grad()};
}

Results ScatterReduceAmin(const Device& d) {
  const Tensor x = LeafOf(d, {2, 3, 4}, {3}), s = LeafOf(d, {2, 3, 3, 5}, {4}),
               i = Indices(d, {0, 0, 0, 2}, {4});
  const Tensor y = ScatterReduce(x, 0, i, s, ScatterReduction::kAmin);
  const Tensor z = ScatterReduce(x, 0, i, s, ScatterReduction::kAmin, false);
  BackwardOf(y + 2 * z, d);
  return {y, z, x.Grad(), s.Grad()};
}

Results ScatterReduceProdOfZeros(const Device& d) {
  const Tensor x = LeafOf(d, {2, 0, 4}, {3}), s = LeafOf(d, {0, 3, 0, 5}, {4});
  const Tensor y = ScatterReduce(x, 0, Indices(d, {0, 0, 1, 2}, {4}), s, ScatterReduction::kProd);
  BackwardOf(y, d);
  return {y, x.Grad(), s.Grad()};
}

Results ScatterReduceOfIntegers(const Device& d) {
  const Tensor x = Indices(d, {7, -7, 1}, {3}), i = Indices(d, {0, 1, 1}, {3}),
               s = Indices(d, {2, 1, 1}, {3});
  return {ScatterReduce(x, 0, i, s, ScatterReduction::kMean),
          ScatterReduce(x, 0, i, s, ScatterReduction::kMean, false),
          ScatterReduce(x, 0, i, s, ScatterReduction::kAmax, false)};
}

Results ScatterAddOfASmallerIndex(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), s = Leaf(d, {1, 2});
  const Tensor y =
      ScatterAdd(x, 1, Indices(d, {2, 2}, {1, 2}), s) + Scatter(x, 1, Indices(d, {0}, {1, 1}), s.Detach());
  BackwardOf(y * y, d);
  return {y, x.Grad(), s.Grad()};
}

Results IndexReduceOfTies(const Device& d) {
  const Tensor x = LeafOf(d, {1, 5, 2}, {3}), s = LeafOf(d, {5, 5, 1, 2}, {4}),
               i = Indices(d, {1, 1, 0, 2}, {4});
  const Tensor y = IndexReduce(x, 0, i, s, ScatterReduction::kAmax);
  const Tensor z = IndexReduce(x, 0, i, s, ScatterReduction::kMean, false);
  BackwardOf(y + z, d);
  return {y, z, x.Grad(), s.Grad()};
}

Results IndexAddWithAlpha(const Device& d) {
  const Tensor x = Leaf(d, {3}), s = Leaf(d, {3}), y = IndexAdd(x, 0, Indices(d, {2, 2, 0}, {3}), s, -2);
  BackwardOf(y * y, d);
  return {y, x.Grad(), s.Grad()};
}

Results IndexAddOfAnEmptySource(const Device& d) {
  const Tensor x = Leaf(d, {3, 2}), s = Leaf(d, {0, 2});
  const Tensor y = IndexAdd(x, 0, Zeros({0}, {.type = kS64, .device = d}), s);
  BackwardOf(y, d);
  return {y, x.Grad(), s.Grad()};
}

Results IndexCopyAndFill(const Device& d) {
  const Tensor x = Leaf(d, {3}), s = LeafOf(d, {4, 5}, {2}), v = LeafOf(d, {7}, {});
  const Tensor y = IndexCopy(x, 0, Indices(d, {2, 0}, {2}), s),
               z = IndexFill(x, 0, Indices(d, {2, 1}, {2}), v);
  BackwardOf(y * z, d);
  return {y, z, x.Grad(), s.Grad(), v.Grad()};
}

Results PutOfTwoIndices(const Device& d) {
  const Tensor x = Leaf(d, {3, 3}), v = LeafOf(d, {10, 20, 30}, {3});
  const Tensor y = IndexPut(x * 1, {Indices(d, {0, 0, 2}, {3}), Indices(d, {1, 1, -1}, {3})}, v, true);
  BackwardOf(y, d);
  return {y, x.Grad(), v.Grad()};
}

Results PutOfANumber(const Device& d) {
  const Tensor x = Leaf(d, {3, 2}), v = LeafOf(d, {9}, {});
  const Tensor y = IndexPut(x * 1, {Indices(d, {0, 2}, {2})}, v);
  BackwardOf(y, d);
  return {y, x.Grad(), v.Grad()};
}

Results PutWhereAMaskIsTrue(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), v = LeafOf(d, {10, 20, 30}, {3});
  Tensor y = x * 1;
  IndexPut_(y, {Gt(y.Detach(), 3)}, v);
  BackwardOf(y, d);
  return {y, x.Grad(), v.Grad()};
}

Results PutIntoARowOfATranspose(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), v = LeafOf(d, {10, 20}, {2});
  const Tensor y = x * 1;
  Tensor part = y.T().Slice(0, 1);
  IndexPut_(part, {Indices(d, {0, 1}, {2}), Indices(d, {1, 0}, {2})}, v);
  BackwardOf(y, d);
  return {y, x.Grad(), v.Grad()};
}

Results MaskedScatterOfMoreThanNeeded(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), s = LeafOf(d, {10, 20, 30, 40}, {4});
  const Tensor y = MaskedScatter(x, Ne(Indices(d, {1, 0, 1}, {3}), 0), s);
  BackwardOf(y, d);
  return {y, x.Grad(), s.Grad()};
}

Results MaskedFillByATensor(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), v = LeafOf(d, {9}, {});
  const Tensor y = MaskedFill(x, Ne(Indices(d, {1, 0, 1}, {3}), 0), v);
  BackwardOf(y * y, d);
  return {y, x.Grad(), v.Grad()};
}

Results ScattersOfViews(const Device& d) {
  const Tensor x = Leaf(d, {3, 3}), a = Leaf(d, {3}), b = LeafOf(d, {4, 5, 6}, {3, 1}),
               c = LeafOf(d, {7, 8}, {2});
  const Tensor y = DiagonalScatter(SliceScatter(SelectScatter(x, a, 0, -1), b, 1, 0, 3, 3), c, 1);
  BackwardOf(y, d);
  return {y, x.Grad(), a.Grad(), b.Grad(), c.Grad()};
}

Results TakeOfNegatives(const Device& d) {
  const Tensor x = Leaf(d, {2, 3}), y = Take(x, Indices(d, {-1, 0, 5, -6}, {2, 2}));
  const Tensor z = TakeAlongDim(x, Indices(d, {0, 0, 1}, {1, 3}), 0);
  BackwardOf(y, d);
  BackwardOf(z, d);
  return {y, z, x.Grad()};
}

Results SegmentsWithoutElements(const Device& d) {
  const Tensor x = LeafOf(d, {1, 5, 5, 2}, {4});
  Results results;
  Tensor sum = Zeros({3}, {.type = kF64, .device = d});
  for (const ScatterReduction r : {ScatterReduction::kSum, ScatterReduction::kMean, ScatterReduction::kAmax,
                                   ScatterReduction::kAmin, ScatterReduction::kProd}) {
    results.push_back(SegmentReduce(x, r, {.lengths = Indices(d, {0, 3, 1}, {3}), .initial = 0.5}));
    sum = sum + results.back();
  }
  BackwardOf(sum, d);
  results.push_back(x.Grad());
  return results;
}

Results EmbeddingWithPadding(const Device& d) {
  const Tensor w = Leaf(d, {4, 2}),
               y = Embedding(Indices(d, {0, 3, 3, 2, 0, 2}, {2, 3}), w, {.padding_index = -1});
  BackwardOf(y, d);
  const Tensor z = Leaf(d, {4, 2});
  BackwardOf(Embedding(Indices(d, {0, 0, 0, 1}, {4}), z, {.scale_grad_by_freq = true}), d);
  return {y, w.Grad(), z.Grad()};
}

Results BagsSum(const Device& d) {
  const Tensor w = LeafOf(d, {1, 5, 3, 5, 3, 2, 0, 0}, {4, 2});
  const Tensor y =
      EmbeddingBag(Indices(d, {0, 1, 1, 2, 3}, {5}), w,
                   {.mode = BagMode::kSum, .offsets = Indices(d, {0, 0, 3, 5}, {4}), .padding_index = 2});
  BackwardOf(y, d);
  return {y, w.Grad()};
}

Results BagsMean(const Device& d) {
  const Tensor w = LeafOf(d, {1, 5, 3, 5, 3, 2, 0, 0}, {4, 2});
  const Tensor y =
      EmbeddingBag(Indices(d, {0, 1, 1, 2, 3}, {5}), w,
                   {.mode = BagMode::kMean, .offsets = Indices(d, {0, 0, 3, 5}, {4}), .padding_index = 2});
  BackwardOf(y, d);
  return {y, w.Grad()};
}

Results BagsMax(const Device& d) {
  const Tensor w = LeafOf(d, {1, 5, 3, 5, 3, 2, 0, 0}, {4, 2});
  const Tensor y =
      EmbeddingBag(Indices(d, {0, 1, 1, 2, 3}, {5}), w,
                   {.mode = BagMode::kMax, .offsets = Indices(d, {0, 0, 3, 5}, {4}), .padding_index = 2});
  BackwardOf(y, d);
  return {y, w.Grad()};
}

Results RepeatsOfZero(const Device& d) {
  const Tensor x = Leaf(d, {3}), y = RepeatInterleave(x, Indices(d, {0, 2, 1}, {3}));
  BackwardOf(y * y, d);
  return {y, RepeatInterleave(x, 0), Repeat(x, {0, 2}), Tile(x, 2), x.Grad()};
}

Results MedianOfAnEvenCount(const Device& d) {
  const Tensor x = LeafOf(d, {4, 1, 3, 2, kNaN, 1}, {2, 3});
  const auto [v, i] = Median(x, 1);
  BackwardOf(NanToNum(v), d);
  const auto [w, j] = Nanmedian(x, 1);
  BackwardOf(w, d);
  return {v, i, w, j, Median(x), Nanmedian(x), x.Grad()};
}

Results NanmedianOfNothingButNan(const Device& d) {
  const Tensor x = Values(d, {kNaN, kNaN}, {2});
  return {Nanmedian(x), Nanmedian(x, 0).values, Nanquantile(x, 0.5), Nanmean(x), Nansum(x)};
}

Results ModeOfTies(const Device& d) {
  const Tensor x = LeafOf(d, {3, 1, 3, 1, 2, 2, 5, 4}, {2, 4});
  const auto [v, i] = Mode(x, 1);
  BackwardOf(v, d);
  return {v, x.Grad()};
}

Results KthvalueOfNan(const Device& d) {
  const Tensor x = LeafOf(d, {kNaN, 1, 3, 2}, {4});
  const auto [a, i] = Kthvalue(x, 4);
  const auto [b, j] = Kthvalue(x, 2, -1, true);
  Sum(b).Backward();
  return {a, i, b, j, x.Grad()};
}

Results KthvalueBeyond(const Device& d) { return {Kthvalue(Ramp(d, {3}), 4).values}; }

Results TopkOfNan(const Device& d) {
  const Tensor x = LeafOf(d, {kNaN, 1, 3, 2}, {4});
  const auto [a, i] = Topk(x, 2);
  const auto [b, j] = Topk(x, 2, -1, false);
  BackwardOf(b, d);
  return {a, i, b, j, Topk(x, 0).values, x.Grad()};
}

Results TopkBeyond(const Device& d) { return {Topk(Ramp(d, {3}), 4).values}; }

Results SortOfNanIsStable(const Device& d) {
  const Tensor x = LeafOf(d, {2, kNaN, 1, 2, -0.0, 0}, {6});
  const auto [a, i] = Sort(x);
  const auto [b, j] = Sort(x, -1, true);
  BackwardOf(NanToNum(a), d);
  return {a, i, b, j, x.Grad()};
}

Results SortOfBoolsAndNumbers(const Device& d) {
  const auto [a, i] = Sort(Ne(Indices(d, {1, 0, 1, 0}, {4}), 0));
  const auto [b, j] = Sort(Full({}, 3.0, {.type = kF32, .device = d}));
  const auto [c, k] = Sort(Ramp(d, {0, 2}), 0);
  return {a, i, b, j, c, k};
}

Results QuantileLinear(const Device& d) {
  const Tensor x = LeafOf(d, {4, 1, 3, 2, 2, 7, 5, 6}, {2, 4});
  const Tensor y = Quantile(x, Values(d, {0, 0.5, 0.9, 1}, {4}), 1, false, QuantileInterpolation::kLinear);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results QuantileLower(const Device& d) {
  const Tensor x = LeafOf(d, {4, 1, 3, 2, 2, 7, 5, 6}, {2, 4});
  const Tensor y = Quantile(x, Values(d, {0, 0.5, 0.9, 1}, {4}), 1, false, QuantileInterpolation::kLower);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results QuantileHigher(const Device& d) {
  const Tensor x = LeafOf(d, {4, 1, 3, 2, 2, 7, 5, 6}, {2, 4});
  const Tensor y = Quantile(x, Values(d, {0, 0.5, 0.9, 1}, {4}), 1, false, QuantileInterpolation::kHigher);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results QuantileMidpoint(const Device& d) {
  const Tensor x = LeafOf(d, {4, 1, 3, 2, 2, 7, 5, 6}, {2, 4});
  const Tensor y = Quantile(x, Values(d, {0, 0.5, 0.9, 1}, {4}), 1, false, QuantileInterpolation::kMidpoint);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results QuantileNearest(const Device& d) {
  const Tensor x = LeafOf(d, {4, 1, 3, 2, 2, 7, 5, 6}, {2, 4});
  const Tensor y = Quantile(x, Values(d, {0, 0.5, 0.9, 1}, {4}), 1, false, QuantileInterpolation::kNearest);
  BackwardOf(y, d);
  return {y, x.Grad()};
}

Results QuantileOfNone(const Device& d) { return {Quantile(Ramp(d, {0}), 0.5)}; }

Results ArgmaxOfTiesAndNan(const Device& d) {
  const Tensor x = Values(d, {1, 3, 3, kNaN, 1, kNaN}, {2, 3});
  const auto [a, i] = Max(x, 1);
  const auto [b, j] = Min(x, 0);
  return {Argmax(x, 1), Argmin(x, 1), Argmax(x), Argmin(x, 1, true), a, i, b, j};
}

Results RunningExtremesOfNan(const Device& d) {
  const Tensor x = LeafOf(d, {1, 3, 3, kNaN, 5, 2}, {6});
  const auto [a, i] = Cummax(x, 0);
  const auto [b, j] = Cummin(x, 0);
  BackwardOf(NanToNum(a) + 2 * NanToNum(b), d);
  return {a, i, b, j, x.Grad()};
}

Results RunningResultsOfOtherTypes(const Device& d) {
  return {Cumsum(Ne(Indices(d, {1, 1, 0}, {3}), 0), 0), Cumsum(Indices(d, {200, 100}, {2}).To(kU8), 0),
          Cumprod(Indices(d, {-3, 2}, {2}).To(kS8), 0), Cumsum(Ramp(d, {0, 2}), 0),
          Cumsum(Full({}, 3.0, {.type = kF32, .device = d}), 0)};
}

Results RunningProductsOfZeros(const Device& d) {
  const Tensor x = LeafOf(d, {2, 0, 3, 0, 5}, {5}), y = Cumprod(x, 0);
  const Tensor g = Gradients({Sum(y * Ramp(d, {5}))}, {x}, {.create_graph = true})[0];
  BackwardOf(g, d);
  return {y, g, x.Grad()};
}

Results ProductsOfZerosTwice(const Device& d) {
  const Tensor x = LeafOf(d, {2, 0, 3, 0, 0, 5}, {2, 3});
  const Tensor g = Gradients({Weighted(Prod(x, 1), d)}, {x}, {.create_graph = true})[0];
  BackwardOf(g, d);
  return {g, x.Grad()};
}

Results RunningLogsumexpOfInfinities(const Device& d) {
  const Tensor x = LeafOf(d, {-kInf, -kInf, 1, 2}, {4}), y = Logcumsumexp(x, 0);
  Nansum(y * Values(d, {0, 0, 1, 2}, {4})).Backward();
  return {y, x.Grad()};
}

Results DifferencesWithEnds(const Device& d) {
  const Tensor x = LeafOf(d, {1, 4, 9}, {3}), a = LeafOf(d, {7}, {1}), y = Diff(x, 2, -1, a, a);
  BackwardOf(y, d);
  return {y, Diff(x, 5), Diff(Ne(Indices(d, {1, 0, 0}, {3}), 0)), x.Grad(), a.Grad()};
}

Results PlacesAmongSorted(const Device& d) {
  const Tensor s = Values(d, {1, 2, 2, 3, kInf}, {5}), v = Values(d, {2, kNaN, -kInf, kInf, 0.5}, {5});
  return {Searchsorted(s, v), Searchsorted(s, v, true), Bucketize(v, s), Bucketize(v, s, true)};
}

Results Counts(const Device& d) {
  const Tensor i = Indices(d, {3, 0, 3}, {3});
  return {Bincount(i, {}, 6), Bincount(i, Values(d, {0.5, 1, 2}, {3})),
          Bincount(Zeros({0}, {.type = kS64, .device = d})), Histc(Values(d, {0, 1, 1, 2, 5}, {5}), 4, 0, 2),
          Histc(Values(d, {3, 3}, {2}), 2)};
}

Results UniqueOfNan(const Device& d) {
  const UniqueResult a = Unique(Values(d, {2, kNaN, 2, kNaN, 1}, {5})),
                     b = UniqueConsecutive(Indices(d, {1, 1, 2, 1}, {4}));
  return {a.values, a.inverse, a.counts, b.values, b.inverse, b.counts};
}

}  // namespace

Programs Selections() {
  return {
      {"scatter_reduce_sum", ScatterReduceSum},
      {"scatter_reduce_prod", ScatterReduceProd},
      {"scatter_reduce_mean", ScatterReduceMean},
      {"scatter_reduce_amax", ScatterReduceAmax},
      {"scatter_reduce_amin", ScatterReduceAmin},
      {"scatter_reduce_prod_of_zeros", ScatterReduceProdOfZeros},
      {"scatter_reduce_of_integers", ScatterReduceOfIntegers},
      {"scatter_add_of_a_smaller_index", ScatterAddOfASmallerIndex},
      {"index_reduce_of_ties", IndexReduceOfTies},
      {"index_add_with_alpha", IndexAddWithAlpha},
      {"index_add_of_an_empty_source", IndexAddOfAnEmptySource},
      {"index_copy_and_fill", IndexCopyAndFill},
      {"put_of_two_indices", PutOfTwoIndices},
      {"put_of_a_number", PutOfANumber},
      {"put_where_a_mask_is_true", PutWhereAMaskIsTrue},
      {"put_into_a_row_of_a_transpose", PutIntoARowOfATranspose},
      {"masked_scatter_of_more_than_needed", MaskedScatterOfMoreThanNeeded},
      {"masked_fill_by_a_tensor", MaskedFillByATensor},
      {"scatters_of_views", ScattersOfViews},
      {"take_of_negatives", TakeOfNegatives},
      {"segments_without_elements", SegmentsWithoutElements},
      {"embedding_with_padding", EmbeddingWithPadding},
      {"bags_sum", BagsSum},
      {"bags_mean", BagsMean},
      {"bags_max", BagsMax},
      {"repeats_of_zero", RepeatsOfZero},
      {"median_of_an_even_count", MedianOfAnEvenCount},
      {"nanmedian_of_nothing_but_nan", NanmedianOfNothingButNan},
      {"mode_of_ties", ModeOfTies},
      {"kthvalue_of_nan", KthvalueOfNan},
      {"kthvalue_beyond", KthvalueBeyond},
      {"topk_of_nan", TopkOfNan},
      {"topk_beyond", TopkBeyond},
      {"sort_of_nan_is_stable", SortOfNanIsStable},
      {"sort_of_bools_and_numbers", SortOfBoolsAndNumbers},
      {"quantile_linear", QuantileLinear},
      {"quantile_lower", QuantileLower},
      {"quantile_higher", QuantileHigher},
      {"quantile_midpoint", QuantileMidpoint},
      {"quantile_nearest", QuantileNearest},
      {"quantile_of_none", QuantileOfNone},
      {"argmax_of_ties_and_nan", ArgmaxOfTiesAndNan},
      {"running_extremes_of_nan", RunningExtremesOfNan},
      {"running_results_of_other_types", RunningResultsOfOtherTypes},
      {"running_products_of_zeros", RunningProductsOfZeros},
      {"products_of_zeros_twice", ProductsOfZerosTwice},
      {"running_logsumexp_of_infinities", RunningLogsumexpOfInfinities},
      {"differences_with_ends", DifferencesWithEnds},
      {"places_among_sorted", PlacesAmongSorted},
      {"counts", Counts},
      {"unique_of_nan", UniqueOfNan},
  };
}

}  // namespace hlod
