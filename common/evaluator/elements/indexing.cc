// Copies between strided views, a contiguous run at a time.
#include "common/evaluator/elements/indexing.h"

#include <algorithm>
#include <cstring>

#include "common/base/errors/status.h"

namespace hlod::evaluator {
namespace {

// Copies `n` elements of a fixed width; the compiler compiles memcpy of a constant size to one move.
template <int64_t kWidth>
void CopyRun(const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * to_stride * kWidth, from + i * from_stride * kWidth, kWidth);
}

void CopyRun(int64_t width, const std::byte* from, int64_t from_stride, std::byte* to, int64_t to_stride,
             int64_t n) {
  if (from_stride == 1 && to_stride == 1) {
    std::memcpy(to, from, n * width);
    return;
  }
  switch (width) {
    case 1: return CopyRun<1>(from, from_stride, to, to_stride, n);
    case 2: return CopyRun<2>(from, from_stride, to, to_stride, n);
    case 4: return CopyRun<4>(from, from_stride, to, to_stride, n);
    case 8: return CopyRun<8>(from, from_stride, to, to_stride, n);
    default: return CopyRun<16>(from, from_stride, to, to_stride, n);
  }
}

}  // namespace

absl::Status CopyElements(Evaluation& evaluation, absl::Span<const int64_t> dims, int64_t width,
                          const std::byte* from, const View& source, std::byte* to, const View& target) {
  const int64_t rank = static_cast<int64_t>(dims.size());
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return absl::OkStatus();
  if (rank == 0) {
    std::memcpy(to + target.offset * width, from + source.offset * width, width);
    return absl::OkStatus();
  }
  // Inner dimensions that are contiguous in both views form one run.
  int64_t inner = rank - 1, run = dims[inner];
  while (inner > 0 && source.strides[inner - 1] == source.strides[inner] * dims[inner] &&
         target.strides[inner - 1] == target.strides[inner] * dims[inner]) {
    --inner;
    run *= dims[inner];
  }
  const int64_t from_stride = source.strides[rank - 1], to_stride = target.strides[rank - 1];
  for (Odometer at(dims.subspan(0, inner)); at.valid(); at.Next()) {
    RETURN_IF_ERROR(evaluation.Tick(4));
    const int64_t start =
        source.offset + Offset(at.index(), absl::MakeSpan(source.strides).subspan(0, inner));
    const int64_t end = target.offset + Offset(at.index(), absl::MakeSpan(target.strides).subspan(0, inner));
    RETURN_IF_ERROR(evaluation.InBlocks(run, 1, [&](int64_t first, int64_t last) {
      CopyRun(width, from + (start + first * from_stride) * width, from_stride,
              to + (end + first * to_stride) * width, to_stride, last - first);
    }));
  }
  return absl::OkStatus();
}

Dims OtherDimensions(int64_t rank, absl::Span<const int64_t> some) {
  Dims others;
  for (int64_t d = 0; d < rank; ++d) {
    if (std::find(some.begin(), some.end(), d) == some.end()) others.push_back(d);
  }
  return others;
}

Dims OtherDimensions(int64_t rank, const Dims& a, const Dims& b) {
  Dims both = a;
  both.insert(both.end(), b.begin(), b.end());
  return OtherDimensions(rank, both);
}

Dims Pick(absl::Span<const int64_t> values, absl::Span<const int64_t> which) {
  Dims picked;
  for (int64_t d : which) picked.push_back(values[d]);
  return picked;
}

}  // namespace hlod::evaluator
