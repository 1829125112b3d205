// nn::Module: named parameters, buffers and submodules of a model. Not to be mixed up with hlod::Module,
// which is a program.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hlod/tensor.h"

namespace hlod::nn {

// Tensors by their names, "layers.0.weight".
using StateDict = std::map<std::string, Tensor>;

// A part of a model. It registers itself and its tensors with the part that contains it, so that the names of
// a model's parameters follow from its members:
//
//   struct Mlp : nn::Module {
//     nn::Linear up{*this, "up", 64, 128}, down{*this, "down", 128, 10};
//     Tensor operator()(const Tensor& x) const { return down(Relu(up(x))); }
//   };
//
// It is not copied or moved: others refer to its members. Tensors of one module are not used by two threads
// at once while To, LoadStateDict or FunctionalCall changes them.
class Module {
 public:
  Module() = default;
  // A part of `parent`, until this module ends. REQUIRES: `name` has no dot and is not taken in `parent`,
  // which outlives this module: both are members.
  Module(Module& parent, std::string name, Caller caller = Caller::Here());
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  // By name, in order of registration, parts after what the module itself has. A tensor that is registered
  // twice (a shared weight) is listed under its first name only.
  std::vector<std::pair<std::string, Tensor>> NamedParameters() const;
  std::vector<std::pair<std::string, Tensor>> NamedBuffers() const;
  std::vector<Tensor> Parameters() const;

  // Moves or converts every parameter and buffer (a type only those that are floating). A tensor shared by
  // two parts stays shared. requires_grad is kept.
  Module& To(const Device& device, Caller caller = Caller::Here());
  Module& To(PrimitiveType type, Caller caller = Caller::Here());

  // Drops the parameters' gradients.
  void ZeroGrad();

  // Whether dropout drops and batch norm counts: of this module and its parts.
  Module& Train(bool training = true);
  Module& Eval() { return Train(false); }
  bool training() const { return training_; }

  // Every parameter and buffer under every name.
  nn::StateDict StateDict() const;
  // Takes the values of `tensors` over, in place: Copy_ into what is there. Throws before anything is changed
  // when a shape differs; when `strict`, also when a name is missing or unknown (all of them are named).
  void LoadStateDict(const nn::StateDict& tensors, bool strict = true, Caller caller = Caller::Here());

  // Calls body(name, tensor) for each registered tensor, shared ones under each name. For functions that
  // replace them, as FunctionalCall does.
  void ForEachTensor(const std::function<void(const std::string&, Tensor&)>& body) const;

 protected:
  // Registers a member, which must outlive this module's registration: it is a member too. A parameter that
  // is floating requires gradients from now on. An undefined tensor (a bias that is absent) is not
  // registered.
  void RegisterParameter(std::string name, Tensor& tensor);
  void RegisterBuffer(std::string name, Tensor& tensor);

 private:
  struct Entry {
    std::string name;
    Tensor* tensor;
    bool is_parameter;
  };
  void Walk(const std::string& prefix,
            const std::function<void(const std::string&, const Entry&)>& body) const;
  std::vector<std::pair<std::string, Tensor>> Named(bool parameters) const;
  void ReplaceEach(const std::function<Tensor(const Tensor&)>& replace);

  std::vector<Entry> tensors_;
  Module* parent_ = nullptr;
  std::vector<std::pair<std::string, Module*>> parts_;
  bool training_ = true;
};

// Exchanges tensors of a module for others while it lives: torch.func.functional_call's mechanism.
class TensorSwap {
 public:
  // Throws when a name is not one of the module's, naming the nearest; nothing is exchanged then.
  TensorSwap(const Module& module, const StateDict& tensors, Caller caller);
  ~TensorSwap();
  TensorSwap(const TensorSwap&) = delete;
  TensorSwap& operator=(const TensorSwap&) = delete;

 private:
  std::vector<std::pair<Tensor*, Tensor>> kept_;
};

// module(args...) with `tensors` in place of those of their names; where a weight is shared, in place of
// each. The module is as before afterwards, also when the call throws: what it updates in place, such as the
// running mean of a batch norm, are the given tensors. torch.func.functional_call.
template <typename M, typename... Args>
auto FunctionalCall(M& module, const StateDict& tensors, Args&&... args) {
  const TensorSwap swap(module, tensors, Caller{});
  return module(std::forward<Args>(args)...);
}

}  // namespace hlod::nn
