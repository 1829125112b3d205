// Reads any text as a module: the answer is a module or an error with its place, and the text of an accepted
// module is accepted.
#include <cstdint>
#include <cstdlib>

#include "common/hlo/inference/verifier.h"
#include "common/hlo/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hlod::hlo;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto module = ParseModule(text, {.literal_bytes_max = 1 << 20});
  if (!module.ok()) return 0;
  Verify(**module).IgnoreError();
  const std::string printed = ToText(**module);
  const auto again = ParseModule(printed);
  if (!again.ok() || ToText(**again) != printed) std::abort();
  return 0;
}
