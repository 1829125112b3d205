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

// Computes a function of one or two floats block by block: F::Fast() vectorised, then by the C library
// (F::Exact()) the elements that F::IsFast() leaves out.
template <typename F, int kOperands>
HLOD_TARGET void FastSingle(void* out, const void* a, const void* b, const void*, int n, int64_t) {
  auto* o = static_cast<float*>(out);
  const auto* from_a = static_cast<const float*>(a);
  const auto* from_b = static_cast<const float*>(kOperands == 2 ? b : a);
  constexpr int kBlock = 64;
  for (int begin = 0; begin < n; begin += kBlock) {
    const int count = n - begin < kBlock ? n - begin : kBlock;
    float x[kBlock], y[kBlock];  // Copies, because `out` may be an operand.
    for (int i = 0; i < count; ++i) x[i] = from_a[begin + i];
    for (int i = 0; i < count && kOperands == 2; ++i) y[i] = from_b[begin + i];
    const float* const second = kOperands == 2 ? y : x;
    uint32_t others = 0;
    for (int i = 0; i < count; ++i) {
      others |= F::IsFast(x[i], second[i]) ? 0 : 1;
      o[begin + i] = F::Fast(x[i], second[i]);
    }
    for (int i = 0; i < count && others != 0; ++i) {
      if (!F::IsFast(x[i], second[i])) o[begin + i] = F::Exact(x[i], second[i]);
    }
  }
}

// Sine (quarter 0) and cosine (quarter 1). In single precision, those of elements that are too large for
// SineOrCosine are not fast.
template <int kQuarter>
struct MathSine {
  template <typename T>
  HLOD_INLINE T Do(T a, int64_t) {
    return kQuarter == 0 ? std::sin(a) : std::cos(a);
  }
  HLOD_INLINE bool IsFast(float a, float) { return Abs(a) < kSineReducible; }
  HLOD_INLINE float Fast(float a, float) { return SineOrCosine(a, kQuarter); }
  HLOD_INLINE float Exact(float a, float) { return Do(a, 0); }
};
template <int kQuarter>
TileFunction SineOf(Carrier carrier) {
  if (carrier == Carrier::kF32) return &FastSingle<MathSine<kQuarter>, 1>;
  return UnaryOf<MathSine<kQuarter>, kFloats>(carrier);
}

// Powers of floats.
struct SinglePower {
  HLOD_INLINE bool IsFast(float base, float exponent) { return PowerIsRight(base, exponent); }
  HLOD_INLINE float Fast(float base, float exponent) { return PowerOf(base, exponent); }
  HLOD_INLINE float Exact(float base, float exponent) { return hlo::RealPower(base, exponent); }
};

// The remainder of floats. That of doubles is exact, and the quotient's last place finer than its distance
// from the next integer, while the quotient is not too large; others, infinities and NaN are not fast.
struct SingleRemainder {
  HLOD_INLINE double Quotient(float dividend, float divisor) {
    return static_cast<double>(dividend) / static_cast<double>(divisor);
  }
  HLOD_INLINE bool IsFast(float dividend, float divisor) {
    return Abs(Quotient(dividend, divisor)) < 1 << 26 && Abs(divisor) < kInf;
  }
  HLOD_INLINE float Fast(float dividend, float divisor) {
    const double whole = __builtin_trunc(Quotient(dividend, divisor));
    return CopySign(static_cast<float>(dividend - whole * divisor), dividend);
  }
  HLOD_INLINE float Exact(float dividend, float divisor) { return std::fmod(dividend, divisor); }
};
