// A multiply-and-fold hash with secret factors.
#include "common/hlo/hash.h"

#include <random>
#include <string_view>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace hlod::hlo {
namespace {

struct Seed {
  uint64_t start, factor;
};

Seed RandomSeed() {
  std::random_device random;
  const auto word = [&] { return uint64_t{random()} << 32 | random(); };
  return {word(), word() | 1};
}

const Seed& ProcessSeed() {
  static const Seed seed = RandomSeed();
  return seed;
}

// Cheap, because a trace hashes a shape per instruction: one product per value. Both halves of the product
// are kept, so that colliding values cannot be computed without the seed.
class Hasher {
 public:
  void Add(uint64_t value) {
    const auto product = static_cast<unsigned __int128>(state_ ^ value) * factor_;
    state_ = (static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64)) + start_;
  }
  void Add(const Dims& dims) {
    Add(dims.size());
    for (const int64_t size : dims) Add(static_cast<uint64_t>(size));
  }
  void Add(const Layout& layout) {
    Add(layout.minor_to_major);
    Add(layout.tiles.size());
    for (const Dims& tile : layout.tiles) Add(tile);
    Add(static_cast<uint64_t>(layout.tail_padding_alignment));
    Add(static_cast<uint64_t>(layout.index_type) << 8 | static_cast<uint64_t>(layout.pointer_type));
    Add(static_cast<uint64_t>(layout.element_size_in_bits));
    Add(static_cast<uint64_t>(layout.memory_space));
    Add(static_cast<uint64_t>(layout.dynamic_shape_metadata_prefix_bytes));
    Add(layout.split_configs.size());
    for (const auto& [dimension, indices] : layout.split_configs) {
      Add(static_cast<uint64_t>(dimension));
      Add(indices);
    }
    Add(layout.physical_shape != nullptr ? HashOf(*layout.physical_shape) : 0);
  }
  uint64_t Finish() {
    Add(0);
    return state_;
  }

 private:
  const uint64_t start_ = ProcessSeed().start, factor_ = ProcessSeed().factor;
  uint64_t state_ = start_;
};

}  // namespace

uint64_t HashOf(const Shape& shape) {
  Hasher hasher;
  hasher.Add(static_cast<uint64_t>(shape.type));
  hasher.Add(shape.dims);
  hasher.Add(shape.dynamic.size());
  for (const bool dynamic : shape.dynamic) hasher.Add(dynamic);
  hasher.Add(shape.tuple.size());
  for (const Shape& element : shape.tuple) hasher.Add(HashOf(element));
  if (shape.layout) hasher.Add(*shape.layout);
  return hasher.Finish();
}

uint64_t HashOf(const Attributes& attributes) {
  Hasher hasher;
  hasher.Add(attributes.index());
  hasher.Add(std::visit([](const auto& value) { return absl::HashOf(value); }, attributes));
  return hasher.Finish();
}

uint64_t HashOf(const Literal& literal) {
  Hasher hasher;
  hasher.Add(HashOf(literal.shape()));
  for (const Literal* leaf : literal.Leaves()) {
    const absl::Span<const std::byte> bytes = leaf->bytes();
    hasher.Add(absl::HashOf(absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size())));
  }
  return hasher.Finish();
}

}  // namespace hlod::hlo
