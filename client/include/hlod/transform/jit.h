// Jit: runs a C++ function once per signature, and replays its trace from then on.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "hlod/transform/function.h"

namespace hlod {

struct JitOptions {
  // The indices, from 0, of arguments whose tensors are donated to the call: the program may reuse their
  // memory, and their use afterwards throws an error of kind donated. An index out of range throws.
  std::vector<int> donate;
};

// The result of Jit(). Copies share the traces. Must not be called by two threads at once.
template <typename F>
class Jitted {
 public:
  Jitted(F f, JitOptions options) : state_(std::make_shared<State>(std::move(f), std::move(options))) {}

  template <typename... Args>
  auto operator()(const Args&... args) const {
    using Arguments = std::tuple<Args...>;
    static_assert(std::is_invocable_v<const F&, const Args&...> || !std::is_invocable_v<F&, const Args&...>,
                  "The function given to Jit() must be callable as const: it runs once a signature, so a "
                  "mutable lambda's changes would be made once. Pass what changes as an argument, and return "
                  "it.");
    static_assert(std::is_invocable_v<const F&, const Args&...> || std::is_invocable_v<F&, const Args&...>,
                  "The function given to Jit() cannot be called with these arguments.");
    using R = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
    const Arguments arguments(args...);
    lazy::CheckDonated(state_->options.donate, sizeof...(Args), state_->caller);
    const Flattened flat = Flatten(arguments);
    const std::string signature = typeid(Arguments).name() + lazy::SignatureOf(flat.leaves, flat.structure);
    auto& known = Known<R>()[signature];
    if (!known.traced || !known.traced->StillFits()) {
      TracedCall<Arguments> call("jit", arguments, state_->caller);
      known.results = std::make_shared<const R>(std::apply(state_->f, call.arguments()));
      known.traced = call.Finish(*known.results);
      ++state_->traces;
    }
    const std::vector<Tensor> results = lazy::CallTraced(*known.traced, flat.leaves, state_->caller);
    for (const int donated : state_->options.donate) {
      int i = 0;
      std::apply(
          [&](const auto&... each) {
            ((i++ == donated ? lazy::Donate(Leaves(each), state_->caller) : void()), ...);
          },
          arguments);
    }
    return WithLeaves(*known.results, results);
  }

  // The number of times that the function has run: once per signature.
  int traces() const { return state_->traces; }

  Jitted& At(Caller caller) {
    state_->caller = caller;
    return *this;
  }

 private:
  template <typename R>
  struct Entry {
    std::shared_ptr<const lazy::Traced> traced;
    std::shared_ptr<const R> results;  // Kept for its structure; its tensors ended with the trace.
  };
  struct AnyEntries {
    virtual ~AnyEntries() = default;
  };
  template <typename R>
  struct Entries : AnyEntries {
    std::map<std::string, Entry<R>> by_signature;
  };
  struct State {
    State(F f, JitOptions options) : f(std::move(f)), options(std::move(options)) {}
    F f;
    JitOptions options;
    Caller caller;
    int traces = 0;
    std::map<std::string, std::unique_ptr<AnyEntries>> by_result;
  };

  template <typename R>
  std::map<std::string, Entry<R>>& Known() const {
    std::unique_ptr<AnyEntries>& entries = state_->by_result[typeid(R).name()];
    if (!entries) entries = std::make_unique<Entries<R>>();
    return static_cast<Entries<R>&>(*entries).by_signature;
  }

  std::shared_ptr<State> state_;
};

// Returns f as a function whose C++ runs once per signature of its arguments: the types, structure and static
// members of the trees, and the shapes and types of their tensors. A number among the arguments is static:
// pass a tensor for a value that varies. Tensors that f captures are read at each call. jax.jit.
//   auto step = Jit(ValueAndGrad(loss), {.donate = {0}});
template <typename F>
Jitted<F> Jit(F f, JitOptions options = {}, Caller caller = Caller::Here()) {
  return Jitted<F>(std::move(f), std::move(options)).At(caller);
}

}  // namespace hlod
