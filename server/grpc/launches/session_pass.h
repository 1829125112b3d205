// Passes: by them a client shows one daemon of a cluster that another one knows it. A launch belongs to the
// sessions of one client, so nobody can take part in it, or end it, by guessing its number.
#pragma once

#include <openssl/evp.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "proto/hlod/v1/peer.pb.h"

namespace hlod::grpc_server {

// The key with which a daemon signs the passes that it gives, new after each start. Other daemons know its
// public half (Member.pass_key), so none can give passes in another's name. Thread-safe.
class PassKey {
 public:
  PassKey();
  // Returns the public half; empty if OpenSSL made no key.
  std::string Public() const;
  // Returns the serialized pass with its signature; empty if there is no key or no memory.
  std::string Sign(v1::SessionPass pass) const;

 private:
  struct Free {
    void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  };
  std::unique_ptr<EVP_PKEY, Free> key_;
};

// Returns an error of kind auth unless the pass was signed by the owner of this public key.
absl::Status CheckPass(v1::SessionPass pass, const std::string& public_key);

// Returns a number for a client's launches that no other client has: a random one, never 0.
uint64_t RandomGroup();

}  // namespace hlod::grpc_server
