// The loops of tile functions over their elements, and the carriers that an operation supports. Included only
// by ops_impl.h, inside its namespace.

template <typename T>
inline constexpr bool kIsPred = std::is_same_v<T, uint8_t>;
template <typename T>
inline constexpr bool kIsFloat = std::is_floating_point_v<T>;
template <typename T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !kIsPred<T>;
// The type in which integers are computed; narrow ones wrap when they are stored.
template <typename T>
using Unsigned = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
// The carrier of u8, because uint8_t is used for preds.
using Byte = char8_t;
// An integer type of the same width.
template <typename T>
using UnsignedOf = std::conditional_t<
    sizeof(T) == 1, uint8_t,
    std::conditional_t<sizeof(T) == 2, uint16_t, std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
template <typename T>
using SignedOf = std::make_signed_t<UnsignedOf<T>>;

// With `ivdep`, an output is either one of the inputs, element for element, or does not overlap them.
template <typename F, typename Out, typename A>
HLOD_TARGET void Unary(void* out, const void* a, const void*, const void*, int n, int64_t immediate) {
  Out* o = static_cast<Out*>(out);
  const A* x = static_cast<const A*>(a);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) o[i] = F::Do(x[i], immediate);
}
template <typename F, typename Out, typename A>
HLOD_TARGET void Binary(void* out, const void* a, const void* b, const void*, int n, int64_t immediate) {
  Out* o = static_cast<Out*>(out);
  const A* x = static_cast<const A*>(a);
  const A* y = static_cast<const A*>(b);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) o[i] = F::Do(x[i], y[i], immediate);
}
template <typename F, typename Out, typename A, typename B>
HLOD_TARGET void Ternary(void* out, const void* a, const void* b, const void* c, int n, int64_t) {
  Out* o = static_cast<Out*>(out);
  const A* x = static_cast<const A*>(a);
  const B* y = static_cast<const B*>(b);
  const B* z = static_cast<const B*>(c);
#pragma GCC ivdep
  for (int i = 0; i < n; ++i) o[i] = F::Do(x[i], y[i], z[i]);
}

// Calls f.operator()<T>() with the carrier's type. Complex numbers have functions of their own.
template <typename Result, typename F>
Result ByCarrier(Carrier carrier, F f) {
  switch (carrier) {
    case Carrier::kPred: return f.template operator()<uint8_t>();
    case Carrier::kI8: return f.template operator()<int8_t>();
    case Carrier::kU8: return f.template operator()<Byte>();
    case Carrier::kI16: return f.template operator()<int16_t>();
    case Carrier::kU16: return f.template operator()<uint16_t>();
    case Carrier::kI32: return f.template operator()<int32_t>();
    case Carrier::kU32: return f.template operator()<uint32_t>();
    case Carrier::kI64: return f.template operator()<int64_t>();
    case Carrier::kU64: return f.template operator()<uint64_t>();
    case Carrier::kF32: return f.template operator()<float>();
    case Carrier::kF64: return f.template operator()<double>();
    case Carrier::kC64:
    case Carrier::kC128: return nullptr;
  }
  return nullptr;
}
// The carriers that an operation supports.
enum Takes { kAny, kNumber, kReal, kFloats, kBits, kIntegers };
template <Takes kTakes, typename T>
inline constexpr bool kAccepts = kTakes == kAny || (kTakes == kNumber && !kIsPred<T>) ||
                                 (kTakes == kReal && !kIsPred<T>) || (kTakes == kFloats && kIsFloat<T>) ||
                                 (kTakes == kBits && !kIsFloat<T>) || (kTakes == kIntegers && kIsInteger<T>);
template <typename F, Takes kTakes>
TileFunction UnaryOf(Carrier carrier) {
  return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction {
    if constexpr (kAccepts<kTakes, T>) return &Unary<F, T, T>;
    else return nullptr;
  });
}
template <typename F, Takes kTakes>
TileFunction BinaryOf(Carrier carrier) {
  return ByCarrier<TileFunction>(carrier, []<typename T>() -> TileFunction {
    if constexpr (kAccepts<kTakes, T>) return &Binary<F, T, T>;
    else return nullptr;
  });
}
