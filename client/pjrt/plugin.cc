// The entries about the plugin itself.
#include <array>
#include <iterator>
#include <string_view>

#include "client/pjrt/client.h"
#include "client/pjrt/entry.h"
#include "client/pjrt/named_value.h"

namespace hlod::pjrt {
namespace {

abi::NamedValue NumberAttribute(std::string_view name, int64_t value) {
  abi::NamedValue attribute = Named(name, abi::NamedValueType::kInt64);
  attribute.int64_value = value;
  return attribute;
}

template <size_t count>
abi::NamedValue ListAttribute(std::string_view name, const int64_t (&values)[count]) {
  abi::NamedValue attribute = Named(name, abi::NamedValueType::kInt64List, count);
  attribute.int64_array_value = values;
  return attribute;
}

// The versions of StableHLO that client/import reads: frameworks send programs no newer than the current one,
// or than their own. Frameworks that are older than the last fields of Client_Create's arguments (jaxlib 0.4)
// take the plugin's even when they do not have it; without one they choose one of theirs.
constexpr int64_t kStablehloCurrent[] = {1, 20, 0};
constexpr int64_t kStablehloMinimum[] = {0, 9, 0};

}  // namespace

absl::Status Serve(abi::Plugin_Initialize_Args&) { return absl::OkStatus(); }

absl::Status Serve(abi::Plugin_Attributes_Args& args) {
  static const abi::NamedValue attributes[] = {
      ListAttribute("stablehlo_current_version", kStablehloCurrent),
      ListAttribute("stablehlo_minimum_version", kStablehloMinimum),
      NumberAttribute("xla_version", 2),
  };
  const size_t first = FrameworkIsOld() ? 1 : 0;
  args.attributes = attributes + first;
  args.num_attributes = std::size(attributes) - first;
  return absl::OkStatus();
}

}  // namespace hlod::pjrt
