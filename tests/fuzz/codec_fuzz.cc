// Reads any bytes as a module: the answer is a module or an error, and an accepted module survives verifying
// and writing again.
#include <cstdint>
#include <cstdlib>

#include "common/hlo/inference/verifier.h"
#include "common/hlo/proto/codec.h"
#include "common/hlo/text/text.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hlod::hlo;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto module = FromSerialized(bytes, {.for_execution = true, .literal_bytes_max = 1 << 20});
  if (!module.ok()) return 0;
  const bool valid = Verify(**module).ok();
  // An accepted module can be read back, and is as valid as it was.
  const auto again = FromSerialized(Serialize(**module), {.for_execution = true});
  if (!again.ok() || Verify(**again).ok() != valid) std::abort();
  ToText(**module);
  return 0;
}
