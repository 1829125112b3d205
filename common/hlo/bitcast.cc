// Undoes tiles one at a time: each tile divides the most minor dimensions that earlier tiles left.
#include "common/hlo/bitcast.h"

#include <algorithm>
#include <numeric>

#include "common/base/errors/status.h"

namespace hlod::hlo {
namespace {

// An array in the order of its memory.
struct Memory {
  // The steps from the logical order. The leading dimensions are those of the shape.
  std::vector<Reordering> steps;
  Dims dims;  // The dimensions from major to minor.
  bool padded = false;
};

// Returns the dimensions of `dims` in the order of `permutation`.
Dims Permuted(const Dims& dims, const Dims& permutation) {
  Dims permuted;
  for (const int64_t d : permutation) permuted.push_back(dims[static_cast<size_t>(d)]);
  return permuted;
}

bool IsTrivial(const Reordering& step) {
  return std::is_sorted(step.permutation.begin(), step.permutation.end());
}

// Cuts the last dimensions by a tile: [.., a, b] by (s, t) becomes [.., a/s, b/t, s, t].
bool Cut(const Dims& tile, Memory& memory) {
  const size_t count = tile.size();
  if (count > memory.dims.size()) return false;
  const size_t kept = memory.dims.size() - count;
  Reordering step;
  Dims apart(memory.dims.begin(), memory.dims.begin() + static_cast<ptrdiff_t>(kept));
  Dims outer(kept), inner;
  std::iota(outer.begin(), outer.end(), 0);
  for (size_t i = 0; i < count; ++i) {
    if (tile[i] < 1) return false;
    const int64_t size = memory.dims[kept + i];
    memory.padded = memory.padded || size % tile[i] != 0;
    apart.push_back(size / tile[i] + (size % tile[i] != 0 ? 1 : 0));
    outer.push_back(static_cast<int64_t>(apart.size() - 1));
    apart.push_back(tile[i]);
    inner.push_back(static_cast<int64_t>(apart.size() - 1));
  }
  step.permutation = outer;
  step.permutation.insert(step.permutation.end(), inner.begin(), inner.end());
  step.dims = apart;
  memory.dims = Permuted(apart, step.permutation);
  memory.steps.push_back(std::move(step));
  return memory.dims.size() <= static_cast<size_t>(kMaxRank);
}

// Returns the number of bits from one element to the next in memory: the layout's element size (E(4) packs
// 4-bit elements), otherwise the type's width, at least a byte.
int64_t StoredBits(const Shape& shape) {
  const int64_t stated = shape.layout.has_value() ? shape.layout->element_size_in_bits : 0;
  return stated != 0 ? stated : std::max<int64_t>(8, Info(shape.type).bits);
}

bool Understands(const Shape& shape) {
  const Layout& layout = *shape.layout;
  // E(n): elements are stored with another width than hlod stores their type.
  const bool packed =
      layout.element_size_in_bits != 0 && layout.element_size_in_bits != Info(shape.type).bits;
  return !packed && layout.split_configs.empty() && layout.physical_shape == nullptr &&
         layout.tail_padding_alignment <= 1 && layout.dynamic_shape_metadata_prefix_bytes == 0;
}

Memory Untiled(const Shape& shape) {
  Memory memory;
  Reordering step;
  step.dims = shape.dims;
  step.permutation.resize(shape.dims.size());
  std::iota(step.permutation.begin(), step.permutation.end(), 0);
  if (shape.layout.has_value()) {
    step.permutation.assign(shape.layout->minor_to_major.rbegin(), shape.layout->minor_to_major.rend());
  }
  memory.dims = Permuted(step.dims, step.permutation);
  memory.steps.push_back(std::move(step));
  return memory;
}

// Returns nullopt for tiles that merge dimensions.
std::optional<Memory> MemoryOf(const Shape& shape) {
  Memory memory = Untiled(shape);
  if (!shape.layout.has_value()) return memory;
  for (const Dims& tile : shape.layout->tiles) {
    if (!Cut(tile, memory)) return std::nullopt;
  }
  return memory;
}

Dims WithoutOnes(const Dims& dims) {
  Dims kept;
  std::ranges::copy_if(dims, std::back_inserter(kept), [](int64_t size) { return size != 1; });
  return kept;
}

std::vector<Reordering> Reversed(const std::vector<Reordering>& steps) {
  std::vector<Reordering> reversed;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    Reordering back{.dims = Permuted(step->dims, step->permutation), .permutation = step->permutation};
    for (size_t i = 0; i < step->permutation.size(); ++i)
      back.permutation[static_cast<size_t>(step->permutation[i])] = static_cast<int64_t>(i);
    reversed.push_back(std::move(back));
  }
  return reversed;
}

BitcastForm FormOf(const Memory& operand, const Memory& result) {
  BitcastForm form{operand.steps, Reversed(result.steps)};
  if (std::ranges::all_of(form.to_memory, IsTrivial)) form.to_memory.clear();
  if (std::ranges::all_of(form.from_memory, IsTrivial)) form.from_memory.clear();
  return form;
}

// Returns the sizes from the slowest to the fastest dimension, without leading ones outside the tiled
// dimensions.
Dims TiledSizes(const Shape& shape, const Layout& layout) {
  size_t tiled = 1;
  for (const Dims& tile : layout.tiles) tiled = std::max(tiled, tile.size());
  Dims sizes;
  for (size_t i = layout.minor_to_major.size(); i-- > 0;) {
    const int64_t size = shape.dims[static_cast<size_t>(layout.minor_to_major[i])];
    if (size != 1 || !sizes.empty() || i < tiled) sizes.push_back(size);
  }
  return sizes;
}

// Returns true when the memory of two shapes has the same elements, and the same padding in the same places.
bool PadsAlike(const Shape& a, const Shape& b) {
  const auto layout = [](const Shape& shape) {
    return shape.layout.value_or(Layout::RowMajor(static_cast<int64_t>(shape.dims.size())));
  };
  const Layout of_a = layout(a), of_b = layout(b);
  return of_a.tiles == of_b.tiles && TiledSizes(a, of_a) == TiledSizes(b, of_b);
}

}  // namespace

bool IsRowMajor(const Shape& shape) { return !shape.layout.has_value() || shape.layout->IsRowMajor(); }

absl::StatusOr<BitcastForm> BitcastFormOf(const Shape& operand, const Shape& result) {
  const auto refused = [&](const char* why) {
    return Unimplemented("A bitcast from %s to %s is not run: %s.", ToString(operand), ToString(result), why);
  };
  if (operand.type != result.type && (Info(operand.type).bits < 8 || Info(result.type).bits < 8) &&
      Info(operand.type).bits != Info(result.type).bits)
    return refused("elements below a byte have a byte each here");
  for (const Shape* shape : {&operand, &result}) {
    if (shape->layout.has_value() && !Understands(*shape))
      return refused("its layout is more than an order and tiles");
  }
  if (StoredBits(operand) != StoredBits(result) && Info(operand.type).bits == Info(result.type).bits)
    return refused("its elements are packed on one side only");
  const std::optional<Memory> from = MemoryOf(operand), to = MemoryOf(result);
  if (!from.has_value() || !to.has_value()) return refused("its tiles merge dimensions");
  if (!from->padded && !to->padded) return FormOf(*from, *to);
  // When both have the same padding, every element keeps its place, and the bitcast follows from the order of
  // the dimensions. When tiles, orders or the last dimensions differ (also by dimensions of size one), the
  // padding is in other places.
  if (!PadsAlike(operand, result)) return refused("its tiles pad in other places");
  const Memory plain_from = Untiled(operand), plain_to = Untiled(result);
  if (operand.type != result.type || WithoutOnes(plain_from.dims) != WithoutOnes(plain_to.dims) ||
      WithoutOnes(from->dims) != WithoutOnes(to->dims)) {
    return refused("its tiles pad, and what it reads of the padding is not known");
  }
  return FormOf(plain_from, plain_to);
}

absl::StatusOr<BitcastForm> BitcastFormOf(Instruction bitcast) {
  const Shape &operand = bitcast.operand(0).shape(), &result = bitcast.shape();
  if (operand.HasDynamicDimension() || result.HasDynamicDimension()) {
    return Unimplemented("%s: a bitcast of dynamic dimensions is not run: from %s to %s.", bitcast.name(),
                         ToString(operand), ToString(result));
  }
  absl::StatusOr<BitcastForm> form = BitcastFormOf(operand, result);
  return form.ok() ? std::move(form) : Annotate(form.status(), bitcast.name());
}

}  // namespace hlod::hlo
