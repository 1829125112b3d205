// nn::Module: named parameters, buffers and submodules of a model. It is unrelated to hlod::Module, which is
// an HLO program.
#pragma once

#include <concepts>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "hlod/ops/sizes.h"
#include "hlod/tensor/limit.h"
#include "hlod/tensor/tensor.h"

namespace hlod::nn {

class Module;
struct ModuleHooks;

// The arguments of a layer.
using Tensors = absl::Span<const Tensor>;

// A function that is called before a layer with the layer's arguments (undefined where an argument is
// absent), and may replace them in place.
using ForwardPreHook = std::function<void(const Module&, std::vector<Tensor>& inputs)>;
// A function that is called after a layer with its inputs and its results, which it may replace. The
// results of a recurrent layer are its output and the tensors of its state.
using ForwardHook = std::function<void(const Module&, Tensors inputs, std::vector<Tensor>& outputs)>;

// A function that is called during Backward() with the gradients of a layer's inputs, which it may replace,
// and those of its results; undefined where there is none. When no input requires a gradient, all of them are
// undefined.
using FullBackwardHook =
    std::function<void(const Module&, std::vector<Tensor>& grad_inputs, Tensors grad_outputs)>;

template <typename F, typename... Args>
concept ReturnsSomething = !std::is_void_v<std::invoke_result_t<F&, const Module&, Args&...>>;

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

// The name of a part together with the line that makes the part, which the errors of its construction name.
class PartName {
 public:
  template <typename T>
  requires(std::convertible_to<T, std::string> && !std::same_as<std::remove_cvref_t<T>, PartName>)
      PartName(T&& name,
               Caller caller = Caller::Here())  // NOLINT: implicit.
      : name_(std::forward<T>(name)), caller_(caller) {}

  operator std::string() const { return name_; }  // NOLINT: for constructors that take a name as text.
  const std::string& name() const { return name_; }
  const Caller& caller() const { return caller_; }

 private:
  std::string name_;
  Caller caller_;
};

// An argument of a layer with its limit, or a condition on arguments.
class LayerArgument {
 public:
  LayerArgument(const char* name, int64_t value, Limit limit);
  LayerArgument(const char* name, double value, Limit limit);
  LayerArgument(const char* name, const Sizes& values, Limit limit);  // The limit is that of each value.
  LayerArgument(bool holds, const std::string& fault) : fault_(holds ? "" : fault) {}
  const std::string& fault() const { return fault_; }

 private:
  std::string fault_;  // Empty when the argument is within its limit.
};

// Tensors by their names, "layers.0.weight".
using StateDict = std::map<std::string, Tensor>;

// A part of a model, with the functions of PyTorch's nn.Module. It registers itself and its tensors with the
// part that contains it, so that the names of a model's parameters follow from its members:
//
//   struct Mlp : nn::Module {
//     nn::Linear up{*this, "up", 64, 128}, down{*this, "down", 128, 10};
//     Tensor operator()(const Tensor& x) const { return down(Relu(up(x))); }
//   };
//
// A model whose call should run hooks, and be named in errors, as the library's layers do, calls Forward:
//
//   Tensor operator()(const Tensor& x, Caller caller = Caller::Here()) const {
//     return Forward(caller, {x}, [&](nn::Tensors in) { return down(Relu(up(in[0]))); });
//   }
//
// A module cannot be copied or moved, because its parts refer to it. Its tensors must not be used by another
// thread while To, LoadStateDict or FunctionalCall changes them.
class Module {
 public:
  Module() = default;
  // Registers this module as a part of `parent` until it ends. REQUIRES: `name` has no dot and is not taken
  // in `parent`, which outlives this module.
  Module(Module& parent, PartName name);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  virtual ~Module();

  // Tensors by name, in order of registration, a module's own before those of its parts. A tensor that is
  // registered twice (a shared weight) is listed under its first name only.
  std::vector<std::pair<std::string, Tensor>> NamedParameters() const;
  std::vector<std::pair<std::string, Tensor>> NamedBuffers() const;
  std::vector<Tensor> Parameters() const;

  // NamedModules: this module as "", and all its parts by their paths, in order of registration, each before
  // its own parts. NamedChildren: only this module's own parts.
  std::vector<std::pair<std::string, Module*>> NamedModules();
  std::vector<Module*> Modules();
  std::vector<std::pair<std::string, Module*>> NamedChildren();
  std::vector<Module*> Children();
  // The part at a path such as "layers.0"; "" is this module. Throws for a path that does not exist, naming
  // the nearest.
  Module& GetSubmodule(const std::string& path, Caller caller = Caller::Here());
  // Calls f for every part, then for this module: each after its own parts.
  Module& Apply(const std::function<void(Module&)>& f);
  // The path from the outermost module, for example "encoder.layers.0"; empty for the outermost module
  // itself.
  std::string Path() const;

  // Registers hooks. They run in order of registration, each on the results of the one before. Hooks must not
  // be added or removed while another thread calls the module.
  RemovableHandle RegisterForwardPreHook(ForwardPreHook hook);
  RemovableHandle RegisterForwardHook(ForwardHook hook);
  // The hook is called once in each backward pass through a call that is made while it is registered, also
  // when it is removed meanwhile, but not when the module has ended.
  RemovableHandle RegisterFullBackwardHook(FullBackwardHook hook);
  // Hooks replace tensors in place. Those that return something, as PyTorch's may, do not compile, because
  // what they return would be lost.
  template <typename F>
  requires ReturnsSomething<F, std::vector<Tensor>> RemovableHandle RegisterForwardPreHook(F)
  = delete;
  template <typename F>
  requires ReturnsSomething<F, Tensors, std::vector<Tensor>> RemovableHandle RegisterForwardHook(F)
  = delete;
  template <typename F>
  requires ReturnsSomething<F, std::vector<Tensor>, Tensors> RemovableHandle RegisterFullBackwardHook(F)
  = delete;

  // Moves or converts every parameter and buffer, and the gradients (a conversion skips tensors that are not
  // floating). The tensors stay the same objects with the same ids, as in PyTorch: every variable that refers
  // to one, an optimizer's also, sees it moved. An optimizer's state does not move: call this before the
  // first step. No other thread may use the module meanwhile.
  Module& To(const Device& device, Caller caller = Caller::Here());
  Module& To(PrimitiveType type, Caller caller = Caller::Here());

  // Drops the parameters' gradients.
  void ZeroGrad();

  // Sets the training mode, in which dropout drops and batch norm counts, of this module and its parts.
  Module& Train(bool training = true);
  Module& Eval() { return Train(false); }
  bool training() const { return training_; }

  // Every parameter and buffer under each of its names.
  nn::StateDict StateDict() const;
  // Copies the values of `tensors` into the module's tensors in place. Throws before anything is changed when
  // a shape differs or, when `strict`, when a name is missing or unknown; the error lists all of them.
  void LoadStateDict(const nn::StateDict& tensors, bool strict = true, Caller caller = Caller::Here());

  // Calls body(name, tensor) for each registered tensor; a shared one is visited under each name. Serves
  // functions that replace the tensors, as FunctionalCall does.
  void ForEachTensor(const std::function<void(const std::string&, Tensor&)>& body) const;

 protected:
  // Does the same for a layer (such as "conv"), and throws for the first of its arguments that is beyond its
  // limit.
  Module(Module& parent, PartName name, const char* layer, std::initializer_list<LayerArgument> arguments);
  // Returns the name of a part of this module that is made where this module was made.
  PartName Part(const char* name) const { return PartName(name, made_at_); }
  const Caller& made_at() const { return made_at_; }

  // Registers a C++ member of this module, which must live as long as the module. A floating parameter
  // requires gradients from now on. An undefined tensor (a bias that is absent) is not registered.
  void RegisterParameter(std::string name, Tensor& tensor);
  void RegisterBuffer(std::string name, Tensor& tensor);

  // Returns body(inputs), calling the hooks before and after. Errors meanwhile name this module's path and
  // the caller's line. Throws when a hook changes the number of tensors.
  Tensor Forward(const Caller& caller, std::initializer_list<Tensor> inputs,
                 absl::FunctionRef<Tensor(Tensors)> body) const;
  // Like Forward, for several results.
  std::vector<Tensor> ForwardAll(const Caller& caller, std::initializer_list<Tensor> inputs,
                                 absl::FunctionRef<std::vector<Tensor>(Tensors)> body) const;
  // Throws an error of kind argument that names this module's path.
  [[noreturn]] void Refuse(std::string text, const char* operation, const Caller& caller) const;

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
  void ConvertEach(const std::function<Tensor(const Tensor&)>& convert);
  ModuleHooks& hooks();
  void AddModules(const std::string& path, std::vector<std::pair<std::string, Module*>>& to);

  std::vector<Entry> tensors_;
  Module* parent_ = nullptr;
  Caller made_at_;  // The line that made it; unknown for the outermost module.
  std::vector<std::pair<std::string, Module*>> parts_;
  bool training_ = true;
  std::shared_ptr<ModuleHooks> hooks_;  // Null while the module has no hooks.
};

// Replaces tensors of a module while this object exists: the mechanism of torch.func.functional_call.
class TensorSwap {
 public:
  // Throws when the module has no tensor of one of the names, naming the nearest; then no tensor is replaced.
  TensorSwap(const Module& module, const StateDict& tensors, Caller caller);
  ~TensorSwap();
  TensorSwap(const TensorSwap&) = delete;
  TensorSwap& operator=(const TensorSwap&) = delete;

 private:
  std::vector<std::pair<Tensor*, Tensor>> kept_;
};

// Returns module(args...) computed with `tensors` in place of the module's tensors of the same names; a
// shared weight is replaced everywhere. Afterwards the module is as before, also when the call throws:
// in-place updates, such as the running mean of a batch norm, go to the given tensors.
// torch.func.functional_call.
template <typename M, typename... Args>
auto FunctionalCall(M& module, const StateDict& tensors, Args&&... args) {
  const TensorSwap swap(module, tensors, Caller{});
  return module(std::forward<Args>(args)...);
}

}  // namespace hlod::nn
