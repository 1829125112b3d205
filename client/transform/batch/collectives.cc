// The collectives of Vmap, from the five that axis.h has.
#include "hlod/transform/collectives.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/ops/shape/movement.h"
#include "client/tensor/value/throw.h"
#include "client/transform/batch/axis.h"
#include "client/transform/batch/axis_scope.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/ops/indexing.h"
#include "hlod/ops/reduction.h"

namespace hlod {
namespace {

using lazy::AxisCall;
using lazy::Lowering;
using lazy::NamedAxis;
using lazy::Op;
using lazy::Operands;
using lazy::Operation;
using lazy::Promotion;
using lazy::Refuse;

constexpr Operation kPsum = {"Psum", "psum", Promotion::kNone, "a sum over examples"};
constexpr Operation kGather = {"AllGather", "all_gather", Promotion::kNone, "all examples' values"};
constexpr Operation kScatter = {"PsumScatter", "psum_scatter", Promotion::kNone,
                                "a slice of a sum over examples"};
constexpr Operation kPermute = {"Ppermute", "ppermute", Promotion::kNone, "values sent between examples"};
constexpr Operation kSwap = {"AllToAll", "all_to_all", Promotion::kNone, "slices exchanged between examples"};

// Calls `lower` with x, the tools of the axis, and a function that appends a collective over it.
template <typename F>
Tensor Over(const Operation& operation, const Operand& x, const std::string& name, F lower) {
  const NamedAxis& axis = lazy::AxisOfName(operation.pytorch, name, x.caller());
  return lazy::Call(operation, {x, Operand(axis.index, x.caller())}, [&](Lowering& l, Operands o) {
    const auto append = [&](AxisCall call, Op operand, const std::vector<int64_t>& sources = {}) {
      return lazy::AppendAxisCall(l, call, operand, o[1], axis.name, axis.size, sources);
    };
    return lower(l, o[0], axis.size, append);
  });
}

// Makes dimension `dim` of [n, rest ...], counted without the n, n times as large.
Op Concatenated(Lowering& l, Op x, int64_t dim) {
  const Op moved = lazy::MovedDim(l, x, 0, dim);
  Dims dims = l.dims(moved);
  dims[static_cast<size_t>(dim)] *= dims[static_cast<size_t>(dim) + 1];
  dims.erase(dims.begin() + dim + 1);
  return l.Reshape(moved, dims);
}

// Puts the n slices of dimension `dim` in front: [n, rest ...]. Unless `tiled` the dimension goes.
Op Divided(Lowering& l, Op x, int64_t dim, int64_t n, bool tiled) {
  Dims dims = l.dims(x);
  const int64_t size = dims[static_cast<size_t>(dim)];
  if (tiled ? size % n != 0 : size != n) {
    Refuse("dimension %d has size %d, which is not %s of examples, %d", dim, size,
           tiled ? "a multiple of the number" : "the number", n);
  }
  if (!tiled) return lazy::MovedDim(l, x, dim, 0);
  dims[static_cast<size_t>(dim)] = size / n;
  dims.insert(dims.begin() + dim, n);
  return lazy::MovedDim(l, l.Reshape(x, dims), dim, 0);
}

void CheckExample(int64_t example, int64_t size) {
  if (example < 0 || example >= size) Refuse("there is no example %d among %d", example, size);
}

// Returns the sender of each example.
std::vector<int64_t> Sources(const std::vector<std::pair<int64_t, int64_t>>& pairs, int64_t size) {
  std::vector<int64_t> sources(static_cast<size_t>(size), -1);
  std::vector<bool> sent(static_cast<size_t>(size), false);
  for (const auto& [from, to] : pairs) {
    CheckExample(from, size);
    CheckExample(to, size);
    if (sent[static_cast<size_t>(from)]) Refuse("example %d sends twice", from);
    if (sources[static_cast<size_t>(to)] >= 0) Refuse("example %d receives twice", to);
    sent[static_cast<size_t>(from)] = true;
    sources[static_cast<size_t>(to)] = from;
  }
  return sources;
}

// Returns the operand as a tensor: a number becomes a scalar on the examples' device, equal in all examples.
Tensor TensorOver(const Operand& x, const AxisNames& axis) {
  if (x.tensor() != nullptr || axis.names().empty()) return lazy::TensorOf(kPsum, x);
  const NamedAxis& found = lazy::AxisOfName(kPsum.pytorch, axis.names().front(), x.caller());
  return Full({}, x.scalar(), {.device = found.index.device()});
}

template <typename F>
Tensor OverEach(const Operand& x, const AxisNames& axis, F one) {
  Tensor result = TensorOver(x, axis);
  const std::vector<std::string>& names = axis.names();
  for (auto name = names.begin(); name != names.end(); ++name) {
    if (std::find(names.begin(), name, *name) == name) continue;
    lazy::Throw(ErrorKind::kArgument, absl::StrCat("the axis \"", *name, "\" is named twice"), "psum",
                x.caller());
  }
  for (const std::string& name : axis.names()) result = one(Operand(result, x.caller()), name);
  return result;
}

}  // namespace

int64_t AxisSize(const AxisNames& axis, Caller caller) {
  int64_t size = 1;
  for (const std::string& name : axis.names()) size *= lazy::AxisOfName("axis_size", name, caller).size;
  return size;
}

Tensor AxisIndex(const AxisNames& axis, Caller caller) {
  const CallerScope scope(caller);
  if (axis.names().empty()) lazy::Throw(ErrorKind::kArgument, "no axis is named", "axis_index", caller);
  Tensor index;
  for (const std::string& name : axis.names()) {
    const NamedAxis& found = lazy::AxisOfName("axis_index", name, caller);
    index = index.defined() ? index * found.size + found.index : found.index;
  }
  return index;
}

Tensor Psum(const Operand& x, const AxisNames& axis) {
  return OverEach(x, axis, [](const Operand& x, const std::string& name) {
    return Over(kPsum, x, name, [](Lowering& l, Op x, int64_t, const auto& append) {
      return append(AxisCall::kSum, l.type(x) == hlo::kPred ? l.Convert(x, hlo::kS64) : x);
    });
  });
}

Tensor Pmean(const Operand& x, const AxisNames& axis) {
  const CallerScope scope(x.caller());
  return Psum(x, axis) / AxisSize(axis, x.caller());
}

Tensor Pmax(const Operand& x, const AxisNames& axis) {
  const CallerScope scope(x.caller());
  return OverEach(x, axis,
                  [](const Operand& x, const std::string& name) { return Amax(AllGather(x, name), 0); });
}
Tensor Pmin(const Operand& x, const AxisNames& axis) {
  const CallerScope scope(x.caller());
  return OverEach(x, axis,
                  [](const Operand& x, const std::string& name) { return Amin(AllGather(x, name), 0); });
}

Tensor Pbroadcast(const Operand& x, const std::string& axis, int64_t source) {
  return Over(kGather, x, axis, [&](Lowering& l, Op x, int64_t size, const auto& append) {
    CheckExample(source, size);
    const Op one = lazy::SliceDim(l, append(AxisCall::kGather, x), 0, source, source + 1);
    return l.Reshape(one, l.dims(x));
  });
}

Tensor Ppermute(const Operand& x, const std::string& axis,
                const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  return Over(kPermute, x, axis, [&](Lowering&, Op x, int64_t size, const auto& append) {
    return append(AxisCall::kPermute, x, Sources(pairs, size));
  });
}

Tensor Pshuffle(const Operand& x, const std::string& axis, const std::vector<int64_t>& from) {
  return Over(kPermute, x, axis, [&](Lowering&, Op x, int64_t size, const auto& append) {
    if (static_cast<int64_t>(from.size()) != size) {
      Refuse("a permutation of %d examples has %d numbers", size, from.size());
    }
    std::vector<std::pair<int64_t, int64_t>> pairs;
    for (size_t i = 0; i < from.size(); ++i) pairs.emplace_back(from[i], static_cast<int64_t>(i));
    return append(AxisCall::kPermute, x, Sources(pairs, size));
  });
}

Tensor AllGather(const Operand& x, const std::string& axis, const AllGatherOptions& options) {
  return Over(kGather, x, axis, [&](Lowering& l, Op x, int64_t, const auto& append) {
    const int64_t dim = lazy::WrapDim(options.dim, lazy::RankOf(l, x) + (options.tiled ? 0 : 1));
    if (options.tiled && lazy::RankOf(l, x) == 0) Refuse("a scalar has no dimension to concatenate along");
    const Op all = append(AxisCall::kGather, x);
    return options.tiled ? Concatenated(l, all, dim) : lazy::MovedDim(l, all, 0, dim);
  });
}

Tensor PsumScatter(const Operand& x, const std::string& axis, const PsumScatterOptions& options) {
  return Over(kScatter, x, axis, [&](Lowering& l, Op x, int64_t size, const auto& append) {
    if (lazy::RankOf(l, x) == 0) Refuse("a scalar has no dimension to divide");
    const int64_t dim = lazy::WrapDim(options.dim, lazy::RankOf(l, x));
    return append(AxisCall::kScatter, Divided(l, x, dim, size, options.tiled));
  });
}

Tensor AllToAll(const Operand& x, const std::string& axis, int64_t split_dim, int64_t concat_dim,
                bool tiled) {
  return Over(kSwap, x, axis, [&](Lowering& l, Op x, int64_t size, const auto& append) {
    if (lazy::RankOf(l, x) == 0) Refuse("a scalar has no dimension to divide");
    const int64_t split = lazy::WrapDim(split_dim, lazy::RankOf(l, x));
    const int64_t concat = lazy::WrapDim(concat_dim, lazy::RankOf(l, x));
    const Op swapped = append(AxisCall::kSwap, Divided(l, x, split, size, tiled));
    return tiled ? Concatenated(l, swapped, concat) : lazy::MovedDim(l, swapped, 0, concat);
  });
}

Tensor Pswapaxes(const Operand& x, const std::string& axis, int64_t dim) {
  return AllToAll(x, axis, dim, dim);
}

}  // namespace hlod
