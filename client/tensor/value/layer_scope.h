// The layer of a model that this thread is calling, for errors to name.
#pragma once

#include <string>

namespace hlod::lazy {

// While it exists, the thread is in `layer`, whose path is asked for only when something fails. Of scopes
// that nest, the innermost holds.
class LayerScope {
 public:
  using PathOf = std::string (*)(const void* layer);
  LayerScope(const void* layer, PathOf path_of);
  ~LayerScope();
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

  // "encoder.layers.0"; empty outside of a layer, and in one that is not a part of another.
  static std::string Path();

 private:
  const void* const layer_;
  const PathOf path_of_;
  const LayerScope* const outer_;
};

}  // namespace hlod::lazy
