// Complex numbers: arithmetic, comparison and the elementary functions. Included only by ops_impl.h, inside
// its namespace.
//
// The functions of c64 are formulas of the real functions of math.h, and can be vectorised. If a formula
// would overflow, cancel, or has a value that is not finite, the element is computed afterwards by the C++
// library, like all elements of c128.

template <typename T>
struct Complex {
  T re, im;
};
template <typename T>
HLOD_INLINE std::complex<double> Wide(Complex<T> a) {
  return {static_cast<double>(a.re), static_cast<double>(a.im)};
}
template <typename T>
HLOD_INLINE Complex<T> Rounded(std::complex<double> a) {
  return {static_cast<T>(a.real()), static_cast<T>(a.imag())};
}
template <typename T>
HLOD_INLINE bool IsFinitePair(T re, T im) {
  return std::fabs(re) < static_cast<T>(__builtin_inf()) && std::fabs(im) < static_cast<T>(__builtin_inf());
}

struct ComplexAdd {
  template <typename T>
  HLOD_INLINE Complex<T> Do(Complex<T> a, Complex<T> b, int64_t) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct ComplexSubtract {
  template <typename T>
  HLOD_INLINE Complex<T> Do(Complex<T> a, Complex<T> b, int64_t) {
    return {a.re - b.re, a.im - b.im};
  }
};
// Multiplies by the plain formula, without recovering infinities.
struct ComplexMultiply {
  template <typename T>
  HLOD_INLINE Complex<T> Do(Complex<T> a, Complex<T> b, int64_t) {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
};
struct ComplexNegate {
  template <typename T>
  HLOD_INLINE Complex<T> Do(Complex<T> a, int64_t) {
    return {-a.re, -a.im};
  }
};
struct RealPart {
  template <typename T>
  HLOD_INLINE T Do(Complex<T> a, int64_t) {
    return a.re;
  }
};
struct ImaginaryPart {
  template <typename T>
  HLOD_INLINE T Do(Complex<T> a, int64_t) {
    return a.im;
  }
};
struct MakeComplex {
  template <typename T>
  HLOD_INLINE Complex<T> Do(T re, T im, int64_t) {
    return {re, im};
  }
};
template <typename T>
struct ToComplex {
  template <typename From>
  HLOD_INLINE Complex<T> Do(From a, int64_t) {
    return {static_cast<T>(a), T{0}};
  }
};
template <typename T>
struct ComplexToComplex {
  template <typename From>
  HLOD_INLINE Complex<T> Do(Complex<From> a, int64_t) {
    return {static_cast<T>(a.re), static_cast<T>(a.im)};
  }
};
struct ComplexToPred {
  template <typename T>
  HLOD_INLINE uint8_t Do(Complex<T> a, int64_t) {
    return (a.re != 0) | (a.im != 0);
  }
};
// compare: the immediate's low byte is 0 for EQ, 1 for NE; the other directions need an order.
struct ComplexCompare {
  template <typename T>
  HLOD_INLINE uint8_t Do(Complex<T> a, Complex<T> b, int64_t immediate) {
    const uint8_t equal = (a.re == b.re) & (a.im == b.im);
    return equal ^ static_cast<uint8_t>(immediate & 1);
  }
};

// A formula F has Do(re, im, &out_re, &out_im), which returns true if it is valid there, and the library's
// function Library(z).
constexpr int kComplexBlock = 64;
template <typename F, typename T>
HLOD_TARGET void ComplexFormula(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<Complex<T>*>(out);
  const auto* x = static_cast<const Complex<T>*>(a);
  for (int begin = 0; begin < n; begin += kComplexBlock) {
    const int count = n - begin < kComplexBlock ? n - begin : kComplexBlock;
    T re[kComplexBlock], im[kComplexBlock], out_re[kComplexBlock], out_im[kComplexBlock];
    int32_t hard[kComplexBlock], any = 0;
    for (int i = 0; i < count; ++i) {
      re[i] = x[begin + i].re;
      im[i] = x[begin + i].im;
    }
    for (int i = 0; i < count; ++i) {
      hard[i] = F::Do(re[i], im[i], out_re[i], out_im[i]) ? 0 : 1;
      any |= hard[i];
    }
    for (int i = 0; i < count; ++i) o[begin + i] = {out_re[i], out_im[i]};
    for (int i = 0; i < count && any != 0; ++i) {
      if (hard[i] != 0) o[begin + i] = Rounded<T>(F::Library(Wide(Complex<T>{re[i], im[i]})));
    }
  }
}
template <typename F, typename T>
HLOD_TARGET void ComplexByLibrary(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<Complex<T>*>(out);
  const auto* x = static_cast<const Complex<T>*>(a);
  for (int i = 0; i < n; ++i) o[i] = Rounded<T>(F::Library(Wide(x[i])));
}
// Computes functions of two operands by the library, one element after the other.
template <typename F, typename T>
HLOD_TARGET void ComplexPairsByLibrary(void* out, const void* a, const void* b, const void*, int n, int64_t) {
  auto* o = static_cast<Complex<T>*>(out);
  const auto* x = static_cast<const Complex<T>*>(a);
  const auto* y = static_cast<const Complex<T>*>(b);
  for (int i = 0; i < n; ++i) o[i] = Rounded<T>(F::Library(Wide(x[i]), Wide(y[i])));
}

// The squares of c64's parts are exact in double, and do not overflow or underflow there. Those of c128 do
// not if the parts are ordinary.
HLOD_INLINE bool AreOrdinary(float re, float im) { return IsFinitePair(re, im); }
HLOD_INLINE bool AreOrdinary(double re, double im) {
  const double larger = std::fabs(re) > std::fabs(im) ? std::fabs(re) : std::fabs(im);
  return larger < 1e140 && larger > 1e-140;
}

template <typename T>
HLOD_TARGET void ComplexDivide(void* out, const void* a, const void* b, const void*, int n, int64_t) {
  auto* o = static_cast<Complex<T>*>(out);
  const auto* x = static_cast<const Complex<T>*>(a);
  const auto* y = static_cast<const Complex<T>*>(b);
  for (int begin = 0; begin < n; begin += kComplexBlock) {
    const int count = n - begin < kComplexBlock ? n - begin : kComplexBlock;
    Complex<T> above[kComplexBlock], below[kComplexBlock];  // `out` may be either operand.
    int32_t hard[kComplexBlock], any = 0;
    for (int i = 0; i < count; ++i) {
      above[i] = x[begin + i];
      below[i] = y[begin + i];
    }
    for (int i = 0; i < count; ++i) {
      const double ar = above[i].re, ai = above[i].im, br = below[i].re, bi = below[i].im;
      const double square = br * br + bi * bi;
      o[begin + i] = {static_cast<T>((ar * br + ai * bi) / square),
                      static_cast<T>((ai * br - ar * bi) / square)};
      const bool zero = above[i].re == 0 && above[i].im == 0 && sizeof(T) == 8;
      const bool easy = AreOrdinary(below[i].re, below[i].im) && square > 0 &&
                        (AreOrdinary(above[i].re, above[i].im) || zero);
      hard[i] = easy ? 0 : 1;
      any |= hard[i];
    }
    for (int i = 0; i < count && any != 0; ++i) {
      if (hard[i] != 0) o[begin + i] = Rounded<T>(Wide(above[i]) / Wide(below[i]));
    }
  }
}

// Computes the root of a square in T, which takes a third of the time of one in double. Returns false if the
// square is not a normal number of T.
HLOD_INLINE bool MagnitudeOf(float re, float im, float& magnitude) {
  const double square = static_cast<double>(re) * re + static_cast<double>(im) * im;
  magnitude = __builtin_sqrtf(static_cast<float>(square));
  return (square > 1.2e-38 && square < 3.4e38) || square == 0;
}
HLOD_INLINE bool MagnitudeOf(double re, double im, double& magnitude) {
  magnitude = __builtin_sqrt(re * re + im * im);
  return AreOrdinary(re, im);
}

template <typename T>
HLOD_TARGET void ComplexMagnitude(void* out, const void* a, const void*, const void*, int n, int64_t) {
  auto* o = static_cast<T*>(out);
  const auto* x = static_cast<const Complex<T>*>(a);
  for (int begin = 0; begin < n; begin += kComplexBlock) {
    const int count = n - begin < kComplexBlock ? n - begin : kComplexBlock;
    int32_t hard[kComplexBlock], any = 0;
    T magnitude[kComplexBlock];
    for (int i = 0; i < count; ++i) {
      hard[i] = MagnitudeOf(x[begin + i].re, x[begin + i].im, magnitude[i]) ? 0 : 1;
      any |= hard[i];
    }
    for (int i = 0; i < count && any != 0; ++i) {
      if (hard[i] != 0) magnitude[i] = static_cast<T>(std::abs(Wide(x[begin + i])));
    }
    for (int i = 0; i < count; ++i) o[begin + i] = magnitude[i];
  }
}

// From here on: the formulas of c64.
HLOD_INLINE bool IsReducible(float angle) { return Abs(angle) < kSineReducible; }
HLOD_INLINE float SinhOf(float x) {
  const float e = Expm1(Abs(x));
  return CopySign(0.5f * (e + e / (e + 1.0f)), x);
}
HLOD_INLINE float CoshOf(float x) {
  const float e = Exp(x);
  return 0.5f * (e + 1.0f / e);
}
constexpr float kExpSafe = 80.0f;  // For such x, e^x and its inverse are normal numbers.

struct ExpFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const float e = Exp(x);
    re = e * SineOrCosine(y, 1);
    im = e * SineOrCosine(y, 0);
    return Abs(x) < kExpSafe && IsReducible(y);
  }
  static std::complex<double> Library(std::complex<double> z) { return std::exp(z); }
};
// exp(z) - 1 without cancellation near 0: cos y = 1 - 2 sin^2(y/2).
struct Expm1Formula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const float half = SineOrCosine(0.5f * y, 0), e = Expm1(x);
    re = e * SineOrCosine(y, 1) - 2.0f * half * half;
    im = (e + 1.0f) * SineOrCosine(y, 0);
    return Abs(x) < 10.0f && IsReducible(y);
  }
  static std::complex<double> Library(std::complex<double> z) {
    const double half = std::sin(z.imag() / 2);
    const double re = std::expm1(z.real()) * std::cos(z.imag()) - 2 * half * half;
    return {re, z.imag() == 0 ? z.imag() : std::exp(z.real()) * std::sin(z.imag())};
  }
};
// Returns the logarithm of |w|, whose square is 1 + d. Near the unit circle it uses d.
HLOD_INLINE float LogMagnitude(double square, double d) {
  const bool near = d > -0.5 && d < 1.0;
  return 0.5f * (near ? Log1p(static_cast<float>(d)) : Log(static_cast<float>(square)));
}
struct LogFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const double wide_x = x, wide_y = y, square = wide_x * wide_x + wide_y * wide_y;
    re = LogMagnitude(square, (wide_x - 1) * (wide_x + 1) + wide_y * wide_y);
    im = Atan2Of(y, x);
    return square > 1e-37 && square < 1e38;
  }
  static std::complex<double> Library(std::complex<double> z) { return std::log(z); }
};
// log(1 + z) without cancellation near 0: |1+z|^2 = 1 + x(2+x) + y^2.
struct Log1pFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const double wide_x = x, wide_y = y, d = wide_x * (2 + wide_x) + wide_y * wide_y;
    re = LogMagnitude(1 + d, d);
    im = Atan2Of(y, 1.0f + x);
    return d > -0.999 && d < 1e38 && Abs(x) > 1e-18f && (Abs(y) > 1e-18f || y == 0.0f);
  }
  static std::complex<double> Library(std::complex<double> z) {
    const double x = z.real(), y = z.imag();
    const double re =
        std::hypot(x, y) < 0.5 ? 0.5 * std::log1p(x * (2 + x) + y * y) : std::log(std::hypot(1 + x, y));
    return {re, std::atan2(y, 1 + x)};
  }
};
// sqrt(z) = s + i y/(2s), s = sqrt((|z| + |x|) / 2); in the left half-plane the parts are exchanged.
HLOD_INLINE bool SquareRoot(float x, float y, double& re, double& im, double& magnitude) {
  const double wide_x = x, wide_y = y;
  magnitude = __builtin_sqrt(wide_x * wide_x + wide_y * wide_y);
  const double s = __builtin_sqrt(0.5 * (magnitude + std::fabs(wide_x))), t = wide_y / (2 * s);
  re = wide_x >= 0 ? s : std::fabs(t);
  im = wide_x >= 0 ? t : __builtin_copysign(s, wide_y);
  return IsFinitePair(x, y) && magnitude > 0;
}
struct SqrtFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    double a, b, magnitude;
    const bool easy = SquareRoot(x, y, a, b, magnitude);
    re = static_cast<float>(a);
    im = static_cast<float>(b);
    return easy;
  }
  static std::complex<double> Library(std::complex<double> z) { return std::sqrt(z); }
};
struct RsqrtFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    double a, b, magnitude;
    const bool easy = SquareRoot(x, y, a, b, magnitude);
    re = static_cast<float>(a / magnitude);
    im = static_cast<float>(-b / magnitude);
    return easy;
  }
  static std::complex<double> Library(std::complex<double> z) { return 1.0 / std::sqrt(z); }
};
struct SignFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const double magnitude = __builtin_sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y);
    re = static_cast<float>(x / magnitude);
    im = static_cast<float>(y / magnitude);
    return IsFinitePair(x, y) && magnitude > 0;
  }
  HLOD_INLINE bool Do(double x, double y, double& re, double& im) {
    const double magnitude = __builtin_sqrt(x * x + y * y);
    re = x / magnitude;
    im = y / magnitude;
    return AreOrdinary(x, y) && magnitude > 0;
  }
  static std::complex<double> Library(std::complex<double> z) {
    if (std::isnan(z.real()) || std::isnan(z.imag())) return {__builtin_nan(""), __builtin_nan("")};
    const double magnitude = std::abs(z);
    return magnitude == 0 ? z : z / magnitude;
  }
};
struct LogisticFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const double e = Exp(-x);
    const double a = 1 + e * SineOrCosine(y, 1), b = -e * SineOrCosine(y, 0), square = a * a + b * b;
    re = static_cast<float>(a / square);
    im = static_cast<float>(-b / square);
    return Abs(x) < kExpSafe && IsReducible(y) && square > 0.01;
  }
  static std::complex<double> Library(std::complex<double> z) { return 1.0 / (1.0 + std::exp(-z)); }
};
struct SinhFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    re = SinhOf(x) * SineOrCosine(y, 1);
    im = CoshOf(x) * SineOrCosine(y, 0);
    return Abs(x) < kExpSafe && IsReducible(y);
  }
  static std::complex<double> Library(std::complex<double> z) { return std::sinh(z); }
};
struct CoshFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    re = CoshOf(x) * SineOrCosine(y, 1);
    im = SinhOf(x) * SineOrCosine(y, 0);
    return Abs(x) < kExpSafe && IsReducible(y);
  }
  static std::complex<double> Library(std::complex<double> z) { return std::cosh(z); }
};
struct SineFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    re = SineOrCosine(x, 0) * CoshOf(y);
    im = SineOrCosine(x, 1) * SinhOf(y);
    return Abs(y) < kExpSafe && IsReducible(x);
  }
  static std::complex<double> Library(std::complex<double> z) { return std::sin(z); }
};
struct CosineFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    re = SineOrCosine(x, 1) * CoshOf(y);
    im = -SineOrCosine(x, 0) * SinhOf(y);
    return Abs(y) < kExpSafe && IsReducible(x);
  }
  static std::complex<double> Library(std::complex<double> z) { return std::cos(z); }
};
// tanh(x + iy) = (1 - u^2 + 2iu sin 2y) / (1 + u^2 + 2u cos 2y) with u = e^-2x, x > 0, written with m = u - 1
// and the sine and cosine of y, so that it does not cancel at 0 or near the poles.
struct TanhFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    const float m = Expm1(-2.0f * Abs(x)), u = 1.0f + m;
    const float sine = SineOrCosine(y, 0), cosine = SineOrCosine(y, 1);
    const float below = m * m + 4.0f * u * cosine * cosine;
    re = CopySign(-m * (1.0f + u) / below, x);
    im = 4.0f * u * sine * cosine / below;
    return Abs(x) < 40.0f && IsReducible(y) && below > 1e-30f && Abs(x) > 1e-18f;
  }
  static std::complex<double> Library(std::complex<double> z) { return std::tanh(z); }
};
// tan z = -i tanh(iz).
struct TanFormula {
  HLOD_INLINE bool Do(float x, float y, float& re, float& im) {
    float a, b;
    const bool easy = TanhFormula::Do(-y, x, a, b);
    re = b;
    im = -a;
    return easy;
  }
  static std::complex<double> Library(std::complex<double> z) { return std::tan(z); }
};

#define HLOD_LIBRARY(name, value)                                                 \
  struct name {                                                                   \
    static std::complex<double> Library(std::complex<double> z) { return value; } \
  };
HLOD_LIBRARY(ComplexAcos, std::acos(z))
HLOD_LIBRARY(ComplexAcosh, std::acosh(z))
HLOD_LIBRARY(ComplexAsin, std::asin(z))
HLOD_LIBRARY(ComplexAsinh, std::asinh(z))
HLOD_LIBRARY(ComplexAtan, std::atan(z))
HLOD_LIBRARY(ComplexAtanh, std::atanh(z))
#undef HLOD_LIBRARY
struct ComplexPower {
  static std::complex<double> Library(std::complex<double> z, std::complex<double> w) {
    return hlo::ComplexPower(z, w);
  }
};
// atan2(y, x) = -i log((x + iy) / sqrt(x^2 + y^2)).
struct ComplexAtan2 {
  static std::complex<double> Library(std::complex<double> y, std::complex<double> x) {
    const std::complex<double> i(0, 1);
    return -i * std::log((x + i * y) / std::sqrt(x * x + y * y));
  }
};

template <typename F, typename T>
TileFunction ComplexFunction() {
  if constexpr (std::is_same_v<T, float>) return &ComplexFormula<F, T>;
  else return &ComplexByLibrary<F, T>;
}

template <typename T>
TileFunction ComplexElementwise(Opcode opcode) {
  using C = Complex<T>;
  switch (opcode) {
    case hlo::kAdd: return &Binary<ComplexAdd, C, C>;
    case hlo::kSubtract: return &Binary<ComplexSubtract, C, C>;
    case hlo::kMultiply: return &Binary<ComplexMultiply, C, C>;
    case hlo::kDivide: return &ComplexDivide<T>;
    case hlo::kPower: return &ComplexPairsByLibrary<ComplexPower, T>;
    case hlo::kAtan2: return &ComplexPairsByLibrary<ComplexAtan2, T>;
    case hlo::kNegate: return &Unary<ComplexNegate, C, C>;
    case hlo::kReal: return &Unary<RealPart, T, C>;
    case hlo::kImag: return &Unary<ImaginaryPart, T, C>;
    case hlo::kAbs: return &ComplexMagnitude<T>;
    case hlo::kSign: return &ComplexFormula<SignFormula, T>;
    case hlo::kCompare: return &Binary<ComplexCompare, uint8_t, C>;
    case hlo::kSelect:  // A structure of two floats cannot be a lane of a vector, but its bits can.
      if constexpr (sizeof(C) == 8) return &Ternary<SelectElement, uint64_t, uint8_t, uint64_t>;
      else return &Ternary<SelectElement, C, uint8_t, C>;
    case hlo::kExponential: return ComplexFunction<ExpFormula, T>();
    case hlo::kExponentialMinusOne: return ComplexFunction<Expm1Formula, T>();
    case hlo::kLog: return ComplexFunction<LogFormula, T>();
    case hlo::kLogPlusOne: return ComplexFunction<Log1pFormula, T>();
    case hlo::kLogistic: return ComplexFunction<LogisticFormula, T>();
    case hlo::kSqrt: return ComplexFunction<SqrtFormula, T>();
    case hlo::kRsqrt: return ComplexFunction<RsqrtFormula, T>();
    case hlo::kSine: return ComplexFunction<SineFormula, T>();
    case hlo::kCosine: return ComplexFunction<CosineFormula, T>();
    case hlo::kTan: return ComplexFunction<TanFormula, T>();
    case hlo::kTanh: return ComplexFunction<TanhFormula, T>();
    case hlo::kSinh: return ComplexFunction<SinhFormula, T>();
    case hlo::kCosh: return ComplexFunction<CoshFormula, T>();
    case hlo::kAsin: return &ComplexByLibrary<ComplexAsin, T>;
    case hlo::kAcos: return &ComplexByLibrary<ComplexAcos, T>;
    case hlo::kAtan: return &ComplexByLibrary<ComplexAtan, T>;
    case hlo::kAsinh: return &ComplexByLibrary<ComplexAsinh, T>;
    case hlo::kAcosh: return &ComplexByLibrary<ComplexAcosh, T>;
    case hlo::kAtanh: return &ComplexByLibrary<ComplexAtanh, T>;
    default: return nullptr;
  }
}

// Converts T's complex numbers to pred, or to complex numbers of the other width.
template <typename T, typename Other>
TileFunction ConvertComplex(Carrier to) {
  if (to == Carrier::kPred) return &Unary<ComplexToPred, uint8_t, Complex<T>>;
  const Carrier other = std::is_same_v<Other, float> ? Carrier::kC64 : Carrier::kC128;
  return to == other ? &Unary<ComplexToComplex<Other>, Complex<Other>, Complex<T>> : nullptr;
}
