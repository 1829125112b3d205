// nn::Module: named parameters, buffers and submodules of a model. Not to be mixed up with hlod::Module,
// which is a program.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "hlod/tensor/tensor.h"

namespace hlod::nn {

class Module;
struct ModuleHooks;

// The arguments of a layer.
using Tensors = absl::Span<const Tensor>;

// A function that is called before a layer with what the layer is given (undefined where an argument is
// absent), and may put other tensors in their places. Nothing is returned, where PyTorch's may return them.
using ForwardPreHook = std::function<void(const Module&, std::vector<Tensor>& inputs)>;
// A function that is called after a layer with its inputs and its results, which it may replace. The
// results of a recurrent layer are its output and the tensors of its state.
using ForwardHook = std::function<void(const Module&, Tensors inputs, std::vector<Tensor>& outputs)>;

// Removes a hook: torch.utils.hooks.RemovableHandle. It may outlive the module.
class RemovableHandle {
 public:
  RemovableHandle() = default;
  void Remove();  // Has no effect once the hook or its module is gone.

 private:
  friend class Module;
  RemovableHandle(std::weak_ptr<ModuleHooks> hooks, int64_t id) : hooks_(std::move(hooks)), id_(id) {}
  std::weak_ptr<ModuleHooks> hooks_;
  int64_t id_ = 0;
};

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
// A model whose own call is to run hooks and to be named by errors, as those of the library's layers are,
// goes through Forward:
//
//   Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
//     return Forward(caller, {x}, [&](nn::Tensors in) { return down(Relu(up(in[0]))); });
//   }
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

  // This module as "" and all of its parts by their paths, each before its own parts, in order of
  // registration; and the parts alone that are this module's own.
  std::vector<std::pair<std::string, Module*>> NamedModules();
  std::vector<Module*> Modules();
  std::vector<std::pair<std::string, Module*>> NamedChildren();
  std::vector<Module*> Children();
  // The part of a path, "layers.0"; "" is this module. Throws for one that does not exist, naming the
  // nearest.
  Module& GetSubmodule(const std::string& path, Caller caller = Caller::Here());
  // Calls f for every part, then for this module: each after its own parts.
  Module& Apply(const std::function<void(Module&)>& f);
  // "encoder.layers.0" from the module that is not a part of another; of that one empty.
  std::string Path() const;

  // Hooks run in order of registration, each with what the one before left. They must not be added or removed
  // while another thread calls the module.
  RemovableHandle RegisterForwardPreHook(ForwardPreHook hook);
  RemovableHandle RegisterForwardHook(ForwardHook hook);

  // Moves or converts every parameter and buffer (a type only those that are floating). A tensor shared by
  // two parts stays shared. requires_grad is kept.
  Module& To(const Device& device, Caller caller = Caller::Here());
  Module& To(PrimitiveType type, Caller caller = Caller::Here());

  // Drops the parameters' gradients.
  void ZeroGrad();

  // Sets the training mode, in which dropout drops and batch norm counts, of this module and its parts.
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

  // body(inputs) between the hooks; what fails meanwhile names this module's path and the caller's line. A
  // hook that leaves another number of tensors throws.
  Tensor Forward(const Caller& caller, std::initializer_list<Tensor> inputs,
                 absl::FunctionRef<Tensor(Tensors)> body) const;
  // The same for several results.
  std::vector<Tensor> ForwardAll(const Caller& caller, std::initializer_list<Tensor> inputs,
                                 absl::FunctionRef<std::vector<Tensor>(Tensors)> body) const;
  // Throws an error of kind argument that names this module's path.
  [[noreturn]] void Refuse(std::string text, const char* operation, const Caller& caller = {}) const;

 private:
  friend struct ModuleHooks;
  struct Entry {
    std::string name;
    Tensor* tensor;
    bool is_parameter;
  };
  void Walk(const std::string& prefix,
            const std::function<void(const std::string&, const Entry&)>& body) const;
  std::vector<std::pair<std::string, Tensor>> Named(bool parameters) const;
  void ReplaceEach(const std::function<Tensor(const Tensor&)>& replace);
  ModuleHooks& hooks();
  void AddModules(const std::string& path, std::vector<std::pair<std::string, Module*>>& to);

  std::vector<Entry> tensors_;
  Module* parent_ = nullptr;
  std::vector<std::pair<std::string, Module*>> parts_;
  bool training_ = true;
  std::shared_ptr<ModuleHooks> hooks_;  // Null until there is one.
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
