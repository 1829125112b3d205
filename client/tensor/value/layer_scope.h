// The layer of a model that this thread is calling, for errors to name.
#pragma once

#include <string>

namespace hlod::lazy {

// While one exists, the thread is in `layer`, whose path is computed only when an error needs it. Scopes
// nest; the innermost applies.
class LayerScope {
 public:
  using PathOf = std::string (*)(const void* layer);
  LayerScope(const void* layer, PathOf path_of);
  ~LayerScope();
  LayerScope(const LayerScope&) = delete;
  LayerScope& operator=(const LayerScope&) = delete;

  // Returns the path, for example "encoder.layers.0"; empty outside of a layer, and in a layer that is not
  // part of another.
  static std::string Path();

 private:
  const void* const layer_;
  const PathOf path_of_;
  const LayerScope* const outer_;
};

}  // namespace hlod::lazy
