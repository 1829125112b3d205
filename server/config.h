// The settings that can be made in a TOML file and by flags of the same names. One table of keys defines
// both, and the help.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "common/base/limits.h"

namespace hlod {

struct Config {
  std::vector<std::string> listen;  // Empty: the default socket.
  int inherit_fd = -1;
  int64_t devices = 1;
  int64_t device_memory = int64_t{16} << 30;
  int64_t host_memory = 0;  // 0: three quarters of this machine's memory.
  int64_t side_memory = 0;  // 0: an eighth of this machine's memory.
  int64_t threads = 0;
  std::string cpu_features;   // Empty: $HLOD_CPU_FEATURES, or without it all features of the processor.
  std::string assemble;       // "off", "on" or "first". Empty: $HLOD_ASSEMBLE, or without it "on".
  std::string ring;           // "off" or "on". Empty: $HLOD_RING, or without it "off".
  std::string system_calls;   // "all" or "restricted". Empty: restricted if the kernel has filters.
  std::string compile_cache;  // Empty: Environment::CompileCache(); "none": no cache.
  int64_t compile_cache_bytes = int64_t{1} << 30;
  std::vector<std::string> kernel_libraries;  // The paths of shared objects with native kernels.
  std::string metrics_listen;                 // Empty: no metrics.
  std::string network;                        // "v5p:4x4x4"; empty: no network is modelled.
  // The cluster's name, and its coordinator's address; empty: none. ApplyLauncher replaces "auto".
  std::string cluster, join;
  std::string cluster_address;  // "n3:9517", where others reach this daemon; empty: as `listen` says.
  int64_t rank = -1;            // -1: the coordinator chooses.
  int64_t cluster_size = 0;     // 0: not stated.
  int64_t peer_silence_us = 10'000'000;
  std::string log_level = "info";
  std::string tls_cert, tls_key, tls_client_ca, token_file;
  int64_t drain_us = 30'000'000;
  int64_t greeting_us = 10'000'000;
  int64_t group_return_us = 800'000;
  int64_t tcp_silence_us = 60'000'000;
  Limits limits;
};

// The environment variables that a daemon reads. libsystemd reads systemd's own (LISTEN_FDS, NOTIFY_SOCKET).
struct Environment {
  std::string xdg_runtime_dir;
  bool team_policy = false;   // True when OMP_WAIT_POLICY or GOMP_SPINCOUNT is set.
  std::string compile_cache;  // $HLOD_COMPILE_CACHE
  std::string cpu_features;   // $HLOD_CPU_FEATURES
  std::string assemble;       // $HLOD_ASSEMBLE
  std::string ring;           // $HLOD_RING
  // Folders set by systemd, by the desktop, and by the user.
  std::string cache_directory, xdg_cache_home, home;
  // Returns any variable; empty if it is not set. For those of launchers (server/launcher/place.h).
  std::function<std::string(const std::string& name)> variables;
  static Environment Read();
  // Returns the folder for compiled programs when the configuration does not name one. "none" or empty means
  // that they are not stored.
  std::string CompileCache() const;
};
inline constexpr std::string_view kNoCompileCache = "none";

// One key: "device_memory" in the file, --device-memory as a flag.
struct ConfigKey {
  std::string name;
  std::string text;      // The meaning, for the help.
  std::string standard;  // The default value, in the form in which it would be written.
  bool list = false;     // True when the key may occur several times.
  // Sets the value. Returns INVALID_ARGUMENT that says what is wrong with it.
  std::function<absl::Status(Config&, std::string_view value)> set;
};
// Returns all keys, including the limits.
const std::vector<ConfigKey>& ConfigKeys();
// Returns the flag of a key's name: "device_memory" -> "--device-memory".
std::string FlagOf(std::string_view key);

// Reads a TOML file into `config`. Returns INVALID_ARGUMENT naming the file, the line and the unknown or
// wrong key.
absl::Status ReadConfigFile(const std::string& path, Config& config);

// Returns INVALID_ARGUMENT naming two limits that are each within their range, but not compatible with each
// other.
absl::Status CheckLimits(const Limits& limits);

// The parsed command line.
struct CommandLine {
  Config config;
  bool measure_products = false;  // The process is to print the speeds of matrix products, and to end.
  // True when --help or --version was answered, or the flags were wrong (printed to stderr): the process is
  // to end with exit_code.
  bool finished = false;
  int exit_code = 0;
};
// Defined in flags.cc.
CommandLine ParseCommandLine(int argc, char** argv, std::string_view version);

}  // namespace hlod
