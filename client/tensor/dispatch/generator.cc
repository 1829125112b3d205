// Random streams: a seed and a counter per device.
#include "client/tensor/dispatch/generator.h"

#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "client/tensor/function/function_trace.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"
#include "hlod/ops/random.h"

namespace hlod {
namespace lazy {
namespace {

constexpr uint64_t kDefaultSeed = 67280421310721;  // PyTorch's default seed.

struct Streams {
  uint64_t seed = kDefaultSeed;  // The seed of new streams.
  absl::flat_hash_map<std::pair<Runtime*, int>, RandomState> by_place;
};

// Guarded by TraceLock.
Streams& All() {
  static auto* const streams = new Streams;
  return *streams;
}

RandomState& StreamOf(Place place) {
  return All().by_place.try_emplace({place.runtime, place.ordinal}, RandomState{All().seed, 0}).first->second;
}

}  // namespace

// The stream of a Generator: its own, or that of a place.
struct RandomStream {
  std::optional<Place> place;
  RandomState own;

  RandomState& state() { return place.has_value() ? StreamOf(*place) : own; }
};

namespace {

// The stream that this thread draws from instead of the devices', or null.
std::shared_ptr<RandomStream>& InScope() {
  thread_local std::shared_ptr<RandomStream> stream;
  return stream;
}

}  // namespace

RandomState Advance(Place place, uint64_t steps) {
  const TraceLock lock;
  RandomState* stream = FunctionTrace::StreamAt(place);
  if (stream == nullptr) {
    const std::shared_ptr<RandomStream>& chosen = InScope();
    stream = chosen == nullptr ? &StreamOf(place) : &chosen->state();
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

}  // namespace lazy

Generator::Generator(uint64_t seed) : stream_(std::make_shared<lazy::RandomStream>()) {
  stream_->own.seed = seed;
}
Generator Generator::Of(const Device& device) {
  auto stream = std::make_shared<lazy::RandomStream>();
  stream->place = lazy::PlaceOf(device);
  return Generator(std::move(stream));
}

void Generator::ManualSeed(uint64_t seed) { SetState({seed, 0}); }
Generator::State Generator::GetState() const {
  const lazy::TraceLock lock;
  const lazy::RandomState& state = stream_->state();
  return {state.seed, state.offset};
}
void Generator::SetState(const State& state) {
  const lazy::TraceLock lock;
  stream_->state() = {state.seed, state.offset};
}

GeneratorScope::GeneratorScope(const Generator& generator, Caller caller) : around_(lazy::InScope()) {
  if (lazy::FunctionTrace::Innermost() != nullptr) {
    lazy::Throw(
        ErrorKind::kArgument,
        "a generator does not serve in a function that is traced, whose numbers differ from call to call: "
        "take keys (hlod/ops/random_key.h)",
        "generator", caller);
  }
  lazy::InScope() = generator.stream_;
}
GeneratorScope::~GeneratorScope() { lazy::InScope() = around_; }

}  // namespace hlod
