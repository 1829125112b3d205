// The daemon's log: to stderr, as text without control characters, and limited in amount.
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hlod {

// Limits how many similar messages are logged: kBurst in each kPeriod. The first one of a later period says
// how many were left out. Messages are similar if they differ only in digits within their first kCompared
// bytes, like failed handshakes of many ports. Not thread-safe.
class LogThrottle {
 public:
  using Time = std::chrono::system_clock::time_point;
  static constexpr int kBurst = 5;
  static constexpr std::chrono::seconds kPeriod{60};
  static constexpr size_t kCompared = 64;
  static constexpr size_t kKindsMax = 256;

  // Returns the text to log for a message; nullopt if it is left out.
  std::optional<std::string> Pass(std::string_view message, Time now);

 private:
  struct Kind {
    Time begin;
    int64_t passed = 0, left_out = 0;
  };
  std::map<std::string, Kind> kinds_;
};

// Returns a logger to stderr. Every message is made Printable; warnings and errors are throttled.
std::shared_ptr<spdlog::logger> MakeLogger();

}  // namespace hlod
