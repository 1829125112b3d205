// Ed25519 signatures of OpenSSL.
#include "server/grpc/launches/session_pass.h"

#include <openssl/err.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "common/base/errors/error.h"
#include "common/base/sha256.h"
#include "common/rpc/secret.h"

namespace hlod::grpc_server {
namespace {

constexpr size_t kPublicBytes = 32, kSignatureBytes = 64;

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* Bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

// Returns the bytes that are signed.
std::string Signed(v1::SessionPass& pass) {
  pass.clear_signature();
  return pass.SerializeAsString();
}

}  // namespace

PassKey::PassKey() : key_(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")) { ERR_clear_error(); }

std::string PassKey::Public() const {
  std::string key(kPublicBytes, '\0');
  size_t size = key.size();
  if (key_ == nullptr || EVP_PKEY_get_raw_public_key(key_.get(), Bytes(key), &size) != 1) return "";
  return key;
}

std::string PassKey::Sign(v1::SessionPass pass) const {
  const std::string text = Signed(pass);
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  const rpc::DigestContext context(EVP_MD_CTX_new());
  const bool is_signed =
      key_ != nullptr && context != nullptr &&
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
      EVP_DigestSign(context.get(), Bytes(signature), &size, Bytes(text), text.size()) == 1;
  ERR_clear_error();
  if (!is_signed) return "";
  pass.set_signature(signature);
  return pass.SerializeAsString();
}

absl::StatusOr<uint64_t> CheckPass(v1::SessionPass pass, const std::string& public_key) {
  const std::string signature = pass.signature();
  const std::string text = Signed(pass);
  const rpc::Key key(
      EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, Bytes(public_key), public_key.size()));
  const rpc::DigestContext context(EVP_MD_CTX_new());
  const bool is_right =
      key != nullptr && context != nullptr &&
      EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), Bytes(signature), signature.size(), Bytes(text), text.size()) == 1;
  ERR_clear_error();
  if (is_right) return GroupOf(public_key, pass.client());
  return MakeError(ErrorKind::kAuth, "The session's pass was not given by the daemon that it names.");
}

uint64_t GroupOf(const std::string& public_key, uint64_t client) {
  std::string text = public_key;
  for (int byte = 0; byte < 8; ++byte) text += static_cast<char>(client >> (8 * byte));
  const Digest digest = Sha256(text);
  uint64_t group = 0;
  for (size_t byte = 0; byte < 8; ++byte) group |= uint64_t{digest[byte]} << (8 * byte);
  return std::max<uint64_t>(1, group);
}

void AddPasses(const PassKey& key, v1::SessionPass pass, device::GivenPasses& given,
               v1::ClusterInfo& cluster) {
  pass.set_client(given.client);
  MutexLock lock(&given.mu);
  auto before = std::exchange(given.by_member, {});  // Forgets those for former members.
  for (v1::ClusterDaemon& row : *cluster.mutable_daemons()) {
    const std::pair member(row.rank(), row.name());
    std::string& own = given.by_member[member];
    if (const auto known = before.find(member); known != before.end()) own = std::move(known->second);
    if (own.empty()) {
      pass.set_for_rank(row.rank());
      pass.set_for_name(row.name());
      own = key.Sign(pass);
    }
    row.set_pass(own);
  }
  int64_t bytes = 0;
  for (const auto& [member, own] : given.by_member) {
    constexpr size_t kRow = 192;  // About what the map and the strings need beside their bytes.
    bytes += static_cast<int64_t>(kRow + member.second.size() + own.size());
  }
  const int64_t further = bytes - given.bytes;
  if (further > 0 && !given.charge.TryGrow(further, "The passes of a session").ok()) {
    given.by_member.clear();
    bytes = 0;
  }
  if (bytes < given.bytes) given.charge.Grow(bytes - given.bytes);
  given.bytes = bytes;
}

uint64_t RandomClient() {
  uint64_t client;
  const rpc::Secret random = rpc::Secret::Random();
  std::memcpy(&client, random.bytes().data(), sizeof(client));
  return client;
}

}  // namespace hlod::grpc_server
