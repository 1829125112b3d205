// Reads any bytes as a StableHLO artifact: the answer is a program or an error with its byte.
#include <cstdint>
#include <string_view>

#include "client/import/program/operation.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hlod::stablehlo::ParseBytecode({reinterpret_cast<const char*>(data), size}).IgnoreError();
  return 0;
}
