// Hooks that run around a module's call, and weights that are computed before it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hlod/nn/module.h"

namespace hlod::nn {

// A weight that is computed from other tensors, which replace it in the module.
class Reparametrization {
 public:
  Reparametrization(std::string name, Tensor& weight) : name_(std::move(name)), weight_(weight) {}
  virtual ~Reparametrization() = default;
  // Returns the weight. With `training` it may also update buffers.
  virtual Tensor Compute(bool training) const = 0;
  // Returns the tensors that replace it; they live as long as this object.
  virtual std::vector<const Tensor*> Parts() const = 0;

  const std::string& name() const { return name_; }
  Tensor& weight() const { return weight_; }

 private:
  const std::string name_;
  Tensor& weight_;
};

struct ModuleHooks : std::enable_shared_from_this<ModuleHooks> {
  template <typename F>
  struct Hook {
    int64_t id;
    F call;
  };
  std::vector<std::unique_ptr<Reparametrization>> weights;
  std::vector<Hook<ForwardPreHook>> before;
  std::vector<Hook<ForwardHook>> after;
  std::vector<Hook<FullBackwardHook>> backward;
  int64_t next_id = 1;

  std::vector<Tensor> Around(const Module& module, Tensors inputs,
                             absl::FunctionRef<std::vector<Tensor>(Tensors)> body) const;

  // Returns the module's hooks, making them when missing.
  static ModuleHooks& Of(Module& module) { return module.hooks(); }
  // Removes a parameter from the module's list and returns it; null if there is none with that name.
  static Tensor* Unregister(Module& module, const std::string& name);
  static void Unregister(Module& module, const Tensor* tensor);
  static void RegisterParameter(Module& module, std::string name, Tensor& tensor) {
    module.RegisterParameter(std::move(name), tensor);
  }
  static void RegisterBuffer(Module& module, std::string name, Tensor& tensor) {
    module.RegisterBuffer(std::move(name), tensor);
  }
};

}  // namespace hlod::nn
