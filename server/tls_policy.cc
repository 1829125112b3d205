// gRPC sets the least version of each context (SSL_CTX) to TLS 1.2, which overrides MinProtocol of OpenSSL's
// configuration. But each new context also gets the options of that configuration's default section, and gRPC
// leaves these alone: `Protocol = -TLSv1.2` forbids the version in spite of the least version. Therefore this
// adds the line to the sections that the process has loaded from the machine's file, for example:
//
//     openssl_conf = hlod
//     [hlod]
//     ssl_conf = hlod_tls
//     [hlod_tls]
//     system_default = hlod_contexts
//     [hlod_contexts]
//     CipherString = DEFAULT@SECLEVEL=2       # This is the machine's.
//     Protocol = -TLSv1.2
#include "server/tls_policy.h"

#include <openssl/bio.h>
#include <openssl/conf.h>
#include <openssl/crypto.h>
#include <openssl/err.h>

#include <memory>
#include <string>

#include "absl/strings/str_cat.h"

namespace hlod {
namespace {

struct FreeConfiguration {
  void operator()(CONF* configuration) const { NCONF_free(configuration); }
};
using Configuration = std::unique_ptr<CONF, FreeConfiguration>;

// Returns the lines of the machine's configuration for every context; empty if it has none.
std::string LinesOfMachine() {
  char* const path = CONF_get1_default_config_file();
  const Configuration machine(NCONF_new(nullptr));
  const bool loaded = path != nullptr && NCONF_load(machine.get(), path, nullptr) > 0;
  OPENSSL_free(path);
  const char* section = loaded ? NCONF_get_string(machine.get(), nullptr, "openssl_conf") : nullptr;
  for (const char* next : {"ssl_conf", "system_default"}) {
    if (section != nullptr) section = NCONF_get_string(machine.get(), section, next);
  }
  std::string lines;
  const STACK_OF(CONF_VALUE)* const values =
      section != nullptr ? NCONF_get_section(machine.get(), section) : nullptr;
  for (int i = 0; i < sk_CONF_VALUE_num(values); ++i) {  // Null has -1.
    const CONF_VALUE* const value = sk_CONF_VALUE_value(values, i);
    absl::StrAppend(&lines, value->name, " = ", value->value, "\n");
  }
  ERR_clear_error();  // A name that is not there has left one.
  return lines;
}

}  // namespace

absl::Status RequireTls13() {
  // Loads the machine's file first: otherwise OpenSSL would do it later, and replace what is set here.
  OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG, nullptr);
  const std::string text = absl::StrCat(
      "openssl_conf = hlod\n[hlod]\nssl_conf = hlod_tls\n[hlod_tls]\nsystem_default = hlod_contexts\n"
      "[hlod_contexts]\n",
      LinesOfMachine(), "Protocol = -TLSv1.2\n");
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> bytes(
      BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free_all);
  const Configuration own(NCONF_new(nullptr));
  if (NCONF_load_bio(own.get(), bytes.get(), nullptr) > 0 && CONF_modules_load(own.get(), nullptr, 0) > 0)
    return absl::OkStatus();
  return absl::InternalError("OpenSSL did not accept the setting that forbids TLS 1.2.");
}

}  // namespace hlod
