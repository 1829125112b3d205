// Operations on floats narrower than f32 that need only the stored bits: elements are not widened to f32 and
// rounded back.

template <typename Small>
struct BitsOf {
  using Storage = typename Small::Storage;
  static constexpr int kMagnitudeBits = Small::kExponentBits + Small::kMantissaBits;
  static constexpr int kMagnitudes = (1 << kMagnitudeBits) - 1;
  static constexpr int kInfinity = ((1 << Small::kExponentBits) - 1) << Small::kMantissaBits;
  static constexpr hlo::FloatFlavor kFlavor = Small::kFloatFlavor;
  static constexpr bool kHasSign = kFlavor != hlo::FloatFlavor::kPowerOfTwo;
  static constexpr int kSign = kHasSign ? 1 << kMagnitudeBits : 0;
  // Types without a negative zero have NaN at its bit pattern.
  static constexpr bool kNanIsSign = kFlavor == hlo::FloatFlavor::kUnsignedZero;
};

template <typename Small>
struct AbsoluteBits {
  using B = BitsOf<Small>;
  HLOD_INLINE typename B::Storage Do(typename B::Storage a, int64_t) {
    if constexpr (!B::kHasSign) return a;
    else if constexpr (B::kNanIsSign) return a == B::kSign ? a : a & B::kMagnitudes;
    else return a & B::kMagnitudes;
  }
};
template <typename Small>
struct NegatedBits {
  using B = BitsOf<Small>;
  HLOD_INLINE typename B::Storage Do(typename B::Storage a, int64_t) {
    if constexpr (!B::kHasSign) return 0xff;  // A negative value can be represented only as NaN.
    else if constexpr (B::kNanIsSign) return (a & B::kMagnitudes) == 0 ? a : a ^ B::kSign;
    else return a ^ B::kSign;
  }
};
template <typename Small>
struct FiniteBits {
  using B = BitsOf<Small>;
  HLOD_INLINE uint8_t Do(typename B::Storage a, int64_t) {
    if constexpr (B::kFlavor == hlo::FloatFlavor::kIeee) return (a & B::kMagnitudes) < B::kInfinity;
    else if constexpr (B::kFlavor == hlo::FloatFlavor::kFiniteNan)
      return (a & B::kMagnitudes) != B::kMagnitudes;
    else if constexpr (B::kNanIsSign) return a != B::kSign;
    else if constexpr (B::kHasSign) return 1;
    else return a != 0xff;
  }
};
template <typename Small>
struct NonzeroBits {
  using B = BitsOf<Small>;
  HLOD_INLINE uint8_t Do(typename B::Storage a, int64_t) {
    if constexpr (!B::kHasSign) return 1;
    else if constexpr (B::kNanIsSign) return a != 0;
    else return (a & B::kMagnitudes) != 0;
  }
};
// f8e5m2 is the upper half of f16's bits.
struct WidenE5m2 {
  HLOD_INLINE uint16_t Do(uint8_t a, int64_t) { return static_cast<uint16_t>(a << 8); }
};
struct RoundToE5m2 {
  HLOD_INLINE uint8_t Do(uint16_t a, int64_t) {
    const unsigned rounded = (a + 0x7fu + (a >> 8 & 1u)) >> 8, nan = (a >> 8 & 0x80u) | 0x7eu;
    return static_cast<uint8_t>((a & 0x7fff) > 0x7c00 ? nan : rounded);
  }
};

TileFunction OnBits(Opcode opcode, PrimitiveType from, PrimitiveType to) {
  if (opcode == hlo::kConvert && from == hlo::kF8E5M2 && to == hlo::kF16)
    return &Unary<WidenE5m2, uint16_t, uint8_t>;
  if (opcode == hlo::kConvert && from == hlo::kF16 && to == hlo::kF8E5M2)
    return &Unary<RoundToE5m2, uint8_t, uint16_t>;
  TileFunction found = nullptr;
  hlo::VisitType(from, [&]<typename Small>() {
    if constexpr (hlo::kIsSmallFloat<Small>) {
      using Storage = typename Small::Storage;
      if (opcode == hlo::kAbs) found = &Unary<AbsoluteBits<Small>, Storage, Storage>;
      if (opcode == hlo::kNegate) found = &Unary<NegatedBits<Small>, Storage, Storage>;
      if (opcode == hlo::kIsFinite) found = &Unary<FiniteBits<Small>, uint8_t, Storage>;
      if (opcode == hlo::kConvert && to == hlo::kPred) found = &Unary<NonzeroBits<Small>, uint8_t, Storage>;
      if (opcode == hlo::kSelect) found = &Ternary<SelectElement, Storage, uint8_t, Storage>;
    }
  });
  return found;
}
