// Parses the PEM texts with OpenSSL, as gRPC does later.
#include "common/rpc/credentials.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "common/base/errors/status.h"
#include "common/rpc/openssl_object.h"

namespace hlod::rpc {
namespace {

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

std::vector<std::string> UrisOf(const std::string& certificates) {
  std::vector<std::string> uris;
  const Certificate certificate = FirstCertificate(certificates);
  if (certificate == nullptr) return uris;
  using Names = std::unique_ptr<GENERAL_NAMES, OpenSslFree<GENERAL_NAMES_free>>;
  const Names names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(certificate.get(), NID_subject_alt_name, nullptr, nullptr)));
  ERR_clear_error();
  if (names == nullptr) return uris;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* const text = name->d.uniformResourceIdentifier;
    uris.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                      static_cast<size_t>(ASN1_STRING_length(text)));
  }
  return uris;
}

std::string DaemonUriPrefix(const std::string& cluster) { return "hlod://" + cluster + "/daemon/"; }

}  // namespace hlod::rpc
