// Parses the PEM texts with OpenSSL, as gRPC does later.
#include "common/rpc/credentials.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <algorithm>
#include <memory>

#include "common/base/errors/status.h"

namespace hlod::rpc {
namespace {

template <auto Free>
struct Deleter {
  template <typename T>
  void operator()(T* value) const {
    Free(value);
  }
};
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free>>;

Bio Reader(const std::string& pem) {
  return Bio(BIO_new_mem_buf(pem.data(), static_cast<int>(std::min<size_t>(pem.size(), 1 << 30))));
}

// A daemon has no terminal to ask for a pass phrase, so an encrypted key cannot be used.
int NoPassphrase(char*, int, int, void*) { return 0; }

Certificate FirstCertificate(const std::string& pem) {
  Certificate certificate(PEM_read_bio_X509(Reader(pem).get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  return certificate;
}

}  // namespace

absl::Status CheckToken(const std::string& token) {
  if (token.empty()) return InvalidArgument("the token is empty");
  for (size_t i = 0; i < token.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(token[i]);
    if (c < 0x20 || c > 0x7e) {
      return InvalidArgument("byte %d of the token is 0x%02x; tokens are printable ASCII", i,
                             static_cast<int>(c));
    }
  }
  if (token.front() == ' ' || token.back() == ' ')
    return InvalidArgument("the token begins or ends with a blank");
  return absl::OkStatus();
}

absl::Status CheckCertificates(const std::string& pem) {
  if (FirstCertificate(pem) == nullptr) return InvalidArgument("no PEM certificate was found in it");
  return absl::OkStatus();
}

absl::Status CheckKey(const std::string& key, const std::string& certificates) {
  const Key parsed(PEM_read_bio_PrivateKey(Reader(key).get(), nullptr, NoPassphrase, nullptr));
  ERR_clear_error();
  if (parsed == nullptr) return InvalidArgument("no PEM private key without a pass phrase was found in it");
  const Certificate certificate = FirstCertificate(certificates);
  if (certificate == nullptr) return InvalidArgument("no PEM certificate for it was given");
  const bool fits = X509_check_private_key(certificate.get(), parsed.get()) == 1;
  ERR_clear_error();
  if (!fits) return InvalidArgument("it is not the key of the certificate");
  return absl::OkStatus();
}

}  // namespace hlod::rpc
