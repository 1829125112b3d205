// Looks options up in the table, and checks their values.
#include "client/pjrt/compile/xla_options.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "absl/strings/numbers.h"
#include "common/base/errors/status.h"

namespace hlod::pjrt {
namespace {

enum class OptionType { kBool, kInt32, kInt64, kFloat, kString, kEnum, kMessage };

struct XlaOption {
  std::string_view name;
  OptionType type;
  const char* refused = nullptr;  // The reason why it is refused, if it is.
};

constexpr XlaOption kOptions[] = {
#define HLOD_XLA_OPTION(name, type) {#name, OptionType::type},
#define HLOD_XLA_OPTION_REFUSED(name, type, reason) {#name, OptionType::type, reason},
#include "client/pjrt/compile/xla_options.inc"
#undef HLOD_XLA_OPTION
#undef HLOD_XLA_OPTION_REFUSED
};

const char* TypeName(OptionType type) {
  switch (type) {
    case OptionType::kBool: return "bool";
    case OptionType::kInt32: return "int32";
    case OptionType::kInt64: return "int64";
    case OptionType::kFloat: return "float";
    case OptionType::kString: return "string";
    case OptionType::kEnum: return "enum";
    case OptionType::kMessage: return "message";
  }
  return "unknown";
}

bool Fits(int64_t number, OptionType type) {
  using Int32 = std::numeric_limits<int32_t>;
  return type != OptionType::kInt32 || (number >= Int32::min() && number <= Int32::max());
}

// Returns true when the text is a value of the type.
bool IsValid(const std::string& text, OptionType type) {
  int64_t number = 0;
  double real = 0;
  switch (type) {
    case OptionType::kBool: return text == "true" || text == "false" || text == "True" || text == "False";
    case OptionType::kInt32:
    case OptionType::kInt64: return absl::SimpleAtoi(text, &number) && Fits(number, type);
    case OptionType::kFloat: return absl::SimpleAtod(text, &real);
    case OptionType::kString:
    case OptionType::kEnum:
    case OptionType::kMessage: return true;
  }
  return false;
}

bool IsValid(const xla::OptionOverrideProto& value, OptionType type) {
  switch (value.value_case()) {
    case xla::OptionOverrideProto::kStringField: return IsValid(value.string_field(), type);
    case xla::OptionOverrideProto::kBoolField: return type == OptionType::kBool;
    case xla::OptionOverrideProto::kIntField:
      return type == OptionType::kInt32 || type == OptionType::kInt64
                 ? Fits(value.int_field(), type)
                 : type == OptionType::kFloat || type == OptionType::kEnum;
    case xla::OptionOverrideProto::kDoubleField: return type == OptionType::kFloat;
    case xla::OptionOverrideProto::VALUE_NOT_SET: return false;
  }
  return false;
}

// Returns true for the value that an option has when nobody sets it.
bool IsOff(const xla::OptionOverrideProto& value) {
  const std::string& text = value.string_field();
  return text.empty() ? !value.bool_field() && value.int_field() == 0 : text == "false" || text == "False";
}

std::string ValueText(const xla::OptionOverrideProto& value) {
  switch (value.value_case()) {
    case xla::OptionOverrideProto::kStringField: return value.string_field();
    case xla::OptionOverrideProto::kBoolField: return value.bool_field() ? "true" : "false";
    case xla::OptionOverrideProto::kIntField: return absl::StrCat(value.int_field());
    case xla::OptionOverrideProto::kDoubleField: return absl::StrCat(value.double_field());
    case xla::OptionOverrideProto::VALUE_NOT_SET: return "";
  }
  return "";
}

}  // namespace

absl::Status CheckXlaOption(const std::string& name, const xla::OptionOverrideProto& value) {
  const auto* const option = std::ranges::find(kOptions, std::string_view(name), &XlaOption::name);
  if (option == std::end(kOptions)) return InvalidArgument("No such compile option: '%s'", name);
  if (!IsValid(value, option->type)) {
    return InvalidArgument("While setting option %s, '%s' is not a valid %s value.", name, ValueText(value),
                           TypeName(option->type));
  }
  if (option->refused == nullptr || IsOff(value)) return absl::OkStatus();
  return Unimplemented("The compile option %s: %s.", name, option->refused);
}

}  // namespace hlod::pjrt
