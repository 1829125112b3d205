// Certificates of a cluster. One authority signs all. A daemon's certificate names its host, by which clients
// and members verify it, and, by a URI, the daemon as a member of this cluster.
#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "client/cli/commands.h"
#include "client/cli/print/json.h"
#include "client/cli/print/table.h"
#include "common/base/errors/status.h"
#include "common/base/system/file.h"
#include "common/rpc/credentials.h"
#include "common/rpc/openssl_object.h"

namespace hlod::cli {
namespace {

using rpc::Bio, rpc::Certificate, rpc::CertificateExtension, rpc::Key;

constexpr long kDay = 24 * 60 * 60;

struct Identity {
  Key key;
  Certificate certificate;
};

absl::Status OpenSslError(std::string_view what) {
  const unsigned long error = ERR_peek_last_error();
  const char* const reason = error == 0 ? nullptr : ERR_reason_error_string(error);
  ERR_clear_error();
  return Internal("%s failed in OpenSSL: %s.", ToAbsl(what), reason == nullptr ? "no reason" : reason);
}

// Names become parts of file names, of URIs and of OpenSSL's lists.
absl::Status CheckName(std::string_view what, const std::string& name) {
  constexpr size_t kLongest = 56;  // The authority is called "hlod NAME", in at most 64 letters (X.509).
  bool plain = !name.empty() && name.size() <= kLongest && name.front() != '.' && name.front() != '-';
  for (const char c : name)
    plain &= absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
  if (plain) return absl::OkStatus();
  return UsageError(absl::StrFormat(
      "%s \"%s\" must have 1 to %d letters, digits, '.', '_' or '-', and begin with a letter or digit.",
      ToAbsl(what), name, kLongest));
}

bool IsAddress(const std::string& name) {
  in_addr address{};
  return inet_pton(AF_INET, name.c_str(), &address) == 1;
}

absl::Status AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const CertificateExtension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  if (extension == nullptr || X509_add_ext(certificate, extension.get(), -1) != 1)
    return OpenSslError("Adding an extension");
  return absl::OkStatus();
}

// Returns a key and a certificate that is not signed yet, valid from five minutes ago, as clocks differ.
absl::StatusOr<Identity> MakeIdentity(const std::string& name, int days) {
  constexpr long kClocksDiffer = -300;
  Identity made{Key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")), Certificate(X509_new())};
  uint64_t serial = 0;
  X509* const certificate = made.certificate.get();
  const bool is_made =
      made.key != nullptr && certificate != nullptr &&
      RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1 &&
      X509_set_version(certificate, X509_VERSION_3) == 1 &&
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1 &&
      X509_gmtime_adj(X509_getm_notBefore(certificate), kClocksDiffer) != nullptr &&
      X509_gmtime_adj(X509_getm_notAfter(certificate), days * kDay) != nullptr &&
      X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0) == 1 &&
      X509_set_pubkey(certificate, made.key.get()) == 1;
  if (!is_made) return OpenSslError("Making a certificate");
  return made;
}

absl::Status SignBy(const Identity& authority, Identity& identity) {
  const bool is_signed = X509_set_issuer_name(identity.certificate.get(),
                                              X509_get_subject_name(authority.certificate.get())) == 1 &&
                         X509_sign(identity.certificate.get(), authority.key.get(), EVP_sha256()) > 0;
  return is_signed ? absl::OkStatus() : OpenSslError("Signing a certificate");
}

absl::StatusOr<Identity> MakeAuthority(const std::string& cluster, int days) {
  ASSIGN_OR_RETURN(Identity authority, MakeIdentity("hlod " + cluster, days));
  X509* const certificate = authority.certificate.get();
  RETURN_IF_ERROR(AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE"));
  RETURN_IF_ERROR(AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign"));
  RETURN_IF_ERROR(AddExtension(certificate, certificate, NID_subject_key_identifier, "hash"));
  RETURN_IF_ERROR(SignBy(authority, authority));
  return authority;
}

// `uri` is empty for a client.
absl::StatusOr<Identity> MakeMember(const Identity& authority, const std::string& name,
                                    const std::string& uri, int days) {
  ASSIGN_OR_RETURN(Identity member, MakeIdentity(name, days));
  X509* const certificate = member.certificate.get();
  X509* const issuer = authority.certificate.get();
  RETURN_IF_ERROR(AddExtension(certificate, issuer, NID_subject_key_identifier, "hash"));
  RETURN_IF_ERROR(AddExtension(certificate, issuer, NID_authority_key_identifier, "keyid"));
  RETURN_IF_ERROR(AddExtension(certificate, issuer, NID_ext_key_usage,
                               uri.empty() ? "clientAuth" : "serverAuth,clientAuth"));
  if (!uri.empty()) {
    const std::string hosts =
        absl::StrCat(IsAddress(name) ? "IP:" : "DNS:", name, ",DNS:localhost,IP:127.0.0.1,URI:", uri);
    RETURN_IF_ERROR(AddExtension(certificate, issuer, NID_subject_alt_name, hosts));
  }
  RETURN_IF_ERROR(SignBy(authority, member));
  return member;
}

std::string Contents(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<size_t>(size));
}

// Makes a file, which must not exist.
absl::Status MakeFile(const std::string& path, int mode, const std::string& text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (fd < 0) return InvalidArgument("%s cannot be made: %s.", path, std::strerror(errno));
  close(fd);
  return WriteFile(path, text);
}

// Writes NAME.pem, and NAME.key that its owner alone may read. Files that exist are not touched.
absl::Status Save(const std::filesystem::path& folder, const std::string& name, const Identity& identity) {
  const Bio certificate(BIO_new(BIO_s_mem())), key(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate.get(), identity.certificate.get()) != 1 ||
      PEM_write_bio_PrivateKey(key.get(), identity.key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return OpenSslError("Writing a certificate");
  RETURN_IF_ERROR(MakeFile(folder / (name + ".key"), 0600, Contents(key.get())));
  return MakeFile(folder / (name + ".pem"), 0644, Contents(certificate.get()));
}

bool Exists(const std::filesystem::path& folder, const std::string& name) {
  return std::filesystem::exists(folder / (name + ".key")) ||
         std::filesystem::exists(folder / (name + ".pem"));
}

// Returns the authority in the folder, which must be valid for `days` more.
absl::StatusOr<Identity> LoadAuthority(const std::filesystem::path& folder, int days) {
  const Bio certificate(BIO_new_file((folder / "ca.pem").c_str(), "r")),
      key(BIO_new_file((folder / "ca.key").c_str(), "r"));
  Identity authority;
  if (certificate != nullptr)
    authority.certificate.reset(PEM_read_bio_X509(certificate.get(), nullptr, nullptr, nullptr));
  if (key != nullptr) authority.key.reset(PEM_read_bio_PrivateKey(key.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (authority.certificate == nullptr || authority.key == nullptr ||
      X509_check_private_key(authority.certificate.get(), authority.key.get()) != 1) {
    ERR_clear_error();
    return InvalidArgument(
        "%s has a ca.pem or ca.key that cannot be read, or they do not belong together: both are needed to "
        "sign more certificates.",
        folder.string());
  }
  time_t end = time(nullptr) + days * kDay;
  if (X509_cmp_time(X509_get0_notAfter(authority.certificate.get()), &end) < 0) {
    return InvalidArgument(
        "The authority of %s ends before the certificates would, in %d days: give fewer --days.",
        folder.string(), days);
  }
  return authority;
}

absl::StatusOr<Identity> AuthorityIn(const std::filesystem::path& folder, const KeysOptions& options) {
  if (Exists(folder, "ca")) return LoadAuthority(folder, options.days);
  // It signs certificates of later times, too.
  ASSIGN_OR_RETURN(Identity authority, MakeAuthority(options.cluster, 10 * options.days));
  RETURN_IF_ERROR(Save(folder, "ca", authority));
  return authority;
}

}  // namespace

absl::Status MakeClusterKeys(const CommonOptions& common, const KeysOptions& options) {
  const std::filesystem::path folder = options.folder;
  RETURN_IF_ERROR(CheckName("The cluster's name", options.cluster));
  std::set<std::string> taken = {"ca", "client"};
  for (const std::string& name : options.daemons) {
    RETURN_IF_ERROR(CheckName("The daemon's name", name));
    if (!taken.insert(name).second || Exists(folder, name)) {
      return UsageError(absl::StrFormat(
          "\"%s\" is named twice, or %s.pem or .key is there already (ca and client are taken); nothing was made.",
          name, (folder / name).string()));
    }
  }
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) return InvalidArgument("%s cannot be made: %s.", options.folder, error.message());
  ASSIGN_OR_RETURN(const Identity authority, AuthorityIn(folder, options));
  std::vector<std::pair<std::string, std::string>> members;  // Names and URIs.
  for (const std::string& name : options.daemons)
    members.emplace_back(name, rpc::DaemonUriPrefix(options.cluster) + name);
  if (!Exists(folder, "client")) members.emplace_back("client", "");
  Json made = Json::array();
  Table table({"certificate", "for"});
  for (const auto& [name, uri] : members) {
    ASSIGN_OR_RETURN(const Identity member, MakeMember(authority, name, uri, options.days));
    RETURN_IF_ERROR(Save(folder, name, member));
    const std::string path = folder / (name + ".pem");
    made.push_back({{"path", path}, {"uri", uri}});
    table.Add({path, uri.empty() ? "clients" : uri});
  }
  if (common.json) {
    Show(Dump({{"authority", (folder / "ca.pem").string()}, {"certificates", made}}) + "\n");
  } else {
    table.Print();
  }
  return absl::OkStatus();
}

}  // namespace hlod::cli
