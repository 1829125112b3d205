// Credentials of programs that were not written for the daemon that the environment names.
#include <cstdlib>
#include <string>

#include "client/runtime/connection/connector.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"

namespace hlod::runtime {
namespace {

// Reads the file that a variable names by `read` into `text`; leaves `text` when the variable is not set.
absl::Status ReadFileOf(const char* variable, absl::StatusOr<std::string> (*read)(const std::string&),
                        std::string& text) {
  const char* const path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return absl::OkStatus();
  absl::StatusOr<std::string> bytes = read(path);
  if (!bytes.ok())
    return MakeError(ErrorKind::kArgument,
                     absl::StrFormat("$%s: %s", variable, FromAbsl(bytes.status().message())));
  text = *std::move(bytes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConnectOptions> WithCredentialsOfEnvironment(const ConnectOptions& options) {
  ConnectOptions with = options;
  if (!options.address.empty()) return with;
  if (with.token.empty()) {
    if (const char* const token = std::getenv("HLOD_TOKEN"); token != nullptr) with.token = token;
    RETURN_IF_ERROR(ReadFileOf("HLOD_TOKEN_FILE", &ReadSecretFile, with.token));
  }
  TlsOptions& tls = with.tls;
  if (!tls.enabled && tls.root_certificates.empty() && tls.certificate.empty()) {
    RETURN_IF_ERROR(ReadFileOf("HLOD_TLS_CA", &ReadFile, tls.root_certificates));
    RETURN_IF_ERROR(ReadFileOf("HLOD_TLS_CERT", &ReadFile, tls.certificate));
    RETURN_IF_ERROR(ReadFileOf("HLOD_TLS_KEY", &ReadFile, tls.key));
  }
  RETURN_IF_ERROR(CheckCredentials(with));
  return with;
}

}  // namespace hlod::runtime
