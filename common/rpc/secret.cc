// Gets random secrets from the kernel.
#include "common/rpc/secret.h"

#include <openssl/crypto.h>
#include <sys/random.h>

#include <cstdlib>
#include <utility>

namespace hlod::rpc {

Secret Secret::Random() {
  std::string bytes(kSecretBytes, '\0');
  // Requests of up to 256 bytes are never truncated once the source is seeded. Without randomness no session
  // may open.
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) std::abort();
  return Secret(std::move(bytes));
}

bool Secret::Equals(std::string_view other) const {
  return !bytes_.empty() && other.size() == bytes_.size() &&
         CRYPTO_memcmp(other.data(), bytes_.data(), bytes_.size()) == 0;
}

}  // namespace hlod::rpc
