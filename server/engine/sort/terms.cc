// Converts a computation to terms, and simplifies them when their parameters become known.
#include "server/engine/sort/terms.h"

#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace hlod::engine {
namespace {

using Direction = hlo::ComparisonDirection;

constexpr uint64_t kSignBit = uint64_t{1} << 63;

constexpr SampleBits Bits(double x) { return std::bit_cast<SampleBits>(x); }
constexpr SampleBits Bits(int64_t x) { return static_cast<SampleBits>(x); }

// The special numbers, and two from each range between them.
constexpr double kInf = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();
constexpr SampleBits kFloatSamples[] = {Bits(kNan) | kSignBit,
                                        Bits(-kInf),
                                        Bits(-2.0),
                                        Bits(-1.0),
                                        Bits(-0.0),
                                        Bits(0.0),
                                        Bits(1.0),
                                        Bits(2.0),
                                        Bits(kInf),
                                        Bits(kNan)};
constexpr SampleBits kSignedSamples[] = {Bits(int64_t{-2}), Bits(int64_t{-1}), 0, 1, 2};
constexpr SampleBits kUnsignedSamples[] = {0, 1, 2};
constexpr SampleBits kPredSamples[] = {0, 1};

// Returns the bits of a scalar, or nullopt for types that have no samples.
std::optional<SampleBits> BitsOf(const hlo::Literal& literal) {
  std::optional<SampleBits> bits;
  const hlo::PrimitiveType type = literal.shape().type;
  if (SamplesOf(type).empty()) return bits;
  hlo::VisitType(type, [&]<typename T>() {
    const T value = literal.data<T>()[0];
    if (hlo::IsFloat(type)) {
      bits = Bits(hlo::ElementAsDouble(literal, 0));
    } else if constexpr (std::is_integral_v<T>) {
      bits = std::is_signed_v<T> ? Bits(static_cast<int64_t>(value)) : static_cast<SampleBits>(value);
    }
  });
  return bits;
}

// Returns true when there are samples on both sides of the constant, even very close to it.
bool IsSpecial(hlo::PrimitiveType type, SampleBits bits) {
  if (hlo::IsFloat(type)) {
    const auto x = std::bit_cast<double>(bits);
    return x == 0 || std::isinf(x) || std::isnan(x);
  }
  return bits == 0 || type == hlo::kPred;
}

// Returns true when the conversion preserves every number.
bool Keeps(hlo::PrimitiveType from, hlo::PrimitiveType to) {
  if (from == to) return true;
  const int narrow = hlo::Info(from).bits, wide = hlo::Info(to).bits;
  if (hlo::IsFloat(from) && hlo::IsFloat(to)) {
    const bool usual = from == hlo::kF16 || from == hlo::kBF16 || from == hlo::kF32;
    return usual && (to == hlo::kF32 || to == hlo::kF64) && narrow < wide;
  }
  if (hlo::IsUnsigned(from) && hlo::IsInteger(to)) return narrow < wide;
  return hlo::IsSigned(from) && hlo::IsSigned(to) && narrow < wide;
}

// Returns a double as a number in the total order: negative ones have all bits except the sign inverted.
int64_t TotalOrder(SampleBits bits) {
  return static_cast<int64_t>((bits & kSignBit) != 0 ? bits ^ ~kSignBit : bits);
}

template <typename T>
bool Holds(Direction direction, T a, T b) {
  switch (direction) {
    case Direction::kEq: return a == b;
    case Direction::kNe: return a != b;
    case Direction::kGe: return a >= b;
    case Direction::kGt: return a > b;
    case Direction::kLe: return a <= b;
    default: return a < b;
  }
}

bool Compared(const hlo::CompareAttributes& compare, hlo::PrimitiveType type, SampleBits a, SampleBits b) {
  if (hlo::IsFloat(type)) {
    return compare.type == hlo::ComparisonType::kTotalOrder
               ? Holds(compare.direction, TotalOrder(a), TotalOrder(b))
               : Holds(compare.direction, std::bit_cast<double>(a), std::bit_cast<double>(b));
  }
  if (hlo::IsSigned(type)) return Holds(compare.direction, static_cast<int64_t>(a), static_cast<int64_t>(b));
  return Holds(compare.direction, a, b);
}

}  // namespace

absl::Span<const SampleBits> SamplesOf(hlo::PrimitiveType type) {
  if (hlo::IsFloat(type)) return kFloatSamples;
  if (hlo::IsSigned(type)) return kSignedSamples;
  if (hlo::IsUnsigned(type)) return kUnsignedSamples;
  if (type == hlo::kPred) return kPredSamples;
  return {};
}

bool IsNanSample(hlo::PrimitiveType type, SampleBits bits) {
  return hlo::IsFloat(type) && std::isnan(std::bit_cast<double>(bits));
}

Terms::Terms() {
  Number(hlo::kPred, 0);
  Number(hlo::kPred, 1);
}

Terms::Id Terms::Intern(Term term) {
  const auto [at, added] = ids_.try_emplace(term, static_cast<Id>(terms_.size()));
  if (added) terms_.push_back(term);
  return at->second;
}

Terms::Id Terms::Number(hlo::PrimitiveType type, SampleBits bits) {
  return Intern({.kind = Kind::kNumber, .type = type, .number = bits});
}

Terms::Id Terms::Not(Id a) {
  if (IsNumber(a)) return terms_[a].number != 0 ? kFalse : kTrue;
  if (terms_[a].kind == Kind::kNot) return terms_[a].operands[0];
  return Intern({.kind = Kind::kNot, .operands = {a}, .depends = terms_[a].depends});
}

Terms::Id Terms::Logic(Kind kind, Id a, Id b) {
  if (a > b) std::swap(a, b);  // False and true have the smallest ids, so they come first.
  switch (kind) {
    case Kind::kAnd:
      if (a == b || a == kTrue) return b;
      if (a == kFalse) return kFalse;
      break;
    case Kind::kOr:
      if (a == b || a == kFalse) return b;
      if (a == kTrue) return kTrue;
      break;
    default:
      if (a == b) return kFalse;
      if (a == kFalse) return b;
      if (a == kTrue) return Not(b);
      break;
  }
  return Intern({.kind = kind, .operands = {a, b}, .depends = terms_[a].depends | terms_[b].depends});
}

Terms::Id Terms::Make(Term term) {
  const Id a = term.operands[0], b = term.operands[1], c = term.operands[2];
  switch (term.kind) {
    case Kind::kCompare:
      if (IsNumber(a) && IsNumber(b)) {
        return Compared(term.compare, terms_[a].type, terms_[a].number, terms_[b].number) ? kTrue : kFalse;
      }
      break;
    case Kind::kSelect:
      if (IsNumber(a)) return terms_[a].number != 0 ? b : c;
      if (b == c) return b;
      if (term.type == hlo::kPred)
        return Logic(Kind::kOr, Logic(Kind::kAnd, a, b), Logic(Kind::kAnd, Not(a), c));
      break;
    case Kind::kAnd:
    case Kind::kOr:
    case Kind::kXor: return Logic(term.kind, a, b);
    case Kind::kNot: return Not(a);
    case Kind::kNegate:
      if (IsNumber(a)) return Number(term.type, terms_[a].number ^ kSignBit);
      break;
    case Kind::kConvert:
      if (IsNumber(a)) return Number(term.type, terms_[a].number);
      break;
    default: break;
  }
  term.depends = terms_[a].depends | terms_[b].depends | terms_[c].depends;
  return Intern(term);
}

std::optional<Terms::Id> Terms::ReadInstruction(hlo::Instruction instruction,
                                                const std::vector<std::optional<Id>>& read) {
  const hlo::PrimitiveType type = instruction.shape().type;
  if (!instruction.shape().IsScalar() || SamplesOf(type).empty() || instruction.operand_count() > 3)
    return std::nullopt;
  Term term{.type = type};
  for (uint32_t i = 0; i < instruction.operand_count(); ++i) {
    const std::optional<Id> operand = read[instruction.operands()[i]];
    if (!operand) return std::nullopt;
    term.operands[i] = *operand;
  }
  const bool is_pred = type == hlo::kPred;
  switch (instruction.opcode()) {
    case hlo::kParameter: {
      const int64_t number = instruction.parameter_number();
      if (number >= 2 * kOperandsMax) return std::nullopt;
      return Intern({.kind = Kind::kParameter,
                     .type = type,
                     .number = static_cast<uint64_t>(number),
                     .depends = uint32_t{1} << (number / 2)});
    }
    case hlo::kConstant: {
      const std::optional<SampleBits> bits = BitsOf(instruction.literal());
      if (!bits || !IsSpecial(type, *bits)) return std::nullopt;
      return Number(type, *bits);
    }
    case hlo::kCompare: {
      const hlo::PrimitiveType compared = instruction.operand(0).shape().type;
      term.kind = Kind::kCompare;
      term.compare = instruction.attributes<hlo::CompareAttributes>();
      if (term.compare.type != hlo::DefaultComparisonType(compared) &&
          term.compare.type != hlo::ComparisonType::kTotalOrder) {
        return std::nullopt;
      }
      return Make(term);
    }
    case hlo::kSelect: term.kind = Kind::kSelect; return Make(term);
    case hlo::kAnd: term.kind = Kind::kAnd; break;
    case hlo::kOr: term.kind = Kind::kOr; break;
    case hlo::kXor: term.kind = Kind::kXor; break;
    case hlo::kNot: term.kind = Kind::kNot; break;
    case hlo::kNegate:
      if (!hlo::IsFloat(type)) return std::nullopt;
      term.kind = Kind::kNegate;
      return Make(term);
    case hlo::kConvert:
      if (!Keeps(instruction.operand(0).shape().type, type)) return std::nullopt;
      term.kind = Kind::kConvert;
      return Make(term);
    case hlo::kCopy:
    case hlo::kReshape:
    case hlo::kOptBarrier: return term.operands[0];
    default: return std::nullopt;
  }
  if (!is_pred) return std::nullopt;
  return Make(term);
}

std::optional<Terms::Id> Terms::Read(const hlo::Computation& computation) {
  if (computation.size() > kInstructionsMax) return std::nullopt;
  // An instruction that cannot become a term is not an error yet, because it may be dead.
  std::vector<std::optional<Id>> read(computation.size());
  for (hlo::NodeId node = 0; node <= computation.root_id(); ++node)
    read[node] = ReadInstruction(computation[node], read);
  const hlo::Shape& result = computation.root().shape();
  if (!result.IsScalar() || result.type != hlo::kPred) return std::nullopt;
  return read[computation.root_id()];
}

Terms::Id Terms::With(Id term, int operand, SampleBits left, SampleBits right) {
  const SampleBits sides[2] = {left, right};
  Ids done;
  return Substitute(term, operand, sides, done);
}

Terms::Id Terms::Substitute(Id id, int operand, const SampleBits (&sides)[2], Ids& done) {
  Term term = terms_[id];
  if ((term.depends >> operand & 1) == 0) return id;
  ++work_;
  if (const auto found = done.find(id); found != done.end()) return found->second;
  Id result;
  if (term.kind == Kind::kParameter) {
    result = Number(term.type, sides[term.number & 1]);
  } else {
    for (Id& part : term.operands) part = Substitute(part, operand, sides, done);
    result = Make(term);
  }
  done.emplace(id, result);
  return result;
}

}  // namespace hlod::engine
