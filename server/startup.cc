// Sets up the process around the daemon.
#include "server/startup.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <grpc/support/log.h>  // tidy: its log goes into ours.
#include <link.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "common/base/errors/status.h"
#include "common/base/system/deadlock_detection.h"
#include "common/base/system/file.h"
#include "common/base/system/thread_ends.h"
#include "common/rpc/credentials.h"
#include "common/rpc/ring_use.h"
#include "server/confinement/system_calls.h"
#include "server/engine/contraction/cpu_features.h"
#include "server/launcher/place.h"
#include "server/log/log.h"
#include "server/session/processes.h"
#include "server/tls_policy.h"

namespace hlod {
namespace {

void LogForGrpc(gpr_log_func_args* args) {
  const spdlog::level::level_enum level = args->severity == GPR_LOG_SEVERITY_ERROR  ? spdlog::level::err
                                          : args->severity == GPR_LOG_SEVERITY_INFO ? spdlog::level::info
                                                                                    : spdlog::level::debug;
  spdlog::log(level, "gRPC: {}", args->message);
}

// Returns "--tls-cert: /etc/hlod/cert.pem: no PEM certificate was found in it." An error in a file that the
// configuration names is an error of the configuration.
absl::Status About(std::string_view key, const std::string& path, const absl::Status& status) {
  return InvalidArgument("%s: %s: %s.", FlagOf(key), path, FromAbsl(status.message()));
}

// ReadNamed returns the text of a file that the configuration names, without surrounding blanks; empty if it
// names none.
enum class Secrecy { kPublic, kSecret };
absl::StatusOr<std::string> ReadNamed(std::string_view key, const std::string& path, Secrecy secrecy) {
  if (path.empty()) return std::string();
  const absl::StatusOr<std::string> text =
      secrecy == Secrecy::kSecret ? ReadSecretFile(path) : ReadFile(path);
  if (!text.ok()) return InvalidArgument("%s: %s", FlagOf(key), FromAbsl(text.status().message()));
  std::string trimmed(absl::StripAsciiWhitespace(*text));
  if (trimmed.empty()) return InvalidArgument("%s: the file %s is empty.", FlagOf(key), path);
  return trimmed;
}

// Reads and checks the certificates and the token, so that a mistake in them ends the start instead of
// failing every handshake.
absl::Status ReadCredentials(const Config& config, grpc_server::ServerOptions& options) {
  if (config.tls_cert.empty() != config.tls_key.empty())
    return InvalidArgument("tls_cert and tls_key belong together.");
  if (!config.tls_client_ca.empty() && config.tls_cert.empty())
    return InvalidArgument(
        "tls_client_ca needs tls_cert and tls_key: without TLS nobody shows a certificate.");
  ASSIGN_OR_RETURN(options.tls_certificate, ReadNamed("tls_cert", config.tls_cert, Secrecy::kPublic));
  ASSIGN_OR_RETURN(options.tls_key, ReadNamed("tls_key", config.tls_key, Secrecy::kSecret));
  ASSIGN_OR_RETURN(options.tls_client_authority,
                   ReadNamed("tls_client_ca", config.tls_client_ca, Secrecy::kPublic));
  ASSIGN_OR_RETURN(options.token, ReadNamed("token_file", config.token_file, Secrecy::kSecret));
  if (!config.tls_cert.empty()) {
    if (const absl::Status status = rpc::CheckCertificates(options.tls_certificate); !status.ok())
      return About("tls_cert", config.tls_cert, status);
    if (const absl::Status status = rpc::CheckKey(options.tls_key, options.tls_certificate); !status.ok())
      return About("tls_key", config.tls_key, status);
    RETURN_IF_ERROR(RequireTls13());
  }
  if (!config.tls_client_ca.empty()) {
    if (const absl::Status status = rpc::CheckCertificates(options.tls_client_authority); !status.ok())
      return About("tls_client_ca", config.tls_client_ca, status);
  }
  if (!config.token_file.empty()) {
    if (const absl::Status status = rpc::CheckToken(options.token); !status.ok())
      return About("token_file", config.token_file, status);
  }
  return absl::OkStatus();
}

// Returns the name by which the certificate names this daemon, or, without TLS, the machine's.
absl::StatusOr<std::string> NameInCluster(const Config& config, const grpc_server::ServerOptions& options) {
  if (options.tls_certificate.empty()) {
    char name[256] = {};
    gethostname(name, sizeof(name) - 1);
    return std::string(name);
  }
  if (options.tls_client_authority.empty()) {
    return InvalidArgument(
        "cluster over TLS needs tls_client_ca: the authority that signs the certificates of all its "
        "daemons.");
  }
  const std::string prefix = rpc::DaemonUriPrefix(config.cluster);
  for (const std::string& uri : rpc::UrisOf(options.tls_certificate)) {
    if (uri.size() > prefix.size() && uri.starts_with(prefix)) return uri.substr(prefix.size());
  }
  return InvalidArgument(
      "--tls-cert: %s does not name a daemon of cluster \"%s\": it needs the URI %sNAME (subjectAltName).",
      config.tls_cert, config.cluster, prefix);
}

// Reads the settings of the daemon's cluster, if it has one.
absl::Status ReadCluster(const Config& config, grpc_server::ServerOptions& options) {
  if (config.cluster.empty()) {
    if (config.join.empty() && config.rank < 0 && config.cluster_size == 0) return absl::OkStatus();
    return InvalidArgument("join, rank and cluster_size need cluster: the name of the cluster.");
  }
  const bool by_tcp = std::ranges::any_of(options.listen, [](const rpc::Endpoint& endpoint) {
    return endpoint.kind == rpc::Endpoint::Kind::kTcp;
  });
  if (config.inherit_fd >= 0 && (by_tcp || options.listen.empty())) {
    return InvalidArgument(
        "A private daemon (inherit_fd) is a member of a cluster by an address that is its user's alone: "
        "--listen unix:@NAME.");
  }
  if (!config.join.empty() && config.cluster_size > 0)
    return InvalidArgument("cluster_size is a setting of the coordinator, which is the daemon without join.");
  if (!config.join.empty() && config.rank == 0)
    return InvalidArgument("rank 0 is the coordinator's; a daemon that joins has another one.");
  if (config.join.empty() && config.rank > 0)
    return InvalidArgument("rank %d is for a daemon that joins (join); the coordinator has rank 0.",
                           config.rank);
  grpc_server::ClusterOptions& cluster = options.cluster.emplace();
  ASSIGN_OR_RETURN(cluster.daemon, NameInCluster(config, options));
  ASSIGN_OR_RETURN(const rpc::Endpoint coordinator,
                   rpc::ParseEndpoint(config.join.empty() ? "localhost:1" : config.join));
  if (options.tls_certificate.empty() && !coordinator.IsAbstract() && !coordinator.IsLoopback()) {
    return InvalidArgument(
        "join: %s is beyond the loopback interface, where daemons need tls_cert, tls_key and "
        "tls_client_ca.",
        config.join);
  }
  cluster.name = config.cluster;
  cluster.join = config.join;
  if (config.rank > 0) cluster.rank = static_cast<uint32_t>(config.rank);
  cluster.size = static_cast<uint32_t>(config.cluster_size);
  cluster.peer_silence = absl::Microseconds(config.peer_silence_us);
  return absl::OkStatus();
}

// Checks the connection of a private daemon.
absl::Status CheckConnected(int fd) {
  sockaddr_storage peer;
  socklen_t size = sizeof(peer);
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &size) == 0) return absl::OkStatus();
  return InvalidArgument("inherit_fd: descriptor %d is not a connected socket: %s.", fd,
                         std::strerror(errno));
}

// Returns the linker's id of this program's code and data, in hexadecimal; empty if it was linked without
// one.
std::string LinkedBuildId() {
  std::string id;
  const auto look = [](dl_phdr_info* object, size_t, void* found) {
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = object->dlpi_phdr[i];
      if (segment.p_type != PT_NOTE) continue;
      const auto* at = reinterpret_cast<const char*>(object->dlpi_addr + segment.p_vaddr);
      const auto rounded = [](size_t bytes) { return (bytes + 3) & ~size_t{3}; };
      for (const char* const end = at + segment.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
        const auto* const note = reinterpret_cast<const ElfW(Nhdr)*>(at);
        const char* const content = at + sizeof(*note) + rounded(note->n_namesz);
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(ELF_NOTE_GNU)) {
          *static_cast<std::string*>(found) = absl::BytesToHexString({content, note->n_descsz});
          return 1;
        }
        at = content + rounded(note->n_descsz);
      }
    }
    return 1;  // Stops: the first object is the program.
  };
  dl_iterate_phdr(look, &id);
  return id;
}

// Removes a pending signal, so that the next wait is for another one.
void ConsumeSignal(int signals) {
  signalfd_siginfo info;
  (void)!read(signals, &info, sizeof(info));
}

}  // namespace

absl::Status SetUpProcess(const std::string& log_level) {
  // By default glibc returns every freed block over 128 KiB to the kernel, and each later block has to touch
  // its pages again. The memory of ended sessions is returned by session::MemoryReturn.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  signal(SIGPIPE, SIG_IGN);
  // For links with other daemons. gRPC's other resolver, c-ares, asks a name server also about hosts that are
  // in /etc/hosts, and where that server refuses, it closes sockets behind gRPC's back, which then takes a
  // later socket of the same number out of its polling: a connection that never goes on.
  setenv("GRPC_DNS_RESOLVER", "native", /*overwrite=*/0);
  grpc_server::PollByConnection();
  SkipDeadlockDetection();
  PrepareForEndsOfThreads();
  // Each connection takes several descriptors; many systems start processes with a limit of 1024.
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
  }
  spdlog::set_default_logger(MakeLogger());
  const spdlog::level::level_enum level = spdlog::level::from_str(log_level);
  if (level == spdlog::level::off && log_level != "off") {
    return InvalidArgument("--log-level: \"%s\" is not one of trace, debug, info, warn, error, off.",
                           log_level);
  }
  spdlog::set_level(level);
  gpr_set_log_function(LogForGrpc);
  return absl::OkStatus();
}

int BlockSignals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

absl::Status ConfineProcess(const Config& config) {
  const bool configured = !config.system_calls.empty();
  if (configured) {
    ASSIGN_OR_RETURN(const SystemCalls calls, ParseSystemCalls(config.system_calls));
    if (calls == SystemCalls::kAll) return absl::OkStatus();
  }
  const absl::Status status = ForbidSystemCalls();
  if (status.ok() || configured) return status;
  spdlog::warn("{} The daemon goes on without one.", std::string(status.message()));
  return absl::OkStatus();
}

absl::Status ApplyLauncher(const Environment& environment, Config& config) {
  if (config.cluster != "auto") return absl::OkStatus();
  char name[256] = {};
  gethostname(name, sizeof(name) - 1);
  ASSIGN_OR_RETURN(const Place place, FindPlace(environment.variables, name));
  config.cluster = place.cluster;
  if (config.rank < 0) config.rank = place.rank;
  if (config.rank > 0 && config.join.empty())
    config.join = absl::StrCat(place.coordinator, ":", place.coordinator_port);
  if (config.cluster_size == 0) config.cluster_size = place.size;
  if (config.rank > 0) config.cluster_size = 0;  // It is the coordinator's.
  config.cluster_address = absl::StrCat(place.host, ":", place.port);
  return absl::OkStatus();
}

absl::Status LimitCpuFeatures(const Config& config, const Environment& environment) {
  const bool configured = !config.cpu_features.empty();
  const std::string& limit = configured ? config.cpu_features : environment.cpu_features;
  if (limit.empty()) return absl::OkStatus();
  const absl::Status status = engine::LimitCpuFeatures(limit);
  if (status.ok()) return status;
  return InvalidArgument("%s: %s.", configured ? "cpu_features" : "$HLOD_CPU_FEATURES",
                         FromAbsl(status.message()));
}

absl::StatusOr<grpc_server::ServerOptions> MakeServerOptions(const Config& config,
                                                             const Environment& environment,
                                                             std::string_view version) {
  grpc_server::ServerOptions options;
  options.version = std::string(version);
  options.inherited_connection = config.inherit_fd;
  options.greeting = absl::Microseconds(config.greeting_us);
  options.tcp_silence = absl::Microseconds(config.tcp_silence_us);
  options.group_return = absl::Microseconds(config.group_return_us);
  if (config.inherit_fd >= 0) RETURN_IF_ERROR(CheckConnected(config.inherit_fd));
  for (const std::string& address : config.listen) {
    ASSIGN_OR_RETURN(rpc::Endpoint endpoint, rpc::ParseEndpoint(address));
    if (endpoint.kind == rpc::Endpoint::Kind::kDescriptor)
      return InvalidArgument("listen: %s is nothing to listen on.", address);
    options.listen.push_back(std::move(endpoint));
  }
  const int sockets = sd_listen_fds(/*unset_environment=*/1);
  for (int i = 0; i < sockets; ++i) options.inherited_listeners.push_back(SD_LISTEN_FDS_START + i);
  if (options.listen.empty() && options.inherited_listeners.empty() && config.inherit_fd < 0) {
    rpc::Endpoint& endpoint = options.listen.emplace_back();
    endpoint.path = rpc::DefaultSocketPath(environment.xdg_runtime_dir);
    // systemd makes /run/hlod; without systemd, this process does. Any other folder must exist.
    const std::string& xdg = environment.xdg_runtime_dir;
    if (!xdg.empty() && access(xdg.c_str(), F_OK) != 0) {
      return FailedPrecondition("XDG_RUNTIME_DIR is %s: %s. Make that folder, unset it, or give --listen.",
                                xdg, std::strerror(errno));
    }
    if (xdg.empty()) mkdir(endpoint.path.substr(0, endpoint.path.rfind('/')).c_str(), 0755);
  }
  std::string address_to_tell;
  const bool reachable = std::ranges::any_of(
      options.listen, [](const rpc::Endpoint& e) { return e.kind == rpc::Endpoint::Kind::kTcp; });
  if (!config.cluster_address.empty() && !reachable) {
    ASSIGN_OR_RETURN(rpc::Endpoint endpoint, rpc::ParseEndpoint("tcp:" + config.cluster_address));
    // On its own machine a name may be an address of the loopback interface, or not exist yet.
    if (!endpoint.IsLoopback()) endpoint.host = "0.0.0.0";
    options.listen.push_back(std::move(endpoint));
    address_to_tell = config.cluster_address;
  }
  const std::string& ring = config.ring.empty() ? environment.ring : config.ring;
  absl::StatusOr<rpc::RingUse> use = rpc::ParseRingUse(ring);
  if (!use.ok()) return InvalidArgument("$HLOD_RING: %s.", FromAbsl(use.status().message()));
  options.ring = *use;
  RETURN_IF_ERROR(ReadCredentials(config, options));
  RETURN_IF_ERROR(ReadCluster(config, options));
  if (options.cluster.has_value()) options.cluster->address = address_to_tell;
  return options;
}

absl::StatusOr<std::shared_ptr<device::CompileCache>> OpenCompileCache(const Config& config,
                                                                       const Environment& environment,
                                                                       std::string_view version) {
  const bool named = !config.compile_cache.empty();
  const std::string folder = named ? config.compile_cache : environment.CompileCache();
  if (folder.empty() || folder == kNoCompileCache) return nullptr;
  const std::string build = LinkedBuildId();
  // One version may have many builds, which cannot be distinguished without the id.
  if (build.empty()) return nullptr;
  std::error_code ignored;
  std::filesystem::create_directories(std::filesystem::path(folder).parent_path(), ignored);
  absl::StatusOr<std::unique_ptr<device::CompileCache>> cache =
      device::CompileCache::Open({.directory = folder,
                                  .bytes_max = config.compile_cache_bytes,
                                  .build = absl::StrCat(ToAbsl(version), " build ", build)});
  if (cache.ok()) return *std::move(cache);
  if (named) return InvalidArgument("compile_cache: %s", FromAbsl(cache.status().message()));
  spdlog::warn("{} Give another one (compile_cache, $HLOD_COMPILE_CACHE), or \"none\".",
               std::string(cache.status().message()));
  return nullptr;
}

absl::StatusOr<std::shared_ptr<engine::Assembler>> MakeAssembler(const Config& config,
                                                                 const Environment& environment) {
  const bool configured = !config.assemble.empty();
  const std::string& text = configured ? config.assemble : environment.assemble;
  absl::StatusOr<engine::Assembling> when = engine::Assembling::kSecondRun;
  if (!text.empty()) when = engine::ParseAssembling(text);
  if (!when.ok()) {
    return InvalidArgument("%s: %s.", configured ? "assemble" : "$HLOD_ASSEMBLE",
                           FromAbsl(when.status().message()));
  }
  return engine::MakeAssembler(*when);
}

absl::StatusOr<std::shared_ptr<const engine::NativeKernels>> LoadKernels(const Config& config) {
  absl::StatusOr<std::shared_ptr<const engine::NativeKernels>> kernels =
      engine::NativeKernels::Load(config.kernel_libraries);
  if (!kernels.ok()) return InvalidArgument("kernel_library: %s.", FromAbsl(kernels.status().message()));
  for (const std::string& target : (*kernels)->targets()) spdlog::info("Native kernel \"{}\".", target);
  return kernels;
}

device::Devices::Options MakeDeviceOptions(const Config& config) {
  device::Devices::Options options;
  options.count = static_cast<uint32_t>(config.devices);
  options.device_bytes = config.device_memory;
  const int64_t machine_bytes = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  options.host_bytes = config.host_memory > 0 ? config.host_memory : machine_bytes / 4 * 3;
  options.side_bytes = config.side_memory > 0 ? config.side_memory : machine_bytes / 8;
  options.threads = static_cast<int>(config.threads);
  // A private daemon has one client, for which its programs compete with others of the machine as if the
  // client ran them. In a daemon for several clients, the small requests of one must not wait for the long
  // programs of another.
  constexpr int kNiceOfPrograms = 5;
  options.nice = config.inherit_fd >= 0 ? 0 : kNiceOfPrograms;
  options.limits = config.limits;
  return options;
}

PrivateClient PrivateClient::Of(int inherited) {
  PrivateClient client;
  if (inherited < 0) return client;
  client.connection = rpc::Descriptor(fcntl(inherited, F_DUPFD_CLOEXEC, 0));
  const absl::StatusOr<rpc::PeerCredentials> peer = rpc::ReadPeerCredentials(inherited);
  if (peer.ok() && peer->pid > 0) client.process = session::OpenPidFd(inherited, peer->pid);
  return client;
}

void WaitForEnd(int signals, const PrivateClient& client) {
  // poll() ignores negative descriptors.
  pollfd polled[3] = {
      {signals, POLLIN, 0}, {client.connection.get(), POLLRDHUP, 0}, {client.process.get(), POLLIN, 0}};
  for (;;) {
    if (poll(polled, 3, -1) < 0) continue;
    if (polled[0].revents != 0) {
      ConsumeSignal(signals);
      return;
    }
    if (polled[1].revents != 0 || polled[2].revents != 0) return;
  }
}

void NotifySystemd(const char* state) { sd_notify(0, state); }

}  // namespace hlod
