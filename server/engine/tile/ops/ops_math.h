// Transcendental functions, roots and rounding of both float carriers. Included only by ops_impl.h, inside
// its namespace.

// For floats, the functions in math.h are vectorised, and the others call the C library element by element.
#define HLOD_MATH(name, single, wide)                         \
  struct name {                                               \
    HLOD_INLINE float Do(float a, int64_t) { return single; } \
    HLOD_INLINE double Do(double a, int64_t) { return wide; } \
  };
HLOD_MATH(MathExp, Exp(a), Exp(a))
HLOD_MATH(MathExpm1, Expm1(a), Expm1(a))
HLOD_MATH(MathLog, Log(a), Log(a))
HLOD_MATH(MathLog1p, Log1p(a), Log1p(a))
HLOD_MATH(MathTanh, Tanh(a), Tanh(a))
HLOD_MATH(MathLogistic, Logistic(a), Logistic(a))
HLOD_MATH(MathErf, Erf(a), std::erf(a))
HLOD_MATH(MathSqrt, __builtin_sqrtf(a), __builtin_sqrt(a))
HLOD_MATH(MathRsqrt, 1.0f / __builtin_sqrtf(a), 1.0 / __builtin_sqrt(a))
HLOD_MATH(MathCbrt, std::cbrt(a), std::cbrt(a))
HLOD_MATH(MathTan, std::tan(a), std::tan(a))
HLOD_MATH(MathAsin, Asin(a), std::asin(a))
HLOD_MATH(MathAcos, Acos(a), std::acos(a))
HLOD_MATH(MathAtan, Atan2Of(a, 1.0f), std::atan(a))
HLOD_MATH(MathSinh, std::sinh(a), std::sinh(a))
HLOD_MATH(MathCosh, std::cosh(a), std::cosh(a))
HLOD_MATH(MathAsinh, std::asinh(a), std::asinh(a))
HLOD_MATH(MathAcosh, std::acosh(a), std::acosh(a))
HLOD_MATH(MathAtanh, std::atanh(a), std::atanh(a))
HLOD_MATH(MathCeil, __builtin_ceilf(a), __builtin_ceil(a))
HLOD_MATH(MathFloor, __builtin_floorf(a), __builtin_floor(a))
HLOD_MATH(MathRoundAfz, __builtin_roundf(a), __builtin_round(a))
HLOD_MATH(MathRoundEven, __builtin_rintf(a), __builtin_rint(a))
#undef HLOD_MATH

// Sine (quarter 0) and cosine (quarter 1). In single precision, elements too large for SineOrCosine are
// computed afterwards by the C library.
template <int kQuarter>
struct MathSine {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    return kQuarter == 0 ? std::sin(a) : std::cos(a);
  }
};
template <int kQuarter>
HLOD_TARGET void SineSingle(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const float*>(a);
  constexpr int kBlock = 64;
  for (int begin = 0; begin < n; begin += kBlock) {
    const int count = n - begin < kBlock ? n - begin : kBlock;
    float block[kBlock];  // A copy, because `out` may be `a`.
    for (int i = 0; i < count; ++i) block[i] = x[begin + i];
    uint32_t large = 0;
    for (int i = 0; i < count; ++i) {
      large |= Abs(block[i]) < kSineReducible ? 0 : 1;
      o[begin + i] = SineOrCosine(block[i], kQuarter);
    }
    for (int i = 0; i < count && large != 0; ++i) {
      if (!(Abs(block[i]) < kSineReducible)) o[begin + i] = MathSine<kQuarter>::Do(block[i], 0);
    }
  }
}
template <int kQuarter>
TileFunction SineOf(Carrier carrier) {
  if (carrier == Carrier::kF32) return &SineSingle<kQuarter>;
  return UnaryOf<MathSine<kQuarter>, kFloats>(carrier);
}

// Powers of floats. Those that PowerOf leaves out are computed afterwards by the C library.
HLOD_TARGET void PowerSingle(void* out, const void* a, const void* b, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  constexpr int kBlock = 64;
  for (int begin = 0; begin < n; begin += kBlock) {
    const int count = n - begin < kBlock ? n - begin : kBlock;
    float base[kBlock], exponent[kBlock];  // Copies, because `out` may be an operand.
    for (int i = 0; i < count; ++i) base[i] = x[begin + i];
    for (int i = 0; i < count; ++i) exponent[i] = y[begin + i];
    uint32_t others = 0;
    for (int i = 0; i < count; ++i) {
      others |= PowerIsRight(base[i], exponent[i]) ? 0 : 1;
      o[begin + i] = PowerOf(base[i], exponent[i]);
    }
    for (int i = 0; i < count && others != 0; ++i) {
      if (!PowerIsRight(base[i], exponent[i])) o[begin + i] = hlo::RealPower(base[i], exponent[i]);
    }
  }
}

// The remainder of floats. That of doubles is exact, and the quotient's last place finer than its distance
// from the next integer, while the quotient is not too large; others, infinities and NaN are computed
// afterwards by the C library.
HLOD_TARGET void RemainderSingle(void* out, const void* a, const void* b, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* x = static_cast<const float*>(a);
  const auto* y = static_cast<const float*>(b);
  constexpr int kBlock = 64;
  constexpr double kQuotientMax = 1 << 26;
  for (int begin = 0; begin < n; begin += kBlock) {
    const int count = n - begin < kBlock ? n - begin : kBlock;
    float dividend[kBlock], divisor[kBlock];  // Copies, because `out` may be an operand.
    for (int i = 0; i < count; ++i) dividend[i] = x[begin + i];
    for (int i = 0; i < count; ++i) divisor[i] = y[begin + i];
    uint32_t others = 0;
    for (int i = 0; i < count; ++i) {
      const double from = dividend[i], by = divisor[i];
      const double quotient = from / by;
      others |= Abs(quotient) < kQuotientMax && Abs(divisor[i]) < kInf ? 0 : 1;
      o[begin + i] = CopySign(static_cast<float>(from - __builtin_trunc(quotient) * by), dividend[i]);
    }
    for (int i = 0; i < count && others != 0; ++i) {
      const double quotient = static_cast<double>(dividend[i]) / static_cast<double>(divisor[i]);
      if (!(Abs(quotient) < kQuotientMax && Abs(divisor[i]) < kInf))
        o[begin + i] = std::fmod(dividend[i], divisor[i]);
    }
  }
}
