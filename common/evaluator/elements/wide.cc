// Loads and stores elements of every type through their carriers.
#include "common/evaluator/elements/wide.h"

#include <limits>

namespace hlod::evaluator {
namespace {

using hlo::PrimitiveType;
using hlo::TypeClass;

// The carrier type of a storage type.
template <typename T>
using CarrierType =
    std::conditional_t<std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>,
                       Complex,
                       std::conditional_t<std::is_floating_point_v<T> || hlo::kIsSmallFloat<T>, double,
                                          std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>>;

template <typename T>
struct CarrierOfStorage {
  using type = CarrierType<T>;
};
template <int Bits, bool kSigned>
struct CarrierOfStorage<hlo::SmallInt<Bits, kSigned>> {
  using type = std::conditional_t<kSigned, int64_t, uint64_t>;
};

template <typename T>
auto Widen(T value) {
  if constexpr (hlo::kIsSmallFloat<T>) {
    return static_cast<double>(static_cast<float>(value));
  } else if constexpr (hlo::kIsSmallInt<T>) {
    return static_cast<typename CarrierOfStorage<T>::type>(static_cast<int>(value));
  } else {
    return static_cast<typename CarrierOfStorage<T>::type>(value);
  }
}

template <typename T, typename C>
T Narrow(C value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value != 0;
  } else if constexpr (hlo::kIsSmallFloat<T>) {
    // A value that a float represents exactly is rounded from float, which has the same result and is faster.
    const float narrow = static_cast<float>(value);
    return static_cast<double>(narrow) == value ? T(narrow) : T(value);
  } else if constexpr (hlo::kIsSmallInt<T>) {
    return T(static_cast<int64_t>(value));
  } else {
    return static_cast<T>(value);
  }
}

}  // namespace

Carrier CarrierOf(PrimitiveType type) {
  switch (hlo::Info(type).type_class) {
    case TypeClass::kSigned: return Carrier::kSigned;
    case TypeClass::kFloat: return Carrier::kFloat;
    case TypeClass::kComplex: return Carrier::kComplex;
    default: return Carrier::kUnsigned;
  }
}

void Load(PrimitiveType type, const std::byte* from, int64_t n, void* to) {
  hlo::VisitType(type, [&]<typename T>() {
    const T* source = reinterpret_cast<const T*>(from);
    auto* target = static_cast<typename CarrierOfStorage<T>::type*>(to);
    for (int64_t i = 0; i < n; ++i) target[i] = Widen(source[i]);
  });
}

void Store(PrimitiveType type, const void* from, int64_t n, std::byte* to) {
  hlo::VisitType(type, [&]<typename T>() {
    const auto* source = static_cast<const typename CarrierOfStorage<T>::type*>(from);
    T* target = reinterpret_cast<T*>(to);
    for (int64_t i = 0; i < n; ++i) target[i] = Narrow<T>(source[i]);
  });
}

void Normalize(PrimitiveType type, void* block, int64_t n) {
  if (type == hlo::kF64 || type == hlo::kS64 || type == hlo::kU64 || type == hlo::kC128) return;
  hlo::VisitType(type, [&]<typename T>() {
    auto* values = static_cast<typename CarrierOfStorage<T>::type*>(block);
    for (int64_t i = 0; i < n; ++i) values[i] = Widen(Narrow<T>(values[i]));
  });
}

template <typename C>
std::vector<C> LoadAs(const hlo::Literal& literal) {
  const PrimitiveType type = literal.shape().type;
  const int64_t n = literal.element_count();
  std::vector<C> values(n);
  VisitCarrier(CarrierOf(type), [&]<typename Own>() {
    if constexpr (std::is_same_v<Own, C>) {
      Load(type, literal.bytes().data(), n, values.data());
    } else {
      std::vector<Own> own(n);
      Load(type, literal.bytes().data(), n, own.data());
      for (int64_t i = 0; i < n; ++i) {
        if constexpr (std::is_same_v<Own, Complex>) {
          values[i] = static_cast<C>(own[i].real());
        } else {
          values[i] = static_cast<C>(own[i]);
        }
      }
    }
  });
  return values;
}
template std::vector<uint64_t> LoadAs(const hlo::Literal&);
template std::vector<int64_t> LoadAs(const hlo::Literal&);
template std::vector<double> LoadAs(const hlo::Literal&);
template std::vector<Complex> LoadAs(const hlo::Literal&);

int64_t IndexAt(const hlo::Literal& literal, int64_t index) {
  const PrimitiveType type = literal.shape().type;
  const std::byte* at = literal.bytes().data() + index * hlo::ByteWidth(type);
  Wide value;
  Load(type, at, 1, value.bytes);
  if (hlo::IsSigned(type)) return value.as<int64_t>();
  const uint64_t wide = value.as<uint64_t>();
  return wide > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
             ? std::numeric_limits<int64_t>::max()
             : static_cast<int64_t>(wide);
}

}  // namespace hlod::evaluator
