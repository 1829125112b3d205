// The table of keys, and the TOML file.
#include "server/config.h"

#include <toml++/toml.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "absl/strings/ascii.h"
#include "common/base/arithmetic.h"
#include "common/base/errors/status.h"
#include "common/base/system/cpu_limit.h"
#include "common/base/text/size.h"
#include "common/base/text/strings.h"
#include "common/base/text/toml_text.h"
#include "common/network/topology.h"
#include "common/rpc/endpoint.h"
#include "common/rpc/keepalive.h"
#include "common/rpc/ring_use.h"
#include "server/confinement/system_calls.h"
#include "server/engine/assemble/assembler.h"
#include "server/fabric/membership.h"
#include "server/metrics/endpoint.h"

namespace hlod {
namespace {

// The form in which a number is written and read: a size in bytes with a unit, or a plain number (a count, or
// microseconds).
enum class Unit { kBytes, kNone };

std::string Format(int64_t number, Unit unit) {
  return unit == Unit::kBytes ? FormatSize(number) : std::to_string(number);
}

Unit UnitOf(std::string_view limit) { return limit.find("bytes") != limit.npos ? Unit::kBytes : Unit::kNone; }

absl::Status SetNumber(int64_t& field, std::string_view value, int64_t least, int64_t most, Unit unit) {
  const absl::StatusOr<int64_t> number = ParseSize(value);
  if (!number.ok() && unit == Unit::kNone)
    return InvalidArgument("\"%s\" is not a whole number within %d and %d", value, least, most);
  if (!number.ok()) {
    return InvalidArgument("%s; it must be within %s and %s", FromAbsl(number.status().message()),
                           Format(least, unit), Format(most, unit));
  }
  if (*number < least || *number > most)
    return InvalidArgument("%s is not within %s and %s", value, Format(least, unit), Format(most, unit));
  field = *number;
  return absl::OkStatus();
}

ConfigKey Text(std::string name, std::string Config::* field, std::string text) {
  const std::string standard = Config{}.*field;
  return {std::move(name), std::move(text), standard, false, [field](Config& config, std::string_view value) {
            // An operator who writes `--token-file "$FILE"` with FILE unset wants a token, so this is an
            // error.
            if (value.empty()) return InvalidArgument("the value is empty");
            config.*field = std::string(value);
            return absl::OkStatus();
          }};
}

ConfigKey Number(std::string name, int64_t Config::* field, int64_t least, int64_t most, Unit unit,
                 std::string text, std::string standard = "") {
  if (standard.empty()) standard = Format(Config{}.*field, unit);
  return {std::move(name), std::move(text), std::move(standard), false,
          [field, least, most, unit](Config& config, std::string_view value) {
            return SetNumber(config.*field, value, least, most, unit);
          }};
}

constexpr int64_t kPetabyte = int64_t{1} << 50;

// The range of a limit: outside of it no client could work, or the wire could not carry a message. A message
// has at most 64 MiB, including a command's other fields besides its payload. Limits that are not listed here
// must be at least 1.
struct Range {
  int64_t Limits::* limit;
  int64_t least, most;
};
constexpr Range kRanges[] = {
    {&Limits::sessions_max, 1, 1 << 20},
    {&Limits::sessions_per_user_max, 1, 1 << 20},
    {&Limits::connections_per_user_max, 4, 1 << 20},
    {&Limits::handles_per_session_max, 1, int64_t{1} << 32},
    {&Limits::commands_in_flight_max, 64, 1 << 24},  // A client uses less than half of it.
    {&Limits::commands_per_message_max, 1, 1 << 16},
    {&Limits::unacknowledged_bytes_max, 1 << 20, kPetabyte},
    {&Limits::inline_bytes_max, 0, 48 << 20},
    {&Limits::prefetch_bytes_max, 0, 48 << 20},
    {&Limits::chunk_bytes_max, 4 << 10, 48 << 20},
    {&Limits::executables_per_session_max, 1, int64_t{1} << 32},
    {&Limits::origins_per_session_max, 0, int64_t{1} << 31},
    {&Limits::session_bytes_max, 1 << 20, kPetabyte},
    {&Limits::reasons_kept, 0, int64_t{1} << 32},
    {&Limits::upload_wait_us, 0, int64_t{1} << 50},
    {&Limits::channel_wait_us, 0, int64_t{1} << 50},
    {&Limits::channel_values_max, 1, 1 << 20},
    {&Limits::grace_us, 0, int64_t{1} << 50},
};

// The required relation between two limits that are each within their range. Without it, clients that respect
// each limit could not do what both allow.
struct Relation {
  int64_t Limits::* large;
  int64_t times;
  int64_t Limits::* small;
  std::string_view why;
};
constexpr Relation kRelations[] = {
    {&Limits::unacknowledged_bytes_max, 4, &Limits::inline_bytes_max,
     "replies with payloads inside are kept until the client acknowledges them"},
};
constexpr int64_t kArenaLeast = 8 << 20;  // Enough for several pieces of 1 MiB at once.

Range RangeOf(int64_t Limits::* limit) {
  for (const Range& row : kRanges) {
    if (row.limit == limit) return row;
  }
  return {limit, 1, kPetabyte};
}

std::string_view NameOf(int64_t Limits::* limit) {
  std::string_view found;
  ForEachLimit([&](std::string_view name, int64_t Limits::* field, std::string_view) {
    if (field == limit) found = name;
  });
  return found;
}

using Keys = std::vector<ConfigKey>;

void AddListening(Keys& keys) {
  keys.push_back({"listen",
                  "Address to listen on: unix:PATH, unix:@NAME (abstract, for this user alone) or "
                  "tcp:HOST:PORT; may be repeated; TCP without token_file is open to every user of "
                  "this machine",
                  "$XDG_RUNTIME_DIR/hlod.sock, else /run/hlod/hlod.sock", true,
                  [](Config& config, std::string_view value) {
                    config.listen.emplace_back(value);
                    return absl::OkStatus();
                  }});
  keys.push_back(
      {"inherit_fd",
       "Serve the connected socket of this inherited file descriptor and end with it, as a client's private "
       "daemon does",
       "", false, [](Config& config, std::string_view value) {
         int64_t fd = 0;
         RETURN_IF_ERROR(SetNumber(fd, value, 0, 1 << 20, Unit::kNone));
         config.inherit_fd = static_cast<int>(fd);
         return absl::OkStatus();
       }});
  keys.push_back(
      {"system_calls",
       "System calls of this process: restricted (none that start programs, look into other processes, "
       "change the machine or the user, or that a daemon never needs), all (for native kernels that "
       "need them)",
       "restricted, if the kernel has filters", false, [](Config& config, std::string_view value) {
         RETURN_IF_ERROR(ParseSystemCalls(value).status());
         config.system_calls = std::string(value);
         return absl::OkStatus();
       }});
  keys.push_back(
      {"ring",
       "Messages of clients on this host through shared memory: on (for clients of this daemon's user), all "
       "(of every user), off; first, which is for clients, means on",
       "$HLOD_RING, else on", false, [](Config& config, std::string_view value) {
         if (value.empty()) return InvalidArgument("the value is empty");
         RETURN_IF_ERROR(rpc::ParseRingUse(value).status());
         config.ring = std::string(value);
         return absl::OkStatus();
       }});
}

// Devices, what they compute with, and the programs that they run.
void AddDevices(Keys& keys) {
  keys.push_back(Number("devices", &Config::devices, 1, 1024, Unit::kNone, "Number of devices"));
  keys.push_back(
      {"network",
       "Network of chips whose times for collectives are modelled and counted beside measured times "
       "(network_us), as v5p:4x4x4 or v5e:16; devices are its chips in row-major order",
       "none", false, [](Config& config, std::string_view value) {
         RETURN_IF_ERROR(network::ParseNetwork(value).status());
         config.network = std::string(value);
         return absl::OkStatus();
       }});
  keys.push_back(Number("device_memory", &Config::device_memory, 1, kPetabyte, Unit::kBytes,
                        "Stated memory of each device; may exceed this machine's"));
  keys.push_back(Number("host_memory", &Config::host_memory, 0, kPetabyte, Unit::kBytes,
                        "Real memory behind all devices together; 0: the default",
                        "three quarters of this machine's memory"));
  keys.push_back(
      Number("side_memory", &Config::side_memory, 0, kPetabyte, Unit::kBytes,
             "Memory besides host_memory that all sessions together may use for programs, replies, "
             "source lines, handles and waiting work; one user's sessions may use at most three times the "
             "memory that is left free; 0: the default",
             "an eighth of this machine's memory"));
  keys.push_back(Number("threads", &Config::threads, 0, 4096, Unit::kNone,
                        "Number of threads per execute; 0: $OMP_NUM_THREADS, else the number of cores"));
  keys.push_back(
      {"cpu_features",
       "Most recent instruction set that programs may compute with: baseline, avx2, avx512 (without later "
       "extensions: VNNI, BF16, AMX), all",
       "$HLOD_CPU_FEATURES, else all", false, [](Config& config, std::string_view value) {
         RETURN_IF_ERROR(ParseCpuLimit(value, ProcessorCpuLevel()).status());
         config.cpu_features = std::string(value);
         return absl::OkStatus();
       }});
  keys.push_back(
      {"assemble",
       "Machine code for loops over elements: off (they are interpreted), on (from a program's second "
       "run on), first (before its first run)",
       "$HLOD_ASSEMBLE, else on", false, [](Config& config, std::string_view value) {
         RETURN_IF_ERROR(engine::ParseAssembling(value).status());
         config.assemble = std::string(value);
         return absl::OkStatus();
       }});
  keys.push_back(
      Text("compile_cache", &Config::compile_cache,
           "Folder of compiled programs for later daemons; belongs to this user alone (mode 0700); "
           "none: off"));
  keys.back().standard =
      "$HLOD_COMPILE_CACHE, else $CACHE_DIRECTORY/compiled, $XDG_CACHE_HOME/hlod, ~/.cache/hlod";
  keys.push_back(Number(
      "compile_cache_bytes", &Config::compile_cache_bytes, 1 << 20, kPetabyte, Unit::kBytes,
      "Maximum bytes of compiled programs in compile_cache; the least recently used are removed first"));
  keys.push_back({"kernel_library",
                  "Shared object with native kernels, which custom-calls name by target; it runs in this "
                  "process and is trusted as the daemon itself; may be repeated",
                  "", true, [](Config& config, std::string_view value) {
                    if (value.empty()) return InvalidArgument("the value is empty");
                    config.kernel_libraries.emplace_back(value);
                    return absl::OkStatus();
                  }});
}

// Other daemons.
void AddCluster(Keys& keys) {
  keys.push_back(
      {"cluster",
       "Name of the cluster of daemons that this one coordinates, or, with join, is a member of: letters, "
       "digits, '.', '_' and '-'; needs an address tcp:HOST:PORT or unix:@NAME in listen; auto: name, rank, "
       "addresses and size are those of the launcher (Slurm, mpirun, torchrun, Kubernetes)",
       "none", false, [](Config& config, std::string_view value) {
         constexpr size_t kLongest = 64;
         const bool plain = std::all_of(value.begin(), value.end(), [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '-';
         });
         if (value.empty() || value.size() > kLongest || !plain) {
           return InvalidArgument("\"%s\" is not a name of 1 to %d letters, digits, '.', '_' and '-'", value,
                                  kLongest);
         }
         config.cluster = std::string(value);
         return absl::OkStatus();
       }});
  keys.push_back(
      {"join",
       "HOST:PORT or unix:@NAME of the cluster's coordinator, which this daemon calls until it answers",
       "none: this daemon is the coordinator", false, [](Config& config, std::string_view value) {
         ASSIGN_OR_RETURN(const rpc::Endpoint endpoint, rpc::ParseEndpoint(value));
         if (endpoint.kind != rpc::Endpoint::Kind::kTcp && !endpoint.IsAbstract())
           return InvalidArgument("%s is neither HOST:PORT nor unix:@NAME", value);
         config.join = rpc::ToString(endpoint);
         return absl::OkStatus();
       }});
  keys.push_back(Number("rank", &Config::rank, 0, fabric::kMembersMax - 1, Unit::kNone,
                        "Rank of this daemon in its cluster, which no other may have; the coordinator has 0",
                        "the coordinator chooses"));
  keys.push_back(Number("cluster_size", &Config::cluster_size, 0, fabric::kMembersMax, Unit::kNone,
                        "Number of members that complete the cluster, for its coordinator; 0: any number"));
  keys.push_back(
      Number("peer_silence_us", &Config::peer_silence_us, 100'000, int64_t{1} << 34, Unit::kNone,
             "Microseconds after which a member that is silent is gone; the coordinator's applies"));
}

void AddObserving(Keys& keys) {
  keys.push_back({"metrics_listen",
                  "HOST:PORT on the loopback interface that serves metrics to Prometheus: "
                  "http://HOST:PORT/metrics",
                  "none", false, [](Config& config, std::string_view value) {
                    RETURN_IF_ERROR(metrics::ParseAddress(std::string(value)).status());
                    config.metrics_listen = std::string(value);
                    return absl::OkStatus();
                  }});
  keys.push_back(Text("log_level", &Config::log_level,
                      "Lowest severity of messages logged: trace, debug, info, warn, error, off"));
}

// Certificates and tokens.
void AddTrust(Keys& keys) {
  keys.push_back(Text("tls_cert", &Config::tls_cert,
                      "PEM file of the certificate for TCP outside the loopback interface"));
  keys.push_back(
      Text("tls_key", &Config::tls_key, "PEM file of the private key of tls_cert; mode 0600 or 0640"));
  keys.push_back(Text("tls_client_ca", &Config::tls_client_ca,
                      "PEM file of the authority that must have signed the clients' certificates"));
  keys.push_back(Text("token_file", &Config::token_file,
                      "File with the token that calls over TCP must carry; mode 0600 or 0640"));
}

void AddTimes(Keys& keys) {
  keys.push_back(
      Number("drain_us", &Config::drain_us, 0, int64_t{1} << 40, Unit::kNone,
             "Microseconds after SIGTERM in which running work may finish; work that is unfinished then is "
             "stopped or abandoned, and named in the log"));
  keys.push_back(Number(
      "group_return_us", &Config::group_return_us, 0, int64_t{1} << 40, Unit::kNone,
      "Microseconds for which a session that launches programs with other processes (jax.distributed) is kept "
      "after its connection ended, instead of grace_us: then what waits for it fails in the others"));
  keys.push_back(
      Number("greeting_us", &Config::greeting_us, 100'000, int64_t{1} << 40, Unit::kNone,
             "Microseconds that a connection may stay without a call, and a call without a message"));
  keys.push_back(
      Number("tcp_silence_us", &Config::tcp_silence_us, absl::ToInt64Microseconds(rpc::kSilenceMin),
             int64_t{1} << 34, Unit::kNone,
             "Microseconds after which a TCP connection is closed when the peer's kernel does not answer"));
}

void AddLimit(Keys& keys, std::string_view name, int64_t Limits::* field, std::string_view text) {
  const Unit unit = UnitOf(name);
  keys.push_back({std::string(name), "Limit: " + std::string(text), Format(Limits{}.*field, unit), false,
                  [field, unit, range = RangeOf(field)](Config& config, std::string_view value) {
                    return SetNumber(config.limits.*field, value, range.least, range.most, unit);
                  }});
  if (field != &Limits::arena_bytes) return;
  // 0 disables it; other small values would be useless.
  keys.back().set = [field](Config& config, std::string_view value) -> absl::Status {
    ASSIGN_OR_RETURN(const int64_t bytes, ParseSize(value));
    if (bytes != 0)
      return SetNumber(config.limits.*field, value, kArenaLeast, int64_t{1} << 40, Unit::kBytes);
    config.limits.*field = 0;
    return absl::OkStatus();
  };
}

// In the order of --help.
Keys MakeKeys() {
  Keys keys;
  AddListening(keys);
  AddDevices(keys);
  AddCluster(keys);
  AddObserving(keys);
  AddTrust(keys);
  AddTimes(keys);
  ForEachLimit([&keys](std::string_view name, int64_t Limits::* field, std::string_view text) {
    AddLimit(keys, name, field, text);
  });
  return keys;
}

absl::Status SetFromNode(const ConfigKey& key, const toml::node& node, Config& config) {
  if (const auto text = node.value_exact<std::string>()) return key.set(config, *text);
  if (const auto number = node.value_exact<int64_t>()) return key.set(config, std::to_string(*number));
  if (const toml::array* array = node.as_array(); array != nullptr && key.list) {
    for (const toml::node& element : *array) RETURN_IF_ERROR(SetFromNode(key, element, config));
    return absl::OkStatus();
  }
  return InvalidArgument("a %s is expected",
                         key.list ? "string or an array of strings" : "string or a whole number");
}

}  // namespace

Environment Environment::Read() {
  const auto text = [](const char* name) -> std::string {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
  };
  return {
      .xdg_runtime_dir = text("XDG_RUNTIME_DIR"),
      .team_policy = std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr,
      .compile_cache = text("HLOD_COMPILE_CACHE"),
      .cpu_features = text("HLOD_CPU_FEATURES"),
      .assemble = text("HLOD_ASSEMBLE"),
      .ring = text("HLOD_RING"),
      .cache_directory = text("CACHE_DIRECTORY"),
      .xdg_cache_home = text("XDG_CACHE_HOME"),
      .home = text("HOME"),
      .variables = [text](const std::string& name) { return text(name.c_str()); }};
}

std::string Environment::CompileCache() const {
  if (!compile_cache.empty()) return compile_cache;
  if (!cache_directory.empty()) return cache_directory.substr(0, cache_directory.find(':')) + "/compiled";
  if (!xdg_cache_home.empty()) return xdg_cache_home + "/hlod";
  return home.empty() ? "" : home + "/.cache/hlod";
}

const std::vector<ConfigKey>& ConfigKeys() {
  static const std::vector<ConfigKey> keys = MakeKeys();
  return keys;
}

std::string FlagOf(std::string_view key) {
  std::string flag = "--" + std::string(key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

absl::Status CheckLimits(const Limits& limits) {
  for (const Relation& row : kRelations) {
    const std::optional<int64_t> least = CheckedMultiply(limits.*row.small, row.times);
    if (least.has_value() && limits.*row.large >= *least) continue;
    return InvalidArgument("%s is %s, less than %d times %s, which is %s: %s.", NameOf(row.large),
                           FormatSize(limits.*row.large), row.times, NameOf(row.small),
                           FormatSize(limits.*row.small), row.why);
  }
  return absl::OkStatus();
}

absl::Status ReadConfigFile(const std::string& path, Config& config) {
  ASSIGN_OR_RETURN(const std::string text, ReadTomlText(path));
  try {
    const toml::table table = toml::parse(text, path);
    for (const auto& [name, node] : table) {
      const auto key = std::find_if(ConfigKeys().begin(), ConfigKeys().end(),
                                    [&](const ConfigKey& k) { return k.name == name.str(); });
      if (key == ConfigKeys().end()) {
        std::string with_underscores(name.str());
        std::replace(with_underscores.begin(), with_underscores.end(), '-', '_');
        const bool known = std::any_of(ConfigKeys().begin(), ConfigKeys().end(),
                                       [&](const ConfigKey& k) { return k.name == with_underscores; });
        if (known) {
          return InvalidArgument("%s:%d: key \"%s\" is unknown; keys are written with underscores: \"%s\".",
                                 path, name.source().begin.line, std::string(name.str()), with_underscores);
        }
        return InvalidArgument("%s:%d: key \"%s\" is unknown; `hlod --help` lists the keys.", path,
                               name.source().begin.line, std::string(name.str()));
      }
      if (const absl::Status set = SetFromNode(*key, node, config); !set.ok()) {
        return InvalidArgument("%s:%d: %s: %s.", path, node.source().begin.line, key->name,
                               std::string(set.message()));
      }
    }
  } catch (const toml::parse_error& e) {
    return InvalidArgument("%s:%d: %s.", path, e.source().begin.line, std::string(e.description()));
  }
  return absl::OkStatus();
}

}  // namespace hlod
