// The environment: settings by origin, the default connection, scopes.
#include "hlod/tensor/environment.h"

#include <cctype>
#include <cstdlib>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "client/runtime/session/state.h"
#include "client/tensor/dispatch/generator.h"
#include "client/tensor/dispatch/settings.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/trace/placeholder.h"
#include "client/tensor/trace/runtime.h"
#include "client/tensor/value/throw.h"
#include "client/tensor/value/value.h"
#include "common/base/text/strings.h"

namespace hlod {
namespace {

constexpr const char* kMixedNames[] = {"error", "warn", "implicit"};

std::string Text(bool value) { return value ? "true" : "false"; }
std::string Text(int64_t value) { return absl::StrCat(value); }
std::string Text(const std::string& value) { return value.empty() ? "nothing" : value; }
std::string Text(MixedDevices value) { return kMixedNames[static_cast<int>(value)]; }

bool Parse(std::string_view text, bool& value) { return absl::SimpleAtob(ToAbsl(text), &value); }
bool Parse(std::string_view text, int64_t& value) {
  return absl::SimpleAtoi(ToAbsl(text), &value) && value > 0;
}
bool Parse(std::string_view text, std::string& value) {
  value = std::string(text);
  return true;
}
bool Parse(std::string_view text, MixedDevices& value) {
  for (int i = 0; i < 3; ++i) {
    if (text != kMixedNames[i]) continue;
    value = static_cast<MixedDevices>(i);
    return true;
  }
  return false;
}

bool Valid(bool) { return true; }
bool Valid(const std::string&) { return true; }
bool Valid(int64_t value) { return value > 0; }
bool Valid(MixedDevices) { return true; }

// The values of settings, with the source of each.
struct Layer {
  CurrentSettings values;
#define HLOD_SETTING(type, name, value, meaning) std::string name##_origin = "default";
#include "hlod/tensor/settings.inc"
#undef HLOD_SETTING
};

std::string VariableName(std::string_view setting) {
  std::string name = "HLOD_";
  for (const char c : setting) name += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

template <typename T>
void FromVariable(const char* name, T& value, std::string& origin) {
  const std::string variable = VariableName(name);
  const char* const text = std::getenv(variable.c_str());
  if (text == nullptr) return;
  if (!Parse(text, value)) {
    // Read when settings are first asked for: the line is that of the call that asks.
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("the value (", text, ") of the environment variable ", variable,
                             " is not one that the setting takes"),
                "settings", Caller{});
  }
  origin = absl::StrCat("environment variable ", variable);
}

Layer FromEnvironmentVariables() {
  Layer layer;
#define HLOD_SETTING(type, name, value, meaning) FromVariable(#name, layer.values.name, layer.name##_origin);
#include "hlod/tensor/settings.inc"
#undef HLOD_SETTING
  return layer;
}

template <typename T>
void Override(const std::optional<T>& from, const char* name, T& value, std::string& origin,
              const Caller& caller) {
  if (!from.has_value()) return;
  if (!Valid(*from)) {
    throw Error(MakeError(ErrorKind::kArgument,
                          absl::StrCat("the setting ", name, " (", Text(*from), ") must be positive")),
                "settings", caller);
  }
  value = *from;
  origin = lazy::LineText(caller);
}

void Override(const Settings& settings, const Caller& caller, Layer& layer) {
  Layer changed = layer;  // Changes all settings or none.
#define HLOD_SETTING(type, name, value, meaning) \
  Override(settings.name, #name, changed.values.name, changed.name##_origin, caller);
#include "hlod/tensor/settings.inc"
#undef HLOD_SETTING
  layer = std::move(changed);
}

// The process's settings; each thread has a copy of them with the changes of its scopes.
struct Base {
  Layer layer = FromEnvironmentVariables();
  uint64_t version = 1;
};
Base& TheBase() {
  static auto* const base = new Base;
  return *base;
}

struct ThreadSettings {
  uint64_t version = 0;  // The version of the process's settings that was copied.
  Layer layer;
  std::vector<std::pair<Settings, Caller>> scopes;

  void Renew() {
    const lazy::TraceLock lock;
    layer = TheBase().layer;
    version = TheBase().version;
    for (const auto& [settings, caller] : scopes) Override(settings, caller, layer);
  }
};
ThreadSettings& OfThread() {
  thread_local ThreadSettings settings;
  return settings;
}

}  // namespace

namespace lazy {

const CurrentSettings& Current() {
  const TraceLock lock;
  ThreadSettings& mine = OfThread();
  if (mine.version != TheBase().version) mine.Renew();
  return mine.layer.values;
}

}  // namespace lazy

CurrentSettings GetSettings(Caller caller) {
  const CallerScope scope(caller);
  return lazy::Current();
}

SettingsScope::SettingsScope(const Settings& settings, Caller caller) {
  const CallerScope scope(caller);
  ThreadSettings& mine = OfThread();
  Layer probe = mine.layer;
  Override(settings, caller, probe);  // Throws before anything is changed.
  mine.scopes.emplace_back(settings, caller);
  mine.Renew();
}

SettingsScope::~SettingsScope() {
  OfThread().scopes.pop_back();
  OfThread().Renew();
}

struct Environment::State {
  absl::Mutex mu;  // Held while connecting, which may start a daemon.
  std::optional<Client> client ABSL_GUARDED_BY(mu);
  bool ended ABSL_GUARDED_BY(mu) = false;
};

Environment::Environment(Client client) : state_(std::make_shared<State>()) {
  const absl::MutexLock lock(&state_->mu);
  state_->client = std::move(client);
}

Environment& DefaultEnvironment() {
  static auto* const environment = new Environment(std::make_shared<Environment::State>());
  return *environment;
}

Client Environment::client(Caller caller) const {
  const CallerScope scope(caller);
  const absl::MutexLock lock(&state_->mu);
  if (state_->ended) lazy::Throw(lazy::EndedError(), "environment", caller);
  if (!state_->client.has_value()) {
    state_->client = lazy::ValueOrThrow(Client::Connect(lazy::Current().address), "connect", caller);
  }
  return *state_->client;
}

Device Environment::device(int ordinal, Caller caller) const {
  const int count = client(caller).device_count();
  if (ordinal < 0 || ordinal >= count) {
    lazy::Throw(ErrorKind::kArgument,
                absl::StrCat("device (", ordinal, ") does not exist: the daemon has ", count), "device",
                caller);
  }
  return client(caller).device(ordinal);
}

void Environment::Set(const Settings& settings, Caller caller) {
  const CallerScope scope(caller);
  const lazy::TraceLock lock;
  Override(settings, caller, TheBase().layer);
  ++TheBase().version;
}

std::string Environment::Describe(Caller caller) const {
  const CallerScope scope(caller);
  lazy::Current();
  const Layer& layer = OfThread().layer;
  std::string text;
#define HLOD_SETTING(type, name, value, meaning)                                                           \
  absl::StrAppend(&text, #name, " = ", Text(layer.values.name), " (", layer.name##_origin, "): ", meaning, \
                  "\n");
#include "hlod/tensor/settings.inc"
#undef HLOD_SETTING
  return text;
}

void Environment::ManualSeed(uint64_t seed, Caller caller) {
  const Client connected = client(caller);
  for (int i = 0; i < connected.device_count(); ++i) lazy::Seed(lazy::PlaceOf(connected.device(i)), seed);
}

void Environment::End() {
  std::optional<Client> client;
  {
    const absl::MutexLock lock(&state_->mu);
    client.swap(state_->client);
    state_->ended = true;
  }
  if (!client.has_value()) return;
  const runtime::DeliverEventsAtExit events;
  lazy::Runtime::Of(client->device(0))->End();
  const runtime::Stopwatch watch;
  static_cast<void>(client->Close());
  runtime::EmitWait(*client->internal_session(), WaitCause::kTeardown, Caller{}, watch.us());
}

Device DefaultDevice(Caller caller) { return DefaultEnvironment().device(0, caller); }
void ManualSeed(uint64_t seed) { lazy::SeedAll(seed); }

}  // namespace hlod
