// Random streams: a seed and a counter a device.
#include "client/tensor/generator.h"

#include "absl/container/flat_hash_map.h"
#include "client/tensor/function_trace.h"
#include "client/tensor/lock.h"

namespace hlod::lazy {
namespace {

constexpr uint64_t kDefaultSeed = 67280421310721;  // As PyTorch's.

struct Streams {
  uint64_t seed = kDefaultSeed;  // Of a stream that begins.
  absl::flat_hash_map<std::pair<Runtime*, int>, RandomState> by_place;
};

// Guarded by TraceLock.
Streams& All() {
  static auto* const streams = new Streams;
  return *streams;
}

}  // namespace

RandomState Advance(Place place, uint64_t steps) {
  const TraceLock lock;
  RandomState* stream = FunctionTrace::StreamAt(place);
  if (stream == nullptr) {
    stream =
        &All().by_place.try_emplace({place.runtime, place.ordinal}, RandomState{All().seed, 0}).first->second;
  }
  const RandomState drawn = *stream;
  stream->offset += steps;
  return drawn;
}

RandomState Draw(Place place, int64_t elements, int bits) {
  // A step of the counter gives 128 bits.
  return Advance(place, static_cast<uint64_t>((elements * bits + 127) / 128));
}

void Seed(Place place, uint64_t seed) {
  const TraceLock lock;
  All().by_place[{place.runtime, place.ordinal}] = {seed, 0};
  if (FunctionTrace::StreamAt(place) != nullptr) FunctionTrace::Reseed(seed);
}

void SeedAll(uint64_t seed) {
  const TraceLock lock;
  All().seed = seed;
  All().by_place.clear();
  FunctionTrace::Reseed(seed);
}

Op RandomBits(Lowering& l, RandomState state, PrimitiveType type, const Dims& dims) {
  // XLA's Philox state: the key, then the counter's two words.
  const Op position = l.graph.op(
      l.graph.NumberParameter(Literal::Array<uint64_t>({3}, {state.seed, state.offset, uint64_t{0}}), true));
  const Shape declared = Shape::Tuple({Shape::Array(hlo::kU64, {3}), Shape::Array(type, dims)});
  const Op both = l.b.Add(hlo::kRngBitGenerator, {position},
                          hlo::RngBitGeneratorAttributes{hlo::RandomAlgorithm::kPhilox}, {}, &declared);
  return l.b.GetTupleElement(both, 1);
}

Op RandomUniform(Lowering& l, RandomState state, PrimitiveType type, const Dims& dims) {
  const bool wide = type == hlo::kF64;
  const int mantissa = type == hlo::kF64 ? 53 : type == hlo::kF32 ? 24 : type == hlo::kF16 ? 11 : 8;
  const PrimitiveType bits_type = wide ? hlo::kU64 : hlo::kU32;
  const PrimitiveType compute = wide ? hlo::kF64 : hlo::kF32;
  const Op bits = RandomBits(l, state, bits_type, dims);
  const Op kept = l.b.Binary(hlo::kShiftRightLogical, bits, l.Number(bits_type, (wide ? 64 : 32) - mantissa));
  const Op scale = l.Number(compute, 1.0 / static_cast<double>(uint64_t{1} << mantissa));
  return l.Convert(l.Convert(kept, compute) * scale, type);
}

}  // namespace hlod::lazy
