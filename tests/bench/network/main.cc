// Uploads of 64 MiB over TCP with TLS and a network between two namespaces that delays, loses and limits,
// beside a bare gRPC stream with TLS over the same network, in turns:
//   network_bench [REPEATS]
// It needs to be root.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/base/system/temporary_folder.h"
#include "hlod/hlod.h"
#include "hlod/testing.h"
#include "tests/bench/wire/bare_peer.h"
#include "tests/bench/wire/report.h"
#include "tests/integration/network/link.h"
#include "tests/integration/network/namespaces.h"
#include "tests/integration/support/process.h"

namespace hlod::bench {
namespace {

constexpr size_t kBytes = size_t{64} << 20;
constexpr char kDaemon[] = "10.217.1.1:9517", kBare[] = "10.217.1.1:9518";

struct Line {
  const char* name;
  network::Conditions conditions;
};
const Line kLines[] = {
    {"no limit", {}},
    {"1 ms, 50 MB/s", {.delay = absl::Milliseconds(0.5), .bytes_per_second = 50'000'000}},
    {"20 ms, 25 MB/s", {.delay = absl::Milliseconds(10), .bytes_per_second = 25'000'000}},
    {"100 ms, 25 MB/s", {.delay = absl::Milliseconds(50), .bytes_per_second = 25'000'000}},
    {"20 ms, 25 MB/s, 0.1 % lost",
     {.delay = absl::Milliseconds(10), .loss = 0.001, .bytes_per_second = 25'000'000}},
    {"20 ms, 25 MB/s, 2 ms reordered",
     {.delay = absl::Milliseconds(10), .jitter = absl::Milliseconds(2), .bytes_per_second = 25'000'000}},
};

std::string Text(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

double UploadMegabytesPerSecond(const Client& client, const std::vector<std::byte>& bytes) {
  const double begin = Now();
  const Buffer buffer =
      client.device(0).Upload(bytes, Shape::Array(hlo::kU8, {static_cast<int64_t>(bytes.size())})).value();
  if (!buffer.ready().Await().ok()) std::abort();
  return static_cast<double>(bytes.size()) / (Now() - begin) / 1e6;
}

double BareMegabytesPerSecond(BareStream& stream, const std::vector<std::byte>& bytes) {
  const double begin = Now();
  Put(stream, bytes);
  return static_cast<double>(bytes.size()) / (Now() - begin) / 1e6;
}

void Run(int repeats) {
  const TemporaryFolder folder = TemporaryFolder::Make("hlod-network-bench").value();
  const std::string certificate = folder.path() + "/c.pem", key = folder.path() + "/c.key";
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=hlod -addext "
      "subjectAltName=IP:10.217.1.1 -keyout " +
      key + " -out " + certificate + " 2>/dev/null";
  if (system(make.c_str()) != 0) std::abort();
  const network::Namespace there;
  network::Link link(there, "bench", "10.217.1.2", "10.217.1.1");
  const std::string wrapper = folder.path() + "/hlod";
  std::ofstream(wrapper) << "#!/bin/sh\nexec " << Beside("network_bench") << " --enter " << there.path()
                         << " " << Beside("../bin/hlod") << " \"$@\"\n";
  std::filesystem::permissions(wrapper, std::filesystem::perms::owner_all);
  const std::string token = folder.path() + "/token";
  std::ofstream(token) << "secret";
  std::filesystem::permissions(token, std::filesystem::perms(0600));
  const std::string address = std::string("tcp:") + kDaemon;
  const testing::Daemon daemon =
      testing::Daemon::Start({.binary = wrapper,
                              .flags = {"--listen", address, "--tls-cert", certificate, "--tls-key", key,
                                        "--token-file", token}})
          .value();
  const Process bare({Beside("network_bench"), "--enter", there.path(), Beside("network_bench"),
                      "--bare-server", kBare, certificate, key});
  const Client client =
      Client::Connect(
          {.address = kDaemon, .tls = {.root_certificates = Text(certificate)}, .token = "secret"})
          .value();
  const auto credentials = grpc::SslCredentials({.pem_root_certs = Text(certificate)});
  const std::vector<std::byte> bytes(kBytes, std::byte{1});
  for (const Line& line : kLines) {
    link.Set(line.conditions);
    const Pair pair = Interleave(
        repeats, [&] { return UploadMegabytesPerSecond(client, bytes); },
        [&] {
          BareStream stream(kBare, "/bare/Put", credentials);  // The time to connect is not measured.
          return BareMegabytesPerSecond(stream, bytes);
        });
    Print(line.name, pair, "MB/s", "bare gRPC with TLS", ">= 0.9");
  }
}

void RunSecureBareServer(const char* address, const char* certificate, const char* key) {
  grpc::SslServerCredentialsOptions options;
  options.pem_key_cert_pairs.push_back({Text(key), Text(certificate)});
  RunBareServer(address, grpc::SslServerCredentials(options));
}

}  // namespace
}  // namespace hlod::bench

int main(int argc, char** argv) {
  if (argc > 3 && std::strcmp(argv[1], "--enter") == 0) hlod::network::RunInNamespace(argv[2], argv + 3);
  if (argc == 5 && std::strcmp(argv[1], "--bare-server") == 0)
    hlod::bench::RunSecureBareServer(argv[2], argv[3], argv[4]);
  if (const std::string reason = hlod::network::EnterOwnNamespace(); !reason.empty()) {
    std::fprintf(stderr, "network_bench: %s\n", reason.c_str());
    return 1;
  }
  hlod::bench::Run(argc > 1 ? std::atoi(argv[1]) : 3);
}
