// The carriers in which dot and convolution compute, and the conversion of sums to the result.
#pragma once

#include <algorithm>
#include <type_traits>
#include <vector>

#include "common/base/errors/status.h"
#include "common/evaluator/elements/arithmetic.h"
#include "common/evaluator/elements/indexing.h"
#include "common/evaluator/elements/kernel.h"
#include "common/evaluator/elements/wide.h"
#include "common/evaluator/evaluation.h"
#include "common/hlo/literal.h"
#include "common/lapack/product.h"

namespace hlod::evaluator {

// Returns the carrier of the sums: the widest kind of operands and result, as in XLA, where complex is wider
// than float, and float wider than integer. Integer sums wrap in the result's own carrier.
inline Carrier SumCarrier(hlo::PrimitiveType lhs, hlo::PrimitiveType rhs, hlo::PrimitiveType result) {
  for (const Carrier carrier : {Carrier::kComplex, Carrier::kFloat}) {
    if (CarrierOf(lhs) == carrier || CarrierOf(rhs) == carrier || CarrierOf(result) == carrier)
      return carrier;
  }
  return CarrierOf(result);
}

// Writes sums into `result`. If its carrier is another one, they are converted as by `convert`: float sums of
// an integer result are truncated and saturated.
template <typename C>
void StoreSums(const std::vector<C>& sums, hlo::Literal& result) {
  const hlo::PrimitiveType type = result.shape().type;
  if (CarrierFor<C>() == CarrierOf(type)) return StoreAll(sums, result);
  const hlo::PrimitiveType from = CarrierFor<C>() == Carrier::kComplex ? hlo::kC128 : hlo::kF64;
  std::vector<Wide> converted(sums.size());  // Holds a block of any carrier.
  const void* const in[] = {sums.data()};
  FindConvertKernel(from, type)(
      in, converted.data(), static_cast<int64_t>(sums.size()),
      {.operand = from, .result = type, .bits = hlo::Info(from).bits, .format = {}});
  Store(type, converted.data(), static_cast<int64_t>(sums.size()), result.bytes().data());
}

// Returns an operand's elements with its dimensions in the order `order`.
template <typename C>
absl::StatusOr<std::vector<C>> InOrder(Evaluation& evaluation, const hlo::Literal& operand,
                                       const Dims& order) {
  const std::vector<C> values = LoadAs<C>(operand);
  std::vector<C> ordered(values.size());
  const Dims dims = Pick(operand.shape().dims, order);
  RETURN_IF_ERROR(CopyElements(evaluation, dims, sizeof(C), reinterpret_cast<const std::byte*>(values.data()),
                               {0, Pick(hlo::RowMajorStrides(operand.shape().dims), order)},
                               reinterpret_cast<std::byte*>(ordered.data()),
                               {0, hlo::RowMajorStrides(dims)}));
  return ordered;
}

// Adds the product of a [m, k] and b [k, n] to c [m, n], dense and row-major. Large products of floats and
// complex numbers use BLAS if it is installed.
template <typename C>
absl::Status AddProduct(Evaluation& evaluation, int64_t m, int64_t n, int64_t k, const C* a, const C* b,
                        C* c) {
  // Up to kTermsMin terms, a loop is as fast as BLAS; kTermsMax terms take some milliseconds.
  constexpr int64_t kTermsMin = 1 << 18, kTermsMax = 1 << 24;
  if constexpr (std::is_same_v<C, double> || std::is_same_v<C, Complex>) {
    const int64_t row_terms = n * k;
    if (m > 0 && row_terms > 0 && row_terms >= kTermsMin / m) {
      const int64_t rows = std::clamp<int64_t>(kTermsMax / row_terms, 1, m);
      bool done = true;
      for (int64_t row = 0; row < m && done; row += rows) {
        const int64_t count = std::min(rows, m - row);
        RETURN_IF_ERROR(evaluation.Tick(count * row_terms));
        done = lapack::AddProduct(count, n, k, a + row * k, b, c + row * n);
      }
      if (done) return absl::OkStatus();  // BLAS fails at the first call or never.
    }
  }
  for (int64_t row = 0; row < m; ++row) {
    C* const out = c + row * n;
    for (int64_t i = 0; i < k; ++i) {
      const C factor = a[row * k + i];
      const C* const from = b + i * n;
      RETURN_IF_ERROR(evaluation.InBlocks(n, 1, [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) out[j] = Sum(out[j], Product(factor, from[j]));
      }));
    }
  }
  return absl::OkStatus();
}

}  // namespace hlod::evaluator
