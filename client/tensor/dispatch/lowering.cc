// Implements the helpers that many lowerings share.
#include "client/tensor/dispatch/lowering.h"

#include <limits>

#include "absl/strings/str_join.h"
#include "common/base/text/strings.h"

namespace hlod {

int64_t Scalar::ToInt() const {
  if (const auto* value = std::get_if<int64_t>(&value_)) return *value;
  return static_cast<int64_t>(ToDouble());
}
double Scalar::ToDouble() const { return ToComplex().real(); }
std::complex<double> Scalar::ToComplex() const {
  return std::visit(
      [](auto value) -> std::complex<double> {
        if constexpr (std::is_same_v<decltype(value), std::complex<double>>) return value;
        else return static_cast<double>(value);
      },
      value_);
}

}  // namespace hlod

namespace hlod::lazy {
namespace {

Literal Converted(const Literal& literal, PrimitiveType type) {
  absl::StatusOr<Literal> converted = hlo::Convert(literal, type);
  if (!converted.ok()) throw Refusal{converted.status()};
  return *std::move(converted);
}

}  // namespace

Literal NumberLiteral(PrimitiveType type, const Scalar& value) {
  if (type == hlo::kPred) {
    return Literal::Scalar<bool>(value.ToComplex() != std::complex<double>(0));
  }
  // Handles the common types without the general conversion.
  if (!value.is_complex()) {
    switch (type) {
      case hlo::kF32:
        return Literal::Scalar<float>(value.is_float() ? static_cast<float>(value.ToDouble())
                                                       : static_cast<float>(value.ToInt()));
      case hlo::kF64: return Literal::Scalar<double>(value.ToDouble());
      case hlo::kS64:
        if (!value.is_float()) return Literal::Scalar<int64_t>(value.ToInt());
        break;
      default: break;
    }
  }
  if (value.is_integer() || value.is_bool()) return Converted(Literal::Scalar<int64_t>(value.ToInt()), type);
  if (value.is_complex()) return Converted(Literal::Scalar<std::complex<double>>(value.ToComplex()), type);
  return Converted(Literal::Scalar<double>(value.ToDouble()), type);
}

void RequireOrder(hlo::Opcode opcode, PrimitiveType type) {
  const bool orders = opcode == hlo::kMaximum || opcode == hlo::kMinimum;
  if (orders && hlo::IsComplex(type)) Refuse("complex numbers have no order");
}

Literal NeutralLiteral(hlo::Opcode opcode, PrimitiveType type) {
  const bool lowest = opcode == hlo::kMaximum;
  switch (opcode) {
    case hlo::kAdd:
    case hlo::kOr: return NumberLiteral(type, 0);
    case hlo::kMultiply: return NumberLiteral(type, 1);
    case hlo::kAnd: return NumberLiteral(type, type == hlo::kPred ? 1 : -1);
    default: break;
  }
  if (hlo::IsFloat(type)) {
    const double infinity = std::numeric_limits<double>::infinity();
    return NumberLiteral(type, lowest ? -infinity : infinity);
  }
  if (type == hlo::kPred) return NumberLiteral(type, !lowest);
  Literal literal(Shape::Scalar(type));
  hlo::VisitType(type, [&]<typename T>() {
    if constexpr (std::is_integral_v<T>) {
      literal.data<T>()[0] = lowest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    }
  });
  return literal;
}

Op Lowering::Number(PrimitiveType type, const Scalar& value) {
  return graph.op(graph.Constant(NumberLiteral(type, value)));
}

Op Lowering::Varying(PrimitiveType type, const Scalar& value) {
  if (graph.kind == Trace::Kind::kHost) return Number(type, value);
  return graph.op(graph.NumberParameter(NumberLiteral(type, value)));
}

Op Lowering::Number(PrimitiveType type, const Scalar& value, const Caller& caller) {
  const bool varies = graph.kind != Trace::Kind::kHost && TraceTables::Get().IsParameter(caller, value);
  return varies ? Varying(type, value) : Number(type, value);
}

bool Lowering::Varies(const Scalar& value, const char* name) {
  return graph.kind != Trace::Kind::kHost &&
         TraceTables::Get().SettingVaries(graph.origin_now().caller, name, value);
}

Op Lowering::Setting(PrimitiveType type, const Scalar& value, const char* name) {
  return Varies(value, name) ? Varying(type, value) : Number(type, value);
}

Op Lowering::Full(PrimitiveType type, const Dims& dims, const Scalar& value) {
  const Op number = Number(type, value);
  return dims.empty() ? number : b.Broadcast(number, dims, {});
}

Op Lowering::BroadcastTo(Op x, const Dims& to) {
  const Dims from = dims(x);
  if (from == to) return x;
  if (from.size() > to.size()) {
    Refuse("shape %s does not broadcast to %s", ListText(from), ListText(to));
  }
  // Dimensions of size 1 that grow are dropped first, because HLO's broadcast repeats whole dimensions only.
  Dims kept, mapping;
  const size_t added = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != to[i + added] && from[i] != 1) {
      Refuse("shape %s does not broadcast to %s", ListText(from), ListText(to));
    }
    if (from[i] != to[i + added]) continue;
    kept.push_back(from[i]);
    mapping.push_back(static_cast<int64_t>(i + added));
  }
  return b.Broadcast(Reshape(x, kept), to, mapping);
}

Op Lowering::Convert(Op x, PrimitiveType to) {
  const PrimitiveType from = type(x);
  if (from == to) return x;
  if (to == hlo::kPred) {
    return b.Compare(x, Number(from, 0), hlo::ComparisonDirection::kNe);
  }
  return b.Convert(x, to);
}

Op Lowering::Reshape(Op x, const Dims& to) { return dims(x) == to ? x : b.Reshape(x, to); }

Op Lowering::Reduce(hlo::Opcode opcode, Op x, const Dims& dimensions) {
  if (dimensions.empty()) return x;
  const PrimitiveType element = type(x);
  RequireOrder(opcode, element);
  return b.Reduce(x, graph.op(graph.Constant(NeutralLiteral(opcode, element))), dimensions,
                  Reducer(opcode, element));
}

int64_t WrapDim(int64_t dim, int64_t rank) {
  const int64_t range = rank == 0 ? 1 : rank;  // A scalar accepts the dimensions 0 and -1, as in PyTorch.
  if (dim < -range || dim >= range) {
    Refuse("dimension (%d) is out of range: a tensor of rank %d takes %d to %d", dim, rank, -range,
           range - 1);
  }
  return dim < 0 ? dim + range : dim;
}

Dims WrapDims(absl::Span<const int64_t> dims, int64_t rank) {
  Dims wrapped;
  if (dims.empty()) {
    for (int64_t i = 0; i < rank; ++i) wrapped.push_back(i);
    return wrapped;
  }
  for (const int64_t dim : dims) {
    const int64_t at = WrapDim(dim, rank);
    if (std::find(wrapped.begin(), wrapped.end(), at) != wrapped.end()) {
      Refuse("dimension (%d) appears more than once in %s", dim, ListText(dims));
    }
    if (rank > 0) wrapped.push_back(at);
  }
  return wrapped;
}

Dims BroadcastDims(const Dims& a, const Dims& b) {
  const Dims& longer = a.size() >= b.size() ? a : b;
  const Dims& shorter = a.size() >= b.size() ? b : a;
  Dims result = longer;
  const size_t added = longer.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const int64_t x = longer[i + added], y = shorter[i];
    if (x != y && x != 1 && y != 1) {
      Refuse("shapes %s and %s do not broadcast: size %d meets size %d at dimension %d", ListText(a),
             ListText(b), a[a.size() - shorter.size() + i], b[b.size() - shorter.size() + i], i + added);
    }
    result[i + added] = x == 1 ? y : x;
  }
  return result;
}

int64_t Count(absl::Span<const int64_t> dims) {
  int64_t count = 1;
  for (const int64_t size : dims) count *= size;
  return count;
}

Dims SizesFor(const Sizes& sizes, int64_t count, const char* what, int64_t least) {
  Dims values = sizes.values();
  if (values.size() == 1) values.resize(count, values[0]);
  if (static_cast<int64_t>(values.size()) != count) {
    Refuse("%s %s must have 1 or %d entries", what, ListText(values), count);
  }
  for (const int64_t value : values) {
    if (value < least) Refuse("%s %s must be at least %d", what, ListText(values), least);
    constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
    if (value > kMost) Refuse("%s %s must be at most %d", what, ListText(values), kMost);
  }
  return values;
}

std::string ListText(absl::Span<const int64_t> values) {
  return absl::StrCat("[", absl::StrJoin(values, ", "), "]");
}

}  // namespace hlod::lazy
