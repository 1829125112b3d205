// Reads and prints elements of literals.
#include "common/hlo/text/number.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "common/base/text/strings.h"

namespace hlod::hlo::text {
namespace {

using absl::OkStatus;
using absl::Status;

template <typename T>
auto BitsOf(const T& value) {
  if constexpr (kIsSmallFloat<T>) {
    return value.bits();
  } else {
    return std::bit_cast<typename FloatFormat<T>::Bits>(value);
  }
}
template <typename T>
T FromBits(typename FloatFormat<T>::Bits bits) {
  if constexpr (kIsSmallFloat<T>) {
    return T::FromBits(bits);
  } else {
    return std::bit_cast<T>(bits);
  }
}

template <typename T>
constexpr uint64_t kMantissaMask = (uint64_t{1} << FloatFormat<T>::kMantissaBits) - 1;
template <typename T>
constexpr uint64_t kExponentMask = (uint64_t{1} << FloatFormat<T>::kExponentBits) - 1;
// The mantissa of a NaN that has no payload.
template <typename T>
constexpr uint64_t kQuiet =
    FloatFormat<T>::kMantissaBits == 0 ? 0 : uint64_t{1} << (FloatFormat<T>::kMantissaBits - 1);

template <typename T>
Status ReadNan(Lexer& lexer, size_t at, bool negative, T& value) {
  using Format = FloatFormat<T>;
  if constexpr (!Format::kHasNan) {
    return lexer.ErrorAt(at, "%s has no NaN", Name(kPrimitiveTypeOf<T>));
  } else if constexpr (!Format::kHasPayload) {
    value = T(std::nan(""));
    if constexpr (Format::kSignedNan) {
      const uint64_t sign = uint64_t{negative} << (Format::kExponentBits + Format::kMantissaBits);
      value = FromBits<T>(static_cast<typename Format::Bits>(
          (BitsOf(value) & ~(uint64_t{1} << (Format::kExponentBits + Format::kMantissaBits))) | sign));
    }
    return OkStatus();
  } else {
    uint64_t payload = kQuiet<T>;
    if (lexer.Try("(")) {
      ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
      const std::string_view digits = word.substr(0, 2) == "0x" ? word.substr(2) : std::string_view();
      const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), payload, 16);
      // The payload is the bits of the mantissa; the bits of a whole NaN are accepted as well.
      const uint64_t above = payload >> Format::kMantissaBits;
      payload &= kMantissaMask<T>;
      const bool whole =
          (above & kExponentMask<T>) == kExponentMask<T> && above >> Format::kExponentBits <= 1;
      if (error != std::errc() || end != digits.data() + digits.size() || payload == 0 ||
          (above != 0 && !whole)) {
        return lexer.ErrorAt(at, "\"%s\" is not a NaN payload of %s", word, Name(kPrimitiveTypeOf<T>));
      }
      RETURN_IF_ERROR(lexer.Expect(")"));
    }
    const uint64_t sign = uint64_t{negative} << (Format::kExponentBits + Format::kMantissaBits);
    value = FromBits<T>(
        static_cast<typename Format::Bits>(sign | kExponentMask<T> << Format::kMantissaBits | payload));
    return OkStatus();
  }
}

template <typename T>
Status ReadFloat(Lexer& lexer, T& value) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  std::string_view digits = word;
  const bool negative = digits.substr(0, 1) == "-";
  if (negative || digits.substr(0, 1) == "+") digits.remove_prefix(1);
  if (digits == "nan") return ReadNan(lexer, at, negative, value);
  using Wide = std::conditional_t<std::is_same_v<T, float>, float, double>;
  Wide wide = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), wide);
  if (end != digits.data() + digits.size() || digits.empty() || digits[0] == '-' ||
      error == std::errc::invalid_argument) {
    return lexer.ErrorAt(at, "\"%s\" is not a number", word);
  }
  if (error == std::errc::result_out_of_range) {
    // The number is too small or too large for the wide type; strtod rounds it to zero or infinity.
    wide = static_cast<Wide>(std::strtod(std::string(digits).c_str(), nullptr));
  }
  value = static_cast<T>(negative ? -wide : wide);
  if constexpr (!FloatFormat<T>::kHasInfinity) {
    if (std::isinf(wide)) return lexer.ErrorAt(at, "%s has no infinity", Name(kPrimitiveTypeOf<T>));
  }
  // Digits state a finite number, which must not become an infinity, or the NaN of a type without them.
  const bool has_digits = digits[0] == '.' || absl::ascii_isdigit(static_cast<unsigned char>(digits[0]));
  if (has_digits && !std::isfinite(static_cast<double>(value)))
    return lexer.ErrorAt(at, "%s is out of the range of %s", word, Name(kPrimitiveTypeOf<T>));
  if constexpr (std::is_same_v<T, F8E8M0FNU>) {
    if (negative || wide == 0)
      return lexer.ErrorAt(at, "%s holds powers of two only, not %s", Name(kF8E8M0FNU), word);
  }
  return OkStatus();
}

template <typename T>
Status ReadInteger(Lexer& lexer, T& value) {
  constexpr bool kSmall = kIsSmallInt<T>;
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  using Wide = std::conditional_t<kSmall, int64_t, T>;
  Wide wide = 0;
  const char* const end = word.data() + word.size();
  const auto [next, error] = std::from_chars(word.data(), end, wide);
  bool in_range = error != std::errc::result_out_of_range;
  if constexpr (kSmall) in_range = in_range && wide >= T::kMin && wide <= T::kMax;
  // from_chars accepts no sign for an unsigned type; the error should be "out of range" instead of "not an
  // integer".
  if (std::is_unsigned_v<Wide> && word.size() > 1 && word[0] == '-') {
    const auto [after, ec] = std::from_chars(word.data() + 1, end, wide);
    if (after == end && ec != std::errc::invalid_argument)
      return lexer.ErrorAt(at, "%s is out of the range of %s", word, Name(kPrimitiveTypeOf<T>));
  }
  if (error == std::errc::invalid_argument || next != end)
    return lexer.ErrorAt(at, "\"%s\" is not an integer", word);
  if (!in_range) return lexer.ErrorAt(at, "%s is out of the range of %s", word, Name(kPrimitiveTypeOf<T>));
  value = T(wide);
  return OkStatus();
}

Status ReadPred(Lexer& lexer, bool& value) {
  const size_t at = (lexer.SkipBlanks(), lexer.position());
  ASSIGN_OR_RETURN(const std::string_view word, lexer.Word());
  value = word == "true" || word == "1";
  if (value || word == "false" || word == "0") return OkStatus();
  return lexer.ErrorAt(at, "\"%s\" is none of true, false, 1, 0", word);
}

// The number of decimal digits that determine a number with this many bits of mantissa: ceil(1 + p *
// log10(2)).
template <typename T>
constexpr int kDigits = 2 + (FloatFormat<T>::kMantissaBits + 1) * 30103 / 100000;

template <typename T>
void PrintFloat(const T& value, std::string& out) {
  using Format = FloatFormat<T>;
  const double wide = static_cast<double>(value);
  const uint64_t bits = BitsOf(value);
  const bool negative = (bits >> (Format::kExponentBits + Format::kMantissaBits) & 1) != 0;
  if (std::isnan(wide)) {
    if (negative && Format::kSignedNan) out += '-';
    out += "nan";
    const uint64_t payload = bits & kMantissaMask<T>;
    if (Format::kHasPayload && payload != kQuiet<T>) absl::StrAppend(&out, "(0x", absl::Hex(payload), ")");
    return;
  }
  if (std::isinf(wide)) {
    out += negative ? "-inf" : "inf";
    return;
  }
  // Prints fewer digits if they suffice: 0.1 instead of 0.100000001.
  char buffer[64];
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>) {
    std::snprintf(buffer, sizeof(buffer), "%.*g", std::is_same_v<T, float> ? 6 : 15, wide);
    const T again = std::is_same_v<T, float> ? static_cast<T>(std::strtof(buffer, nullptr))
                                             : static_cast<T>(std::strtod(buffer, nullptr));
    if (again == value) {
      out += buffer;
      return;
    }
  }
  std::snprintf(buffer, sizeof(buffer), "%.*g", kDigits<T>, wide);
  out += buffer;
}

}  // namespace

template <typename T>
Status ReadElement(Lexer& lexer, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return ReadPred(lexer, value);
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    typename T::value_type real, imag;
    RETURN_IF_ERROR(lexer.Expect("("));
    RETURN_IF_ERROR(ReadFloat(lexer, real));
    RETURN_IF_ERROR(lexer.Expect(","));
    RETURN_IF_ERROR(ReadFloat(lexer, imag));
    value = {real, imag};
    return lexer.Expect(")");
  } else if constexpr (std::is_integral_v<T> || kIsSmallInt<T>) {
    return ReadInteger(lexer, value);
  } else {
    return ReadFloat(lexer, value);
  }
}

template <typename T>
void PrintElement(const T& value, bool alone, std::string& out) {
  if constexpr (std::is_same_v<T, bool>) {
    out += alone ? (value ? "true" : "false") : (value ? "1" : "0");
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    out += '(';
    PrintFloat(value.real(), out);
    out += ", ";
    PrintFloat(value.imag(), out);
    out += ')';
  } else if constexpr (kIsSmallInt<T>) {
    absl::StrAppend(&out, int{value});
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (std::is_signed_v<T>) {
      absl::StrAppend(&out, int64_t{value});
    } else {
      absl::StrAppend(&out, uint64_t{value});
    }
  } else {
    PrintFloat(value, out);
  }
}

// Instantiates one pair per storage type; the table lists some storage types several times.
#define HLOD_INSTANTIATE(T)                   \
  template Status ReadElement<T>(Lexer&, T&); \
  template void PrintElement<T>(const T&, bool, std::string&);
#define HLOD_TYPE(id, number, text, bits, type_class, storage) HLOD_INSTANTIATE_IF_##type_class(storage)
#define HLOD_INSTANTIATE_IF_kPred(T) HLOD_INSTANTIATE(T)
#define HLOD_INSTANTIATE_IF_kSigned(T) HLOD_INSTANTIATE(T)
#define HLOD_INSTANTIATE_IF_kUnsigned(T) HLOD_INSTANTIATE(T)
#define HLOD_INSTANTIATE_IF_kFloat(T) HLOD_INSTANTIATE(T)
#define HLOD_INSTANTIATE_IF_kComplex(T) HLOD_INSTANTIATE(T)
#define HLOD_INSTANTIATE_IF_kOther(T)
#include "common/hlo/primitive_types.inc"
#undef HLOD_TYPE

}  // namespace hlod::hlo::text
