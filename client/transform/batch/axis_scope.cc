// The stack of named axes, and the counter that Vmap maps over to give examples their index.
#include "client/transform/batch/axis_scope.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "client/tensor/value/throw.h"
#include "common/base/text/strings.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/indexing.h"
#include "hlod/transform/vmap.h"

namespace hlod::lazy {
namespace {

thread_local std::vector<NamedAxis> axes_in_scope;

}  // namespace

const NamedAxis& AxisOfName(const char* what, std::string_view name, const Caller& caller) {
  for (size_t i = axes_in_scope.size(); i-- > 0;) {
    if (axes_in_scope[i].name == name) return axes_in_scope[i];
  }
  std::string known = "no Vmap with an axis_name is around it";
  for (size_t i = 0; i < axes_in_scope.size(); ++i) {
    known =
        absl::StrCat(i == 0 ? "the Vmaps around it have " : known + ", ", "\"", axes_in_scope[i].name, "\"");
  }
  Throw(ErrorKind::kArgument, absl::StrCat("the axis \"", ToAbsl(name), "\" is unknown: ", known), what,
        caller);
}

std::string AxesText() {
  std::string text;
  for (const NamedAxis& axis : axes_in_scope) {
    absl::StrAppend(&text, "axis ", axis.name.size(), ":", axis.name, "=", axis.size, ";");
  }
  return text;
}

std::vector<Tensor> AxisCounter(const VmapOptions& options, const std::vector<Tensor>& leaves,
                                const std::vector<std::optional<int64_t>>& axes) {
  if (options.axis_name.empty()) return {};
  Device device = leaves[0].device();
  int64_t size = 0;
  for (size_t i = 0; i < leaves.size(); ++i) {
    if (!leaves[i].device().is_host()) device = leaves[i].device();
    if (axes[i].has_value()) size = leaves[i].size(*axes[i]);
  }
  return {Arange(0, size, 1, {.type = kS64, .device = device})};
}

std::vector<Tensor> FirstOfCounter(const std::vector<Tensor>& counter) {
  if (counter.empty()) return {};
  return {counter[0].Select(0, 0)};
}

AxisScope::AxisScope(const VmapOptions& options, const std::vector<Tensor>& counter,
                     const std::vector<Tensor>& index)
    : named_(!options.axis_name.empty()) {
  if (named_) axes_in_scope.push_back({options.axis_name, counter[0].size(0), index[0]});
}
AxisScope::~AxisScope() {
  if (named_) axes_in_scope.pop_back();
}

}  // namespace hlod::lazy
