// Reads any bytes as the output of Exported.serialize(): the answer is a program or an error.
#include <cstdint>
#include <string_view>

#include "client/import/program/operation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (hlod::stablehlo::IsExported(bytes)) hlod::stablehlo::ParseExported(bytes).IgnoreError();
  return 0;
}
