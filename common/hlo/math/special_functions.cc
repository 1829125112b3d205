// The sources: polynomials of Cephes and of Giles (erf_inv), Lanczos' approximation of the gamma function,
// and Euler and Maclaurin's sum for zeta. The coefficients for f32 and for f64 are tables.
#include "common/hlo/math/special_functions.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "absl/types/span.h"
#include "common/hlo/math/math.h"

namespace hlod::hlo {
namespace {

using Order = ComparisonDirection;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

bool IsDouble(Op x) { return x.builder->shape(x).type == kF64; }

// Returns a sum of Chebyshev's polynomials, by Clenshaw's recurrence.
Op Chebyshev(Op x, absl::Span<const double> coefficients) {
  Op b0 = x * 0, b1 = b0, b2 = b0;
  for (const double coefficient : coefficients) {
    b2 = b1;
    b1 = b0;
    b0 = x * b1 - b2 + coefficient;
  }
  return (b0 - b2) * 0.5;
}

constexpr double kErfInv32Low[] = {2.81022636e-8,  3.43273939e-7, -3.5233877e-6,
                                   -4.39150654e-6, 2.1858087e-4,  -0.00125372503,
                                   -0.00417768164, 0.246640727,   1.50140941};
constexpr double kErfInv32High[] = {-2.00214257e-4, 1.00950558e-4, 0.00134934322,
                                    -0.00367342844, 0.00573950773, -0.0076224613,
                                    0.00943887047,  1.00167406,    2.83297682};
constexpr double kErfc32P[] = {2.326820e-02, -0.138703942, 0.368742466,  -0.582473278, 0.621000468,
                               -0.494451523, 3.404880e-01, -0.274112701, 0.563825965};
constexpr double kErfc32R[] = {-10.477664,  1.297720e+01, -7.49551868,  2.92101908,
                               -1.01526523, 0.42184633,   -0.282076746, 0.564189494};
constexpr double kErfc32T[] = {7.85386146e-5, -8.0101937e-4, 0.00518832775, -0.0268538129,
                               0.112835854,   -0.37612626,   1.12837911};
constexpr double kBessel32Small[] = {
    9.38153732e-9, -4.44505908e-8, 2.00329481e-7, -8.568720e-07,  3.47025139e-6, -1.32731639e-5,
    4.78156508e-5, -1.61760821e-4, 5.122860e-04,  -0.00151357241, 0.0041564228,  -0.0105640851,
    0.0247264486,  -0.0529459827,  0.102643661,   -0.176416516,   0.252587199};
constexpr double kBessel32Large[] = {-3.83538046e-9, -2.63146891e-8, -2.51223611e-7, -3.88256467e-6,
                                     -1.10588939e-4, -0.00976109784, 0.778576254};
constexpr double kErfInv64Low[] = {
    -3.6444120640178197e-21, -1.6850591381820166e-19, 1.28584807152564e-18,    1.1157877678025181e-17,
    -1.3331716628546209e-16, 2.0972767875968562e-17,  6.6376381343583238e-15,  -4.0545662729752069e-14,
    -8.1519341976054721e-14, 2.6335093153082323e-12,  -1.2975133253453532e-11, -5.4154120542946279e-11,
    1.0512122733215323e-9,   -4.1126339803469837e-9,  -2.9070369957882005e-8,  4.2347877827932404e-7,
    -1.3654692000834679e-6,  -1.3882523362786469e-5,  1.8673420803405714e-4,   -7.4070253416626698e-4,
    -0.0060336708714301491,  0.24015818242558962,     1.6536545626831027};
constexpr double kErfInv64Middle[] = {
    2.2137376921775787e-9,  9.075656193888539e-8,   -2.7517406297064545e-7, 1.8239629214389228e-8,
    1.5027403968909828e-6,  -4.013867526981546e-6,  2.9234449089955446e-6,  1.2475304481671779e-5,
    -4.7318229009055734e-5, 6.8284851459573175e-5,  2.4031110387097894e-5,  -3.5503752036284748e-4,
    9.5328937973738049e-4,  -0.0016882755560235047, 0.0024914420961078508,  -0.0037512085075692412,
    0.0053709145535900636,  1.0052589676941592,     3.0838856104922208};
constexpr double kErfInv64High[] = {-2.7109920616438573e-11, -2.5556418169965252e-10, 1.5076572693500548e-9,
                                    -3.789465440126737e-9,   7.6157012080783394e-9,   -1.496002662714924e-8,
                                    2.9147953450901081e-8,   -6.7711997758452339e-8,  2.2900482228026655e-7,
                                    -9.9298272942317003e-7,  4.5260625972231537e-6,   -1.9681778105531671e-5,
                                    7.5995277030017761e-5,   -2.1503011930044477e-4,  -1.3871931833623122e-4,
                                    1.0103004648645344,      4.8499064014085844};
constexpr double kErfc64P[] = {2.4619698147353052e-10, 0.56418956483106886, 7.4632105644226989,
                               48.637197098568137,     196.5208329560771,   526.44519499547732,
                               934.52852717195765,     1027.5518868951572,  557.53533536939938};
constexpr double kErfc64Q[] = {1.0,
                               13.228195115474499,
                               86.707214088598973,
                               354.93777888781989,
                               975.70850174320549,
                               1823.9091668790973,
                               2246.3376081871097,
                               1656.6630919416134,
                               557.53534081772773};
constexpr double kErfc64R[] = {0.56418958354775506, 1.275366707599781,  5.0190504225118051,
                               6.160210979930536,   7.4097426995044895, 2.9788666537210022};
constexpr double kErfc64S[] = {1.0,
                               2.2605286322011726,
                               9.3960352493800147,
                               12.048953980809666,
                               17.081445074756591,
                               9.6089680906328585,
                               3.3690764510008151};
constexpr double kErfc64T[] = {9.6049737398705161, 90.026019720384269, 2232.0053459468431, 7003.3251411280507,
                               55592.301301039493};
constexpr double kErfc64U[] = {
    1.0, 33.561714164750313, 521.35794978015269, 4594.3238297098014, 22629.000061389095, 49267.394260863592};
constexpr double kBessel64Small[] = {
    2.7779141127610464e-18, -2.111421214358166e-17,  1.5536319577362005e-16, -1.1055969477353862e-15,
    7.6006842947354077e-15, -5.0421855047279118e-14, 3.2237933659455748e-13, -1.9839743977649436e-12,
    1.1736186298890901e-11, -6.6634897235020271e-11, 3.6255902815521172e-10, -1.8872497517228294e-9,
    9.3815373864957726e-9,  -4.4450591287963281e-8,  2.0032947535521353e-7,  -8.5687202646954547e-7,
    3.4702513081376785e-6,  -1.3273163656039436e-5,  4.7815651075500542e-5,  -1.6176081582589674e-4,
    5.1228595616857576e-4,  -0.0015135724506312532,  0.0041564229443128882,  -0.010564084894626197,
    0.024726449030626516,   -0.052945981208094989,   0.10264365868984709,    -0.17641651835783406,
    0.25258718644363365};
constexpr double kBessel64Large[] = {
    7.5172963108421052e-18,  4.4143483230717077e-18,  -4.6503053684893586e-17, -3.2095259219934238e-17,
    2.9626289976459501e-16,  3.3082023109209285e-16,  -1.8803547755107825e-15, -3.8144030724370075e-15,
    1.0420276984128802e-14,  4.272440016711951e-14,   -2.1015418427726643e-14, -4.0835511110921974e-13,
    -7.1985517762459084e-13, 2.0356285441470896e-12,  1.4125807436613782e-11,  3.2526035830154884e-11,
    -1.8974958123505413e-11, -5.5897434621965838e-10, -3.835380385964237e-9,   -2.6314688468895196e-8,
    -2.5122362378702088e-7,  -3.8825648088776906e-6,  -1.1058893876262371e-4,  -0.0097610974913614687,
    0.7785762350182801};
constexpr double kZeta[] = {-1.3954464685812522e-19, 5.5090028283602295e-18,  -2.1748686985580617e-16,
                            8.5860620562778452e-15,  -3.3896802963225832e-13, 1.3382536530684679e-11,
                            -5.2841901386874932e-10, 2.08767569878681e-8,     -8.2671957671957675e-7,
                            3.3068783068783071e-5,   -0.0013888888888888889};
constexpr double kLanczos[] = {676.5203681218851,     -1259.1392167224028,  771.32342877765313,
                               -176.61502916214059,   12.507343278686905,   -0.13857109526572012,
                               9.9843695780195716e-6, 1.5056327351493116e-7};

// The constant term of Lanczos' sum, which is not in kLanczos, and its centre.
constexpr double kLanczosBase = 0.99999999999980993227684700473478, kLanczosG = 7;

// z is x - 1, or -x when x < 1/2, for which the reflection formula is used (is_reflected).
struct Reflected {
  Op is_reflected, z;
};
Reflected Reflect(Op x) {
  const Op below = Is(x, Order::kLt, 0.5);
  return {below, Where(below, Negative(x), x - 1)};
}

}  // namespace

Op BesselI1e(Op x) {
  const Op size = Abs(x);
  const auto small = IsDouble(x) ? absl::MakeConstSpan(kBessel64Small) : absl::MakeConstSpan(kBessel32Small);
  const auto large = IsDouble(x) ? absl::MakeConstSpan(kBessel64Large) : absl::MakeConstSpan(kBessel32Large);
  const Op at_most_8 = size * Chebyshev(size * 0.5 - 2, small);
  const Op above_8 = Chebyshev(32 / size - 2, large) / Sqrt(size);
  return Sign(x) * Where(Is(size, Order::kLe, 8), at_most_8, above_8);
}

Op ErfInv(Op x) {
  const Op w = Negative(Log1p(x * Negative(x)));
  Op value;
  if (IsDouble(x)) {
    const Op root = Sqrt(w);
    const Op low = Horner(w - 3.125, kErfInv64Low), middle = Horner(root - 3.25, kErfInv64Middle),
             high = Horner(root - 5, kErfInv64High);
    value = Where(Is(w, Order::kLt, 6.25), low, Where(Is(w, Order::kLt, 16), middle, high));
  } else {
    const Op low = Horner(w - 2.5, kErfInv32Low), high = Horner(Sqrt(w) - 3, kErfInv32High);
    value = Where(Is(w, Order::kLt, 5), low, high);
  }
  return Where(Is(Abs(x), Order::kEq, 1), x * kInfinity, value * x);
}

Op Erfc(Op x) {
  const Op square = x * x, size = Abs(x), minus_square = Negative(square);
  Op tail, one_minus_erf;
  if (IsDouble(x)) {
    const Op power = Exp(minus_square);
    tail = Where(Is(size, Order::kLt, 8), power * Horner(size, kErfc64P) / Horner(size, kErfc64Q),
                 power * Horner(size, kErfc64R) / Horner(size, kErfc64S));
    one_minus_erf = 1 - x * Horner(square, kErfc64T) / Horner(square, kErfc64U);
  } else {
    const Op inverse = 1 / square;
    const Op factor = Exp(minus_square) * (1 / size);
    tail = factor * Where(Is(size, Order::kLt, 2), Horner(inverse, kErfc32P), Horner(inverse, kErfc32R));
    one_minus_erf = 1 - x * Horner(square, kErfc32T);
  }
  const double lowest = -std::log(IsDouble(x) ? std::numeric_limits<double>::max()
                                              : static_cast<double>(std::numeric_limits<float>::max()));
  tail = Where(Is(minus_square, Order::kLt, lowest), NumberLike(x, 0), tail);
  const Op both_signs = Where(Is(x, Order::kLt, 0), 2 - tail, tail);
  return Where(Is(size, Order::kLt, 1), one_minus_erf, both_signs);
}

Op Lgamma(Op x) {
  const auto [is_reflected, z] = Reflect(x);
  Op sum = NumberLike(x, kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    sum = sum + NumberLike(x, kLanczos[i]) / (z + static_cast<double>(i + 1));
  }
  const double centre = kLanczosG + 0.5;
  const Op t = centre + z, log_t = std::log(centre) + Log1p(z / centre);
  const Op log_y = 0.5 * std::log(2 * std::numbers::pi) + (z + 0.5 - t / log_t) * log_t + Log(sum);
  // The reflection's term is log(pi / |sin(pi x)|), where the sine is computed from the distance to the
  // nearest integer.
  const Op size = Abs(x), fraction = size - Floor(size);
  const Op distance = Where(Is(fraction, Order::kGt, 0.5), 1 - fraction, fraction);
  const Op log_sine = Log(Sin(distance * std::numbers::pi));
  const Op reflection =
      Where(IsFinite(log_sine), std::log(std::numbers::pi) - log_sine - log_y, Negative(log_sine));
  const Op value = Where(is_reflected, reflection, log_y);
  return Where(Is(size, Order::kEq, kInfinity), NumberLike(x, kInfinity), value);
}

Op Digamma(Op x) {
  const auto [is_reflected, z] = Reflect(x);
  Op derivative = z * 0, sum = NumberLike(x, kLanczosBase);
  for (size_t i = 0; i < std::size(kLanczos); ++i) {
    const Op at = z + static_cast<double>(i + 1), coefficient = NumberLike(x, kLanczos[i]);
    derivative = derivative - coefficient / (at * at);
    sum = sum + coefficient / at;
  }
  const double centre = kLanczosG + 0.5;
  const Op t = centre + z, log_t = std::log(centre) + Log1p(z / centre);
  const Op y = log_t + derivative / sum - kLanczosG / t;
  // The reflection's term is pi / tan(pi x), computed from the distance to the integer below, so that the
  // sine keeps its digits.
  const Op angle = (x + Abs(Floor(x + 0.5))) * std::numbers::pi;
  const Op cotangent = Cos(angle) * std::numbers::pi / Sin(angle);
  const Op finite = Where(is_reflected, y - cotangent, y);
  const Op value = Where(Is(x, Order::kEq, kInfinity), NumberLike(x, kInfinity), finite);
  return Where(And(Is(x, Order::kLe, 0), IsWhole(x)), NumberLike(x, kNan), value);
}

Op Zeta(Op x, Op q) {
  const Op minus_x = Negative(x);
  Op a = q, power = Power(q, minus_x), sum = power;
  for (int i = 0; i < 9; ++i) {
    a = a + 1;
    power = Power(a, minus_x);
    sum = sum + power;
  }
  a = a + 1;
  power = Power(a, minus_x);
  const Op inverse_square = 1 / (a * a);
  Op series = x * 0;
  for (size_t i = 0; i < std::size(kZeta); ++i) {
    const double k = 2.0 * static_cast<double>(std::size(kZeta) - i);
    series = (x + k) * (x + (k - 1)) * (inverse_square * (series + kZeta[i]));
  }
  const Op rest = power * (0.5 + x / a * (1.0 / 12 + series));
  Op value = sum + power * a / (x - 1) + rest;
  const double least = IsDouble(x) ? std::numeric_limits<double>::denorm_min()
                                   : static_cast<double>(std::numeric_limits<float>::denorm_min());
  value = Where(Is(Abs(power), Order::kLt, Abs(sum) * least), sum, value);
  value = Where(Is(x, Order::kLt, 1), NumberLike(x, kNan), value);
  const Op not_positive = Is(q, Order::kLe, 0);
  value = Where(And(not_positive, Not(IsWhole(x))), NumberLike(x, kNan), value);
  // The value at a pole: infinity for even powers, which have the same limit from both sides; else NaN.
  const Op remainder = x.builder->Binary(kRemainder, x, NumberLike(x, 2));
  const Op even = And(IsWhole(x), Is(remainder, Order::kEq, 0));
  const Op pole = Where(even, NumberLike(x, kInfinity), NumberLike(x, kNan));
  value = Where(And(not_positive, IsWhole(q)), pole, value);
  return Where(Is(x, Order::kEq, 1), NumberLike(x, kInfinity), value);
}

Op Polygamma(Op n, Op x) {
  const Op sign = n.builder->Binary(kRemainder, n, NumberLike(n, 2)) * 2 - 1;
  const Op order = n + 1;
  const Op value = sign * Exp(Lgamma(order)) * Zeta(order, x);
  const Op with_zero = Where(Is(n, Order::kEq, 0), Digamma(x), value);
  const Op wrong = Or(Is(n, Order::kNe, Floor(n)), Is(n, Order::kLt, 0));
  return Where(wrong, NumberLike(n, kNan), with_zero);
}

Op NextAfter(Op x, Op y) {
  Builder& b = *x.builder;
  const int bits = Info(b.shape(x).type).bits;
  const PrimitiveType type = bits == 64 ? kS64 : bits == 32 ? kS32 : bits == 16 ? kS16 : kS8;
  const auto number = [&](int64_t value) {
    absl::StatusOr<Literal> literal = Convert(Literal::Scalar(value), type);
    return b.Constant(*std::move(literal));
  };
  const auto bits_of = [&](Op value) {
    Shape shape = b.shape(value);
    shape.type = type;
    return b.Add(kBitcastConvert, {value}, NoAttributes{}, {}, &shape);
  };
  const int64_t sign_bit = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
  const Op from = bits_of(x), to = bits_of(y), sign = number(sign_bit), size = number(~sign_bit);
  const Op from_size = b.Binary(kAnd, from, size), to_size = b.Binary(kAnd, to, size);
  const Op from_sign = b.Binary(kAnd, from, sign), to_sign = b.Binary(kAnd, to, sign);
  const Op zero = number(0), one = number(1);
  const Op smallest = b.Select(b.Compare(to_size, zero, Order::kEq), to, b.Binary(kOr, to_sign, one));
  const Op shrinks = Or(b.Compare(from_size, to_size, Order::kGt), b.Compare(from_sign, to_sign, Order::kNe));
  const Op step = from + b.Select(shrinks, number(-1), one);
  const Op stepped = b.Select(b.Compare(from_size, zero, Order::kEq), smallest, step);
  const Op next = b.Select(b.Compare(x, y, Order::kEq), to, stepped);
  const Op result = b.Add(kBitcastConvert, {next}, NoAttributes{}, {}, &b.shape(x));
  const Op is_nan = Or(b.Compare(x, x, Order::kNe), b.Compare(y, y, Order::kNe));
  return b.Select(is_nan, x + y, result);
}

}  // namespace hlod::hlo
