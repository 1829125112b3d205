// Reads any text as a StableHLO program: the answer is a program or an error with its place.
#include <cstdint>
#include <string_view>

#include "client/import/program/operation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  hlod::stablehlo::IsStablehloText(text);
  hlod::stablehlo::ParseText(text).IgnoreError();
  return 0;
}
