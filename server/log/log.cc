// Puts a sink in front of spdlog's own.
#include "server/log/log.h"

#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

#include <algorithm>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "common/base/text/printable.h"

namespace hlod {
namespace {

constexpr char kPattern[] = "%Y-%m-%dT%H:%M:%S.%f %^%l%$ %v";

class Sink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  Sink() : output_(std::make_shared<spdlog::sinks::stderr_color_sink_st>()) {
    output_->set_pattern(kPattern);
  }

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    std::string text = Printable(std::string_view(message.payload.data(), message.payload.size()));
    if (message.level >= spdlog::level::warn) {
      std::optional<std::string> passed = throttle_.Pass(text, message.time);
      if (!passed.has_value()) return;
      text = *std::move(passed);
    }
    spdlog::details::log_msg shown = message;
    shown.payload = spdlog::string_view_t(text.data(), text.size());
    output_->log(shown);
  }
  void flush_() override { output_->flush(); }
  void set_pattern_(const std::string& pattern) override { output_->set_pattern(pattern); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    output_->set_formatter(std::move(formatter));
  }

 private:
  const std::shared_ptr<spdlog::sinks::sink> output_;
  LogThrottle throttle_;
};

}  // namespace

std::optional<std::string> LogThrottle::Pass(std::string_view message, Time now) {
  std::string key(message.substr(0, kCompared));
  std::erase_if(key, [](char c) { return c >= '0' && c <= '9'; });
  if (kinds_.size() >= kKindsMax && !kinds_.contains(key)) {
    std::erase_if(kinds_, [now](const auto& entry) { return now - entry.second.begin >= kPeriod; });
    if (kinds_.size() >= kKindsMax) kinds_.clear();
  }
  Kind& kind = kinds_[key];
  std::string text(message);
  if (now - kind.begin >= kPeriod) {
    if (kind.left_out > 0) absl::StrAppend(&text, " (", kind.left_out, " messages like this were left out.)");
    kind = {.begin = now};
  }
  if (++kind.passed > kBurst) {
    ++kind.left_out;
    return std::nullopt;
  }
  if (kind.passed == kBurst)
    absl::StrAppend(&text, " (Further messages like this are left out for ", kPeriod.count(), " s.)");
  return text;
}

std::shared_ptr<spdlog::logger> MakeLogger() {
  return std::make_shared<spdlog::logger>("hlod", std::make_shared<Sink>());
}

}  // namespace hlod
