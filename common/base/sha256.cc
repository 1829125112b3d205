// SHA-256 by OpenSSL, which uses the processor's SHA instructions if it has them.
#include "common/base/sha256.h"

#include <openssl/evp.h>

#include "absl/strings/escaping.h"
#include "common/base/text/strings.h"

namespace hlod {

Digest Sha256(std::string_view bytes) {
  Digest digest;
  unsigned int length = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return digest;
}

std::string ToHex(const Digest& digest) {
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

}  // namespace hlod
