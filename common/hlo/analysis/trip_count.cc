// Recognizes counting loops of the form that JAX makes of scan and fori_loop.
#include "common/hlo/analysis/trip_count.h"

#include <cmath>
#include <utility>

#include "absl/strings/numbers.h"
#include "common/hlo/literal.h"
#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"

namespace hlod::hlo {
namespace {

using Order = ComparisonDirection;

// The largest integer that JSON represents exactly.
constexpr double kIterationsMax = 9007199254740992;

// Returns the index of the tuple element that the instruction reads from the only parameter; nullopt when it
// reads anything else.
std::optional<size_t> StateIndex(Instruction instruction) {
  if (instruction.opcode() != kGetTupleElement || instruction.operand(0).opcode() != kParameter) {
    return std::nullopt;
  }
  return static_cast<size_t>(instruction.attributes<TupleIndexAttributes>().index);
}

// Returns the value of a limit that is a constant, or a state element that begins as a constant and never
// changes.
std::optional<int64_t> LimitOf(Instruction limit, Instruction init, const Computation& body) {
  const std::optional<size_t> index = StateIndex(limit);
  if (!index.has_value()) return IntegerOf(limit);
  if (StateIndex(body.root().operand(static_cast<uint32_t>(*index))) != index) return std::nullopt;
  return IntegerOf(init.operand(static_cast<uint32_t>(*index)));
}

std::optional<int64_t> StepOf(size_t index, const Computation& body) {
  const Instruction next = body.root().operand(static_cast<uint32_t>(index));
  if (next.opcode() != kAdd) return std::nullopt;
  for (const uint32_t side : {0u, 1u}) {
    const std::optional<int64_t> step = IntegerOf(next.operand(1 - side));
    if (StateIndex(next.operand(side)) == index && step.has_value() && *step > 0) return step;
  }
  return std::nullopt;
}

// Returns the trip count in {"known_trip_count":{"n":"5"}, ...}. This is protobuf's JSON, in which 64-bit
// integers are strings or numbers.
std::optional<int64_t> NotedTripCount(Instruction loop) {
  const Notes* const notes = loop.computation().notes(loop.id());
  if (notes == nullptr || notes->backend_config.empty()) return std::nullopt;
  google::protobuf::Struct config;
  if (!google::protobuf::util::JsonStringToMessage(notes->backend_config, &config).ok()) return std::nullopt;
  const auto count = config.fields().find("known_trip_count");
  if (count == config.fields().end()) return std::nullopt;
  const auto& fields = count->second.struct_value().fields();
  const auto n = fields.find("n");
  if (n == fields.end()) return std::nullopt;
  int64_t iterations = -1;
  if (n->second.kind_case() == google::protobuf::Value::kNumberValue) {
    const double number = n->second.number_value();
    if (number >= 0 && number <= kIterationsMax && number == std::floor(number))
      iterations = static_cast<int64_t>(number);
  } else if (!absl::SimpleAtoi(n->second.string_value(), &iterations)) {
    return std::nullopt;
  }
  return iterations >= 0 ? std::optional<int64_t>(iterations) : std::nullopt;
}

}  // namespace

std::optional<int64_t> IntegerOf(Instruction instruction) {
  if (instruction.opcode() != kConstant || !instruction.shape().dims.empty() ||
      !IsInteger(instruction.shape().type)) {
    return std::nullopt;
  }
  const absl::StatusOr<Literal> converted = Convert(instruction.literal(), kS64);
  if (!converted.ok()) return std::nullopt;
  return converted->data<int64_t>()[0];
}

std::optional<LoopCounter> FindLoopCounter(Instruction init, const Computation& body,
                                           const Computation& condition) {
  const Instruction test = condition.root();
  if (init.opcode() != kTuple || body.root().opcode() != kTuple || test.opcode() != kCompare) {
    return std::nullopt;
  }
  Order order = test.attributes<CompareAttributes>().direction;
  Instruction counter = test.operand(0), limit = test.operand(1);
  if (order == Order::kGt || order == Order::kGe) {  // The limit is the left operand.
    std::swap(counter, limit);
    order = order == Order::kGt ? Order::kLt : Order::kLe;
  }
  const std::optional<size_t> index = StateIndex(counter);
  if (!index.has_value() || (order != Order::kLt && order != Order::kLe)) return std::nullopt;
  const Instruction begin = init.operand(static_cast<uint32_t>(*index));
  const std::optional<int64_t> first = IntegerOf(begin), last = LimitOf(limit, init, body),
                               step = StepOf(*index, body);
  if (!first.has_value() || !last.has_value() || !step.has_value()) return std::nullopt;
  // A counter beyond the largest number of its type would wrap around.
  const int64_t max = ByteSize(begin.shape()).value_or(0) < 4 ? INT8_MAX : INT32_MAX;
  const auto exceeds = [max](int64_t value) { return value > max || value < -max; };
  if (exceeds(*first) || exceeds(*last) || *step > max - std::max(*last, int64_t{0}) - 1) return std::nullopt;
  const int64_t end = order == Order::kLe ? *last + 1 : *last;
  return LoopCounter{.index = *index,
                     .begin = *first,
                     .step = *step,
                     .iterations = end <= *first ? 0 : (end - *first + *step - 1) / *step};
}

std::optional<int64_t> TripCountOf(const Module& module, Instruction loop) {
  if (const std::optional<int64_t> noted = NotedTripCount(loop); noted.has_value()) return noted;
  const std::optional<LoopCounter> counter = FindLoopCounter(
      loop.operand(0), module.computation(loop.called()[0]), module.computation(loop.called()[1]));
  return counter.has_value() ? std::optional<int64_t>(counter->iterations) : std::nullopt;
}

}  // namespace hlod::hlo
