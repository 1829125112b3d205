// Run files: converts fields to JSON and back.
#include "client/runtime/observe/profile_json.h"

#include <algorithm>
#include <cerrno>
#include <concepts>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/runtime/observe/profile_fields.h"
#include "common/base/errors/status.h"
#include "common/base/text/strings.h"
#include "common/hlo/text/text.h"

namespace hlod {
namespace runtime {
namespace {

using Json = nlohmann::ordered_json;

// The names of the kinds of events, in the order of Event::what.
constexpr const char* kEvents[] = {"close",         "compile", "force", "transfer", "wait",
                                   "host_function", "death",   "step",  "slow"};

// ---------------------------------------------------------------------------------------------- writing

class FieldWriter {
 public:
  explicit FieldWriter(Json& to) : to_(to) {}

  template <typename T>
  void operator()(const char* name, const T& field) {
    if (std::optional<Json> json = ToJson(field)) to_[name] = *std::move(json);
  }

  // Writes no field for a value that is 0, false or empty.
  template <typename T>
  requires std::is_arithmetic_v<T>
  static std::optional<Json> ToJson(T number) {
    return number == T() ? std::nullopt : std::optional<Json>(number);
  }
  template <typename T>
  requires std::is_enum_v<T>
  static std::optional<Json> ToJson(T enumerator) { return Json(std::string(Name(enumerator))); }
  static std::optional<Json> ToJson(const std::string& text) {
    return text.empty() ? std::nullopt : std::optional<Json>(text);
  }
  static std::optional<Json> ToJson(const Shape& shape) {
    return shape == Shape() ? std::nullopt : std::optional<Json>(hlo::ToStringNoLayout(shape));
  }
  static std::optional<Json> ToJson(const absl::Status& status) {
    if (status.ok()) return std::nullopt;
    Json json = {{"code", static_cast<int>(status.code())}};
    if (const ErrorKind kind = KindOf(status); kind != ErrorKind::kNone)
      json["kind"] = std::string(Name(kind));
    json["message"] = std::string(FromAbsl(status.message()));
    return json;
  }
  template <typename T>
  static std::optional<Json> ToJson(const std::vector<T>& list) {
    if (list.empty()) return std::nullopt;
    Json json = Json::array();
    for (const T& element : list) json.push_back(ToJson(element).value_or(Json::object()));
    return json;
  }
  template <typename T>
  requires std::is_class_v<T> &&
      (!std::convertible_to<T, std::string>)static std::optional<Json> ToJson(const T& structure) {
    Json json = Json::object();
    FieldWriter writer(json);
    Fields(writer, structure);
    return json.empty() ? std::nullopt : std::optional<Json>(std::move(json));
  }

 private:
  Json& to_;
};

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// ---------------------------------------------------------------------------------------------- reading

// Returns a short form for errors: nested values may be deep and long.
std::string Shown(const Json& json) {
  constexpr size_t kLengthMax = 60;
  if (json.is_structured()) return json.type_name();
  const std::string text = json.dump();
  return text.size() <= kLengthMax ? text : absl::StrCat(text.substr(0, kLengthMax), "...");
}

// Returns the enumerator with that name, among those with numbers below 64.
template <typename E>
std::optional<E> EnumeratorNamed(const std::string& name) {
  constexpr int kNumbers = 64;
  for (int i = 0; i < kNumbers; ++i) {
    const E e = static_cast<E>(i);
    if (Name(e) == name && name != "invalid" && name != "unknown") return e;
  }
  return std::nullopt;
}

class FieldReader {
 public:
  explicit FieldReader(const Json& from) : from_(from) {}

  template <typename T>
  void operator()(const char* name, T& field) {
    const auto found = from_.find(name);
    if (found == from_.end()) return;
    ++read_;
    names_.push_back(name);
    if (!status_.ok()) return;
    status_ = Read(*found, field);
    if (!status_.ok()) status_ = InvalidArgument("%s: %s", name, status_.message());
  }
  // Returns the first error; a name that is not a field's is an error.
  absl::Status Finish() {
    RETURN_IF_ERROR(status_);
    if (read_ == from_.size()) return status_;
    for (const auto& [name, value] : from_.items()) {
      if (std::find(names_.begin(), names_.end(), name) == names_.end())
        return InvalidArgument("there is not a field %s", name);
    }
    return status_;
  }

  template <typename T>
  static absl::Status ReadStructure(const Json& json, T& structure) {
    if (!json.is_object()) return InvalidArgument("%s is not an object", Shown(json));
    FieldReader reader(json);
    Fields(reader, structure);
    return reader.Finish();
  }

 private:
  static absl::Status Read(const Json& json, bool& field) {
    if (!json.is_boolean()) return InvalidArgument("%s is not true or false", Shown(json));
    field = json.get<bool>();
    return absl::OkStatus();
  }
  static absl::Status Read(const Json& json, double& field) {
    if (!json.is_number()) return InvalidArgument("%s is not a number", Shown(json));
    field = json.get<double>();
    return absl::OkStatus();
  }
  template <std::integral T>
  static absl::Status Read(const Json& json, T& field) {
    if (!json.is_number_integer()) return InvalidArgument("%s is not a whole number", Shown(json));
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>())
                                                : std::in_range<T>(json.get<int64_t>());
    if (!fits) return InvalidArgument("%s is out of range", Shown(json));
    field = json.get<T>();
    return absl::OkStatus();
  }
  static absl::Status Read(const Json& json, std::string& field) {
    if (!json.is_string()) return InvalidArgument("%s is not a text", Shown(json));
    field = json.get<std::string>();
    return absl::OkStatus();
  }
  template <typename T>
  requires std::is_enum_v<T>
  static absl::Status Read(const Json& json, T& field) {
    std::string name;
    RETURN_IF_ERROR(Read(json, name));
    const std::optional<T> found = EnumeratorNamed<T>(name);
    if (!found.has_value()) return InvalidArgument("\"%s\" is not known", name);
    field = *found;
    return absl::OkStatus();
  }
  static absl::Status Read(const Json& json, Shape& field) {
    std::string text;
    RETURN_IF_ERROR(Read(json, text));
    ASSIGN_OR_RETURN(field, hlo::ParseShape(text));
    return absl::OkStatus();
  }
  static absl::Status Read(const Json& json, absl::Status& field) {
    struct {
      int code = 0;
      std::string kind, message;
    } parts;
    if (!json.is_object()) return InvalidArgument("%s is not an object", Shown(json));
    FieldReader reader(json);
    reader("code", parts.code);
    reader("kind", parts.kind);
    reader("message", parts.message);
    RETURN_IF_ERROR(reader.Finish());
    if (parts.code < 1 || parts.code > 16) return InvalidArgument("code %d is not one of errors", parts.code);
    ErrorKind kind = ErrorKind::kNone;
    if (!parts.kind.empty()) {
      const std::optional<ErrorKind> found = EnumeratorNamed<ErrorKind>(parts.kind);
      if (!found.has_value()) return InvalidArgument("kind \"%s\" is not known", parts.kind);
      kind = *found;
    }
    const auto code = static_cast<absl::StatusCode>(parts.code);
    field = kind == ErrorKind::kNone ? absl::Status(code, ToAbsl(parts.message))
                                     : ToStatus({.code = code, .kind = kind, .text = parts.message});
    return absl::OkStatus();
  }
  template <typename T>
  static absl::Status Read(const Json& json, std::vector<T>& field) {
    if (!json.is_array()) return InvalidArgument("%s is not a list", Shown(json));
    for (const Json& element : json) RETURN_IF_ERROR(Read(element, field.emplace_back()));
    return absl::OkStatus();
  }
  template <typename T>
  requires std::is_class_v<T>
  static absl::Status Read(const Json& json, T& field) { return ReadStructure(json, field); }

  const Json& from_;
  size_t read_ = 0;
  std::vector<std::string_view> names_;
  absl::Status status_;
};

// Reads a structure and, from the same JSON object, the fields that `own` visits.
template <typename T, typename Own>
absl::Status ReadLine(const Json& json, T& structure, Own own) {
  FieldReader reader(json);
  own(reader);
  Fields(reader, structure);
  return reader.Finish();
}

struct Nothing {};
template <typename V>
void Fields(V&, Nothing&) {}

class RunReader {
 public:
  RunReader(std::string_view text, std::string_view name, const ReadProfileOptions& options)
      : text_(text), name_(name), options_(options) {}

  absl::StatusOr<Profile> Read() {
    for (size_t begin = 0; begin < text_.size();) {
      const size_t newline = text_.find('\n', begin);
      ++line_;
      if (newline == std::string_view::npos) {
        if (line_ == 1) RETURN_IF_ERROR(Take(text_.substr(begin)));
        if (options_.allow_incomplete) break;
        return Wrong(absl::StrCat("the file is cut here: the last line has no end", kReadOn));
      }
      RETURN_IF_ERROR(Take(text_.substr(begin, newline - begin)));
      begin = newline + 1;
    }
    if (line_ == 0)
      return InvalidArgument("%s is empty; a profile begins with {\"hlod_profile\": %d", ToAbsl(name_),
                             kRunVersion);
    run_.complete = ended_;
    if (!ended_ && !options_.allow_incomplete) {
      return Wrong(
          absl::StrCat("the file is cut after this line: its last line, {\"end\": true}, is missing, as when "
                       "the program was killed or still runs",
                       kReadOn));
    }
    return std::move(run_);
  }

 private:
  static constexpr char kReadOn[] = "; what is there can be read with --incomplete (allow_incomplete)";

  absl::Status Wrong(std::string_view what) const {
    return InvalidArgument("%s, line %d: %s.", ToAbsl(name_), line_, ToAbsl(what));
  }

  absl::Status Take(std::string_view line) {
    const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (line_ == 1) return TakeHeader(json);
    if (json.is_discarded() || !json.is_object()) return Wrong("this is not a JSON object");
    if (ended_) return Wrong("there is more after the end");
    absl::Status status;
    if (json.contains("event")) status = TakeEvent(json);
    else if (json.contains("account")) status = TakeAccount(json);
    else if (json.contains("end")) status = TakeEnd(json);
    else status = InvalidArgument("this is not an event, an account or the end");
    return status.ok() ? status : Wrong(FromAbsl(status.message()));
  }

  absl::Status TakeHeader(const Json& json) {
    if (!json.is_object() || !json.contains("hlod_profile") || !json["hlod_profile"].is_number_integer()) {
      return InvalidArgument("%s is not a profile: it does not begin with {\"hlod_profile\": %d",
                             ToAbsl(name_), kRunVersion);
    }
    const int64_t version = json["hlod_profile"].get<int64_t>();
    if (version != kRunVersion) {
      return InvalidArgument("%s is a profile of version %d; this program reads version %d.", ToAbsl(name_),
                             version, kRunVersion);
    }
    int read = 0;
    Nothing nothing;
    const absl::Status status = ReadLine(json, nothing, [&](FieldReader& reader) {
      reader("hlod_profile", read);
      reader("program", run_.program);
      reader("pid", run_.pid);
      reader("started", run_.started);
    });
    return status.ok() ? status : Wrong(FromAbsl(status.message()));
  }

  template <size_t I>
  absl::Status ReadEventAs(const Json& json, Event& event) {
    auto& what = event.what.emplace<I>();
    std::string kind;
    return ReadLine(json, what, [&](FieldReader& reader) {
      reader("event", kind);
      reader("number", event.number);
      reader("at_us", event.at_us);
      reader("thread", event.thread);
    });
  }

  absl::Status TakeEvent(const Json& json) {
    Event event;
    absl::Status status = InvalidArgument("%s is not an event", Shown(json["event"]));
    [&]<size_t... I>(std::index_sequence<I...>) {
      ((json["event"] == kEvents[I] ? void(status = ReadEventAs<I>(json, event)) : void()), ...);
    }
    (std::make_index_sequence<std::variant_size_v<decltype(Event::what)>>());
    if (status.ok()) run_.events.push_back(std::move(event));
    return status;
  }

  absl::Status TakeAccount(const Json& json) {
    ProfileAccount account;
    RETURN_IF_ERROR(ReadLine(json, account.account, [&](FieldReader& reader) {
      reader("account", account.session);
      reader("daemon", account.daemon);
    }));
    for (const TransferRow& row : account.account.transfers) account.account.stats.rows.push_back(row);
    run_.accounts.push_back(std::move(account));
    return absl::OkStatus();
  }

  absl::Status TakeEnd(const Json& json) {
    uint64_t events = 0, accounts = 0;
    Nothing nothing;
    RETURN_IF_ERROR(ReadLine(json, nothing, [&](FieldReader& reader) {
      reader("end", ended_);
      reader("events", events);
      reader("accounts", accounts);
    }));
    if (events != run_.events.size() || accounts != run_.accounts.size()) {
      return InvalidArgument("the file ends with %d events and %d accounts; %d and %d were read", events,
                             accounts, run_.events.size(), run_.accounts.size());
    }
    return absl::OkStatus();
  }

  const std::string_view text_, name_;
  const ReadProfileOptions options_;
  int line_ = 0;
  bool ended_ = false;
  Profile run_;
};

}  // namespace

std::string RunHeaderLine(const Profile& run) {
  return Line(
      {{"hlod_profile", kRunVersion}, {"program", run.program}, {"pid", run.pid}, {"started", run.started}});
}

std::string RunEventLine(const Event& event) {
  Json json = {{"event", kEvents[event.what.index()]},
               {"number", event.number},
               {"at_us", event.at_us},
               {"thread", event.thread}};
  FieldWriter writer(json);
  std::visit([&](const auto& what) { Fields(writer, what); }, event.what);
  return Line(json);
}

std::string RunAccountLine(const ProfileAccount& account) {
  Json json = {{"account", account.session}, {"daemon", account.daemon}};
  FieldWriter writer(json);
  Fields(writer, account.account);
  return Line(json);
}

std::string RunEndLine(size_t events, size_t accounts) {
  return Line({{"end", true}, {"events", events}, {"accounts", accounts}});
}

}  // namespace runtime

absl::StatusOr<Profile> ParseProfile(std::string_view text, std::string_view name,
                                     const ReadProfileOptions& options) {
  return runtime::RunReader(text, name, options).Read();
}

absl::StatusOr<Profile> ReadProfile(const std::string& path, const ReadProfileOptions& options) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (file) bytes << file.rdbuf();
  if (!file) return InvalidArgument("%s cannot be read: %s.", path, std::strerror(errno));
  return ParseProfile(bytes.str(), path, options);
}

std::string ToJsonLines(const Profile& run) {
  std::string text = runtime::RunHeaderLine(run);
  for (const Event& event : run.events) text += runtime::RunEventLine(event);
  for (const ProfileAccount& account : run.accounts) text += runtime::RunAccountLine(account);
  if (run.complete) text += runtime::RunEndLine(run.events.size(), run.accounts.size());
  return text;
}

}  // namespace hlod
