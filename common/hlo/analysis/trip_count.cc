// Counting loops, after what JAX makes of scan and fori_loop.
#include "common/hlo/analysis/trip_count.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "common/hlo/literal.h"

namespace hlod::hlo {
namespace {

using Order = ComparisonDirection;

// The element of the only parameter that the instruction is.
std::optional<size_t> StateIndex(Instruction instruction) {
  if (instruction.opcode() != kGetTupleElement || instruction.operand(0).opcode() != kParameter) {
    return std::nullopt;
  }
  return static_cast<size_t>(instruction.attributes<TupleIndexAttributes>().index);
}

// A constant, or an element of the state that begins as one and stays.
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

// {"known_trip_count":{"n":"5"}, ...}
std::optional<int64_t> NotedTripCount(Instruction loop) {
  const Notes* const notes = loop.computation().notes(loop.id());
  if (notes == nullptr) return std::nullopt;
  static constexpr char kKey[] = "\"known_trip_count\":{\"n\":\"";
  const size_t found = notes->backend_config.find(kKey);
  if (found == std::string::npos) return std::nullopt;
  const std::string rest = notes->backend_config.substr(found + sizeof(kKey) - 1);
  int64_t turns = 0;
  const bool number = absl::SimpleAtoi(rest.substr(0, rest.find('"')), &turns);
  return number && turns >= 0 ? std::optional<int64_t>(turns) : std::nullopt;
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
  if (order == Order::kGt || order == Order::kGe) {  // The limit stands first.
    std::swap(counter, limit);
    order = order == Order::kGt ? Order::kLt : Order::kLe;
  }
  const std::optional<size_t> index = StateIndex(counter);
  if (!index.has_value() || (order != Order::kLt && order != Order::kLe)) return std::nullopt;
  const Instruction begin = init.operand(static_cast<uint32_t>(*index));
  const std::optional<int64_t> first = IntegerOf(begin), last = LimitOf(limit, init, body),
                               step = StepOf(*index, body);
  if (!first.has_value() || !last.has_value() || !step.has_value()) return std::nullopt;
  // A counter that passes the largest number of its type begins again below.
  const int64_t max = ByteSize(begin.shape()).value_or(0) < 4 ? INT8_MAX : INT32_MAX;
  if (std::abs(*first) > max || std::abs(*last) > max || *step > max - std::max(*last, int64_t{0}) - 1) {
    return std::nullopt;
  }
  const int64_t end = order == Order::kLe ? *last + 1 : *last;
  return LoopCounter{.index = *index,
                     .begin = *first,
                     .step = *step,
                     .turns = end <= *first ? 0 : (end - *first + *step - 1) / *step};
}

std::optional<int64_t> TripCountOf(const Module& module, Instruction loop) {
  if (const std::optional<int64_t> noted = NotedTripCount(loop); noted.has_value()) return noted;
  const std::optional<LoopCounter> counter = FindLoopCounter(
      loop.operand(0), module.computation(loop.called()[0]), module.computation(loop.called()[1]));
  return counter.has_value() ? std::optional<int64_t>(counter->turns) : std::nullopt;
}

}  // namespace hlod::hlo
