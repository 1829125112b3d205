// The exception of tensors.
#include "hlod/runtime/error.h"

#include "absl/strings/str_cat.h"
#include "client/tensor/value/layer_scope.h"

namespace hlod {
namespace {

// Returns "einsum (model.cc:11), in encoder.layers.0: <message>".
std::string Sentence(const absl::Status& status, const std::string& operation, const Caller& caller) {
  const std::string layer = lazy::LayerScope::Path();
  return absl::StrCat(operation, " (", ToString(Origin{caller.file, caller.line, ""}), ")",
                      layer.empty() ? "" : ", in ", layer, ": ", std::string(status.message()));
}

constinit thread_local const lazy::LayerScope* innermost_layer = nullptr;

}  // namespace

Error::Error(absl::Status status, std::string operation, Caller caller)
    : std::runtime_error(Sentence(status, operation, caller)),
      status_(std::move(status)),
      operation_(std::move(operation)),
      caller_(caller) {}

lazy::LayerScope::LayerScope(const void* layer, PathOf path_of)
    : layer_(layer), path_of_(path_of), outer_(std::exchange(innermost_layer, this)) {}
lazy::LayerScope::~LayerScope() { innermost_layer = outer_; }
std::string lazy::LayerScope::Path() {
  return innermost_layer == nullptr ? "" : innermost_layer->path_of_(innermost_layer->layer_);
}

}  // namespace hlod
