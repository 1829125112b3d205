// The polynomials of tile/math.h and of its transcription into machine code, assemble/math.cc, so that both
// have the same coefficients in the same order: T is float, double, or a register of either. Included inside
// the namespace of each that uses it, because the instruction sets must not share functions. MulAdd(a, b, c)
// is a * b + c there, rounded once with AVX2, else twice.

#define HLOD_POLYNOMIAL \
  template <typename T> \
  static inline __attribute__((always_inline)) T

// Cephes' minimax polynomials for f32.

// (e^r - 1 - r) / r^2, for |r| <= ln(2) / 2.
HLOD_POLYNOMIAL ExpTail(const T& r) {
  T p = MulAdd(r, 1.9875691500e-4f, 1.3981999507e-3f);
  p = MulAdd(p, r, 8.3334519073e-3f);
  p = MulAdd(p, r, 4.1665795894e-2f);
  p = MulAdd(p, r, 1.6666665459e-1f);
  return MulAdd(p, r, 5.0000001201e-1f);
}

// The same without the first coefficient, for expm1 near zero.
HLOD_POLYNOMIAL Expm1Tail(const T& r) {
  T p = MulAdd(r, 1.3981999507e-3f, 8.3334519073e-3f);
  p = MulAdd(p, r, 4.1665795894e-2f);
  p = MulAdd(p, r, 1.6666665459e-1f);
  return MulAdd(p, r, 5.0000001201e-1f);
}

// (ln(1 + m) - m + m^2 / 2) / m^3, for 1 + m in [sqrt(1/2), sqrt(2)).
HLOD_POLYNOMIAL LogTail(const T& m) {
  T p = MulAdd(m, 7.0376836292e-2f, -1.1514610310e-1f);
  p = MulAdd(p, m, 1.1676998740e-1f);
  p = MulAdd(p, m, -1.2420140846e-1f);
  p = MulAdd(p, m, 1.4249322787e-1f);
  p = MulAdd(p, m, -1.6668057665e-1f);
  p = MulAdd(p, m, 2.0000714765e-1f);
  p = MulAdd(p, m, -2.4999993993e-1f);
  return MulAdd(p, m, 3.3333331174e-1f);
}

// Taylor's series of sin(r) / r and cos(r), of z = r^2. Two sums side by side take half as long as one after
// the other.
HLOD_POLYNOMIAL SineFactor(const T& z) {
  const T w = z * z;
  const T low = MulAdd(z, 1.0 / 120, -1.0 / 6);
  const T high = MulAdd(w, -1.0 / 39916800, MulAdd(z, 1.0 / 362880, -1.0 / 5040));
  return MulAdd(MulAdd(w, high, low), z, 1.0);
}
HLOD_POLYNOMIAL CosineSeries(const T& z) {
  const T w = z * z;
  const T low = MulAdd(z, 1.0 / 24, -0.5);
  const T high = MulAdd(w, -1.0 / 3628800, MulAdd(z, 1.0 / 40320, -1.0 / 720));
  return MulAdd(MulAdd(w, high, low), z, 1.0);
}

// (tanh(x) - x) / x^3 of z = x^2, for |x| < 0.625.
HLOD_POLYNOMIAL TanhTail(const T& z) {
  T p = MulAdd(z, -5.70498872745e-3f, 2.06390887954e-2f);
  p = MulAdd(p, z, -5.37397155531e-2f);
  p = MulAdd(p, z, 1.33314422036e-1f);
  return MulAdd(p, z, -3.33332819422e-1f);
}

// tanh(x), for |x| <= kTanhOne, by Eigen's and XLA's quotient. Below kTanhSame, tanh(x) is x.
constexpr float kTanhOne = 7.99881172180175781f, kTanhSame = 0.0004f;
HLOD_POLYNOMIAL TanhQuotient(const T& x) {
  const T z = x * x;
  T p = MulAdd(z, -2.76076847742355e-16f, 2.00018790482477e-13f);
  p = MulAdd(p, z, -8.60467152213735e-11f);
  p = MulAdd(p, z, 5.12229709037114e-08f);
  p = MulAdd(p, z, 1.48572235717979e-05f);
  p = MulAdd(p, z, 6.37261928875436e-04f);
  p = MulAdd(p, z, 4.89352455891786e-03f) * x;
  T q = MulAdd(z, 1.19825839466702e-06f, 1.18534705686654e-04f);
  q = MulAdd(q, z, 2.26843463243900e-03f);
  return p / MulAdd(q, z, 4.89352518554385e-03f);
}

// erf(x) / x of z = x^2, for |x| < 1.
HLOD_POLYNOMIAL ErfNear(const T& z) {
  T p = MulAdd(z, 7.853861353153693e-5f, -8.010193625184903e-4f);
  p = MulAdd(p, z, 5.188327685732524e-3f);
  p = MulAdd(p, z, -2.685381193529856e-2f);
  p = MulAdd(p, z, 1.128358514861418e-1f);
  p = MulAdd(p, z, -3.761262582423300e-1f);
  return MulAdd(p, z, 1.128379165726710f);
}

// (1 - erf(x)) e^(x^2) / t of t = 1 / (1 + 0.3275911 x), for x >= 1: Abramowitz and Stegun 7.1.26.
HLOD_POLYNOMIAL ErfFar(const T& t) {
  T q = MulAdd(t, 1.061405429f, -1.453152027f);
  q = MulAdd(q, t, 1.421413741f);
  q = MulAdd(q, t, -0.284496736f);
  return MulAdd(q, t, 0.254829592f);
}

// (asin(x) - x) / x^3 of z = x^2, for |x| <= 1/2.
HLOD_POLYNOMIAL AsinTail(const T& z) {
  T p = MulAdd(z, 4.2163199048e-2f, 2.4181311049e-2f);
  p = MulAdd(p, z, 4.5470025998e-2f);
  p = MulAdd(p, z, 7.4953002686e-2f);
  return MulAdd(p, z, 1.6666752422e-1f);
}

// Cephes' rational approximations for f64.

// (ln(1 + m) - m + m^2 / 2) / m^3, for 1 + m in [sqrt(1/2), sqrt(2)).
HLOD_POLYNOMIAL LogTail64(const T& m) {
  T p = MulAdd(m, 1.01875663804580931796e-4, 4.97494994976747001425e-1);
  p = MulAdd(p, m, 4.70579119878881725854);
  p = MulAdd(p, m, 1.44989225341610930846e1);
  p = MulAdd(p, m, 1.79368678507819816313e1);
  p = MulAdd(p, m, 7.70838733755885391666);
  T q = m + 1.12873587189167450590e1;
  q = MulAdd(q, m, 4.52279145837532221105e1);
  q = MulAdd(q, m, 8.29875266912776603211e1);
  q = MulAdd(q, m, 7.11544750618563894466e1);
  return p / MulAdd(q, m, 2.31251620126765340583e1);
}

// e^r - 1 for |r| <= ln(2) / 2.
HLOD_POLYNOMIAL ReducedExpm1(const T& r) {
  const T z = r * r;
  T p = MulAdd(z, 1.26177193074810590878e-4, 3.02994407707441961300e-2);
  p = MulAdd(p, z, 9.99999999999999999910e-1) * r;
  T q = MulAdd(z, 3.00198505138664455042e-6, 2.52448340349684104192e-3);
  q = MulAdd(q, z, 2.27265548208155028766e-1);
  q = MulAdd(q, z, 2.00000000000000000009);
  return 2.0 * (p / (q - p));
}

// (tanh(x) - x) / x^3 of z = x^2, for |x| < 0.625.
HLOD_POLYNOMIAL TanhTail64(const T& z) {
  T p = MulAdd(z, -9.64399179425052238628e-1, -9.92877231001918586564e1);
  p = MulAdd(p, z, -1.61468768441708447952e3);
  T q = z + 1.12811678491632931402e2;
  q = MulAdd(q, z, 2.23548839060100448583e3);
  q = MulAdd(q, z, 4.84406305325125486048e3);
  return p / q;
}

#undef HLOD_POLYNOMIAL
