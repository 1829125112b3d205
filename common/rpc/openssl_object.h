// Owners of OpenSSL's objects, each with its own function that frees it.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace hlod::rpc {

template <auto kFree>
struct OpenSslFree {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

using Bio = std::unique_ptr<BIO, OpenSslFree<BIO_free_all>>;
using Key = std::unique_ptr<EVP_PKEY, OpenSslFree<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, OpenSslFree<X509_free>>;
using CertificateExtension = std::unique_ptr<X509_EXTENSION, OpenSslFree<X509_EXTENSION_free>>;
using DigestContext = std::unique_ptr<EVP_MD_CTX, OpenSslFree<EVP_MD_CTX_free>>;

}  // namespace hlod::rpc
