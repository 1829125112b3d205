// Reads one element of a dense literal, in decimal or as bits.
#pragma once

#include <charconv>
#include <complex>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "absl/strings/ascii.h"
#include "client/import/text/reader.h"
#include "common/hlo/primitive_type.h"

namespace hlod::stablehlo::text {

// An integer as written: its digits may exceed an int64.
struct WrittenInteger {
  size_t at = 0;
  bool is_negative = false, is_hexadecimal = false;
  uint64_t magnitude = 0;
};
absl::StatusOr<WrittenInteger> ReadWritten(Reader& reader);
// Returns true when a decimal number with a point follows, after an optional sign.
bool AtDecimalFloat(Reader& reader);
// Reads a decimal number with a point, rounded to double.
absl::StatusOr<double> ReadDecimalFloat(Reader& reader);

// Returns the two's complement of the number in `bits` bits. A signless integer may be written as an unsigned
// one: 255 : i8.
absl::StatusOr<uint64_t> Wrapped(Reader& reader, const WrittenInteger& written, int bits, bool is_unsigned);

template <typename T>
absl::Status ReadElement(Reader& reader, T& value) {
  constexpr hlo::PrimitiveType kType = hlo::kPrimitiveTypeOf<T>;
  if constexpr (std::is_same_v<T, bool>) {
    value = reader.TryKeyword("true");
    if (value || reader.TryKeyword("false")) return absl::OkStatus();
    ASSIGN_OR_RETURN(const WrittenInteger written, ReadWritten(reader));
    if (written.magnitude > 1) return reader.ErrorAt(written.at, "expected true or false");
    value = written.magnitude == 1;
    return absl::OkStatus();
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    typename T::value_type real = 0, imaginary = 0;
    RETURN_IF_ERROR(reader.Expect("("));
    RETURN_IF_ERROR(ReadElement(reader, real));
    RETURN_IF_ERROR(reader.Expect(","));
    RETURN_IF_ERROR(ReadElement(reader, imaginary));
    value = T(real, imaginary);
    return reader.Expect(")");
  } else if constexpr (std::is_floating_point_v<T> || hlo::kIsSmallFloat<T>) {
    if (AtDecimalFloat(reader)) {
      ASSIGN_OR_RETURN(const double wide, ReadDecimalFloat(reader));
      value = static_cast<T>(wide);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const WrittenInteger written, ReadWritten(reader));
    const int bits = hlo::Info(kType).bits;
    if (!written.is_hexadecimal || written.is_negative) {
      return reader.ErrorAt(written.at, "expected a number with a point, or the %d bits of %s in hexadecimal",
                            bits, Name(kType));
    }
    ASSIGN_OR_RETURN(const uint64_t pattern, Wrapped(reader, written, bits, true));
    if constexpr (hlo::kIsSmallFloat<T>) {
      value = T::FromBits(static_cast<typename T::Storage>(pattern));
    } else {
      std::memcpy(&value, &pattern, sizeof(T));
    }
    return absl::OkStatus();
  } else {
    ASSIGN_OR_RETURN(const WrittenInteger written, ReadWritten(reader));
    ASSIGN_OR_RETURN(const uint64_t bits,
                     Wrapped(reader, written, hlo::Info(kType).bits, hlo::IsUnsigned(kType)));
    value = static_cast<T>(static_cast<int64_t>(bits));
    return absl::OkStatus();
  }
}

}  // namespace hlod::stablehlo::text
