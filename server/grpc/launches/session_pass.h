// Passes: by them a client shows one daemon of a cluster that another one knows it. A launch belongs to the
// sessions of one client, so nobody can take part in it, or end it, by guessing its number.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "common/rpc/openssl_object.h"
#include "proto/hlod/v1/peer.pb.h"
#include "proto/hlod/v1/session.pb.h"
#include "server/device/execution/launches.h"

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
  rpc::Key key_;
};

// Returns the group of the client that shows the pass. An error of kind auth unless it was signed by the
// owner of this public key.
absl::StatusOr<uint64_t> CheckPass(v1::SessionPass pass, const std::string& public_key);

// Returns the group of a client's launches, by the key of the daemon that gives its passes, and the client's
// number there (SessionPass.client); never 0. A daemon that knows a group, because a pass was shown to it,
// has no number that gives the same group with its own key: it would have to try 2^64.
uint64_t GroupOf(const std::string& public_key, uint64_t client);

// Adds a client's passes to the rows of the other members. `pass` has what is common to all passes.
void AddPasses(const PassKey& key, v1::SessionPass pass, device::GivenPasses& given,
               v1::ClusterInfo& cluster);

// Returns a number for a client that no other client has: a random one.
uint64_t RandomClient();

}  // namespace hlod::grpc_server
