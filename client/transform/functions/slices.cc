// AssociativeScan, by halves: neighbours are combined to pairs, the prefixes of the pairs are the prefixes
// that end at every second slice, and one more combination computes the others. With five slices:
//
//   [a b c d e] -> pairs [ab cd] -> their prefixes [ab abcd] -> the others a, ab+c, abcd+e
#include "hlod/transform/slices.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/arrangement.h"
#include "hlod/ops/joining.h"

namespace hlod::lazy {
namespace {

using Tensors = std::vector<Tensor>;

// Returns the leaves' common size along `dim`. Throws when they differ.
int64_t CommonSize(const char* what, const Tensors& leaves, const std::vector<std::string>& paths,
                   int64_t dim, const Caller& caller) {
  if (leaves.empty()) Throw(ErrorKind::kArgument, "xs holds no tensor", what, caller);
  int64_t size = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    const int64_t rank = leaves[i].rank(), at = dim < 0 ? dim + rank : dim;
    if (at < 0 || at >= rank) {
      Throw(ErrorKind::kArgument, absl::StrCat(paths[i], " of rank ", rank, " has no dimension ", dim), what,
            caller);
    }
    const int64_t own = leaves[i].size(at);
    if (i == 0) size = own;
    if (own != size) {
      Throw(ErrorKind::kArgument, absl::StrCat(paths[i], " has ", own, " slices, ", paths[0], " has ", size),
            what, caller);
    }
  }
  return size;
}

class PrefixScan {
 public:
  PrefixScan(const Leafwise& f, int64_t dim, const Caller& caller) : f_(f), dim_(dim), caller_(caller) {}

  Tensors Run(const Tensors& x, int64_t count) const {
    if (count < 2) return x;
    const Tensors pairs = Combine(Subgraph(x, 0, count - 1, 2), Subgraph(x, 1, count, 2));
    const int64_t half = count / 2;
    const Tensors odd = Run(pairs, half);
    const Tensors before = count % 2 == 0 ? Subgraph(odd, 0, half - 1, 1) : odd;
    const Tensors after = Subgraph(x, 2, count, 2);
    const Tensors even =
        count > 2 ? Joined(Subgraph(x, 0, 1, 1), Combine(before, after)) : Subgraph(x, 0, 1, 1);
    return Interleaved(even, odd, count);
  }

 private:
  Tensors Subgraph(const Tensors& x, int64_t begin, int64_t end, int64_t step) const {
    Tensors parts;
    for (const Tensor& each : x) parts.push_back(each.Slice(dim_, begin, end, step, caller_));
    return parts;
  }
  Tensors Combine(const Tensors& a, const Tensors& b) const {
    Tensors c = f_(a, b);
    for (size_t i = 0; i < c.size() && i < a.size(); ++i) {
      if (c[i].dims() == a[i].dims() && c[i].dtype() == a[i].dtype()) continue;
      Throw(ErrorKind::kArgument,
            absl::StrCat("the function takes ", hlo::ToStringNoLayout(a[i].shape()), " and gives ",
                         hlo::ToStringNoLayout(c[i].shape()), ": what it gives is like what it takes"),
            "associative_scan", caller_);
    }
    return c;
  }
  Tensors Joined(const Tensors& first, const Tensors& second) const {
    Tensors joined;
    for (size_t i = 0; i < first.size(); ++i) joined.push_back(Cat({first[i], second[i]}, dim_, caller_));
    return joined;
  }
  // Returns even[0] odd[0] even[1] odd[1] ...; when the total is odd, the last is from `even`.
  Tensors Interleaved(const Tensors& even, const Tensors& odd, int64_t count) const {
    Tensors all;
    const int64_t half = count / 2;
    for (size_t i = 0; i < even.size(); ++i) {
      const int64_t dim = dim_ < 0 ? dim_ + even[i].rank() : dim_;
      Dims dims = odd[i].dims();
      dims[static_cast<size_t>(dim)] = 2 * half;
      const Tensor pairs =
          Stack({even[i].Slice(dim, 0, half, 1, caller_), odd[i]}, dim + 1, caller_).Reshape(dims, caller_);
      all.push_back(count % 2 == 0
                        ? pairs
                        : Cat({pairs, even[i].Slice(dim, half, half + 1, 1, caller_)}, dim, caller_));
    }
    return all;
  }

  const Leafwise& f_;
  const int64_t dim_;
  const Caller& caller_;
};

}  // namespace

Tensors CallAssociativeScan(const Leafwise& f, const Tensors& leaves, const std::vector<std::string>& paths,
                            const AssociativeScanOptions& options, const Caller& caller) {
  const CallerScope scope(caller);
  const int64_t count = CommonSize("associative_scan", leaves, paths, options.dim, caller);
  const auto flipped = [&](const Tensors& x) {
    Tensors all;
    for (const Tensor& each : x)
      all.push_back(Flip(Operand(each, caller), {options.dim < 0 ? options.dim + each.rank() : options.dim}));
    return all;
  };
  const PrefixScan scan(f, options.dim, caller);
  return options.reverse ? flipped(scan.Run(flipped(leaves), count)) : scan.Run(leaves, count);
}

int64_t CheckMap(const Tensors& leaves, const std::vector<std::string>& paths, int64_t batch_size,
                 const Caller& caller) {
  if (batch_size < 0) {
    Throw(ErrorKind::kArgument, absl::StrCat("a batch of ", batch_size, " slices; 0 is one at a time"), "map",
          caller);
  }
  return CommonSize("map", leaves, paths, 0, caller);
}

Tensors Batches(const Tensors& leaves, int64_t batches, int64_t size, const Caller& caller) {
  Tensors all;
  for (const Tensor& leaf : leaves) {
    Dims dims = leaf.dims();
    dims[0] = size;
    dims.insert(dims.begin(), batches);
    all.push_back(leaf.Slice(0, 0, batches * size, 1, caller).Reshape(dims, caller));
  }
  return all;
}

Tensors Rest(const Tensors& leaves, int64_t from, const Caller& caller) {
  Tensors all;
  for (const Tensor& leaf : leaves) all.push_back(leaf.Slice(0, from, {}, 1, caller));
  return all;
}

Tensors Together(const Tensors& batches, const Tensors& rest, const Caller& caller) {
  Tensors all;
  for (size_t i = 0; i < batches.size(); ++i) {
    Dims dims(batches[i].dims().begin() + 1, batches[i].dims().end());
    dims[0] *= batches[i].size(0);
    const Tensor flat = batches[i].Reshape(dims, caller);
    all.push_back(rest.empty() ? flat : Cat({flat, rest[i]}, 0, caller));
  }
  return all;
}

}  // namespace hlod::lazy
