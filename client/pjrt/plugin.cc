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

// The newest and the oldest version of StableHLO that client/import reads. Frameworks send programs of the
// newest one, or of their own if that is older. The oldest frameworks (FrameworkIsOld, jaxlib 0.4) would try
// to send the stated version even if they do not have it. If none is stated, they choose one of their own.
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
