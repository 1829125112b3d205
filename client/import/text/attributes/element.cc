// Reads integers and floats as MLIR writes them.
#include "client/import/text/attributes/element.h"

namespace hlod::stablehlo::text {

absl::StatusOr<WrittenInteger> ReadWritten(Reader& reader) {
  WrittenInteger written;
  reader.SkipBlanks();
  written.at = reader.position();
  written.is_negative = reader.Try("-");
  const std::string_view rest = reader.text().substr((reader.SkipBlanks(), reader.position()));
  written.is_hexadecimal = rest.starts_with("0x") && rest.size() > 2 && absl::ascii_isxdigit(rest[2]);
  const std::string_view digits = rest.substr(written.is_hexadecimal ? 2 : 0);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), written.magnitude,
                                            written.is_hexadecimal ? 16 : 10);
  if (error == std::errc::invalid_argument) {
    reader.Rewind(written.at);
    return reader.Expected("a number");
  }
  if (error != std::errc()) return reader.ErrorAt(written.at, "this number does not fit 64 bits");
  reader.Rewind(end - reader.text().data());
  return written;
}

bool AtDecimalFloat(Reader& reader) {
  reader.SkipBlanks();
  std::string_view rest = reader.text().substr(reader.position());
  if (rest.starts_with("-")) rest.remove_prefix(1);
  const size_t end = rest.find_first_not_of("0123456789");
  return end != 0 && end != std::string_view::npos && rest[end] == '.';
}

absl::StatusOr<double> ReadDecimalFloat(Reader& reader) {
  reader.SkipBlanks();
  const char* const begin = reader.text().data() + reader.position();
  double value = 0;
  const auto [end, error] = std::from_chars(begin, reader.text().data() + reader.text().size(), value);
  if (error == std::errc::invalid_argument) return reader.Expected("a number");
  // Beyond a double's range, strtod decides between zero and infinity.
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(begin, end).c_str(), nullptr);
  reader.Rewind(end - reader.text().data());
  return value;
}

absl::StatusOr<uint64_t> Wrapped(Reader& reader, const WrittenInteger& written, int bits, bool is_unsigned) {
  const uint64_t all = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  const uint64_t largest = written.is_negative ? (is_unsigned ? 0 : all / 2 + 1) : all;
  if (written.magnitude > largest) {
    return reader.ErrorAt(written.at, "%s%d does not fit %d %sbits", written.is_negative ? "-" : "",
                          written.magnitude, bits, is_unsigned ? "unsigned " : "");
  }
  const uint64_t value = written.is_negative ? ~written.magnitude + 1 : written.magnitude;
  // Sign-extended: from here on it is a value, not bits.
  const bool is_large = !is_unsigned && ((value >> (bits - 1)) & 1) != 0;
  return is_large ? value | ~all : value;
}

}  // namespace hlod::stablehlo::text
