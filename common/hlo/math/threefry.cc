// Runs five groups of four rounds; after each group the next two of the key's three words are added.
#include "common/hlo/math/threefry.h"

#include <array>

namespace hlod::hlo {
namespace {

Op Word(Builder& b, uint32_t value) { return b.Constant(Literal::Scalar(value)); }
Op Xor(Op x, Op y) { return x.builder->Binary(kXor, x, y); }
Op Rotated(Op x, uint32_t by) {
  Builder& b = *x.builder;
  return b.Binary(kOr, b.Binary(kShiftLeft, x, Word(b, by)),
                  b.Binary(kShiftRightLogical, x, Word(b, 32 - by)));
}

}  // namespace

WordPair Threefry(const WordPair& key, const WordPair& block) {
  constexpr std::array<std::array<uint32_t, 4>, 2> kRotations = {{{13, 15, 26, 6}, {17, 29, 16, 24}}};
  constexpr uint32_t kParity = 0x1BD11BDA;
  Builder& b = *block.first.builder;
  const Dims dims = b.shape(block.first).dims;
  const auto spread = [&](Op word) {
    return b.shape(word).dims == dims ? word : b.Broadcast(word, dims, {});
  };
  const Op third = Xor(Xor(key.first, key.second), Word(b, kParity));
  const std::array<Op, 3> words = {spread(key.first), spread(key.second), spread(third)};
  WordPair x = {block.first + words[0], block.second + words[1]};
  for (uint32_t group = 0; group < 5; ++group) {
    for (const uint32_t rotation : kRotations[group % 2]) {
      x.first = x.first + x.second;
      x.second = Xor(Rotated(x.second, rotation), x.first);
    }
    x.first = x.first + words[(group + 1) % 3];
    x.second = x.second + words[(group + 2) % 3] + Word(b, group + 1);
  }
  return x;
}

}  // namespace hlod::hlo
