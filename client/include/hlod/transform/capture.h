// Capture mode: a C++ function is recorded as a whole, once per signature, and replayed from then on.
//
//   auto step = hlod::Compile([](const Tensor& x) { return Sum(x * x); });
//   step(x);                         // Recorded: one program.
//   step(x);                         // Replayed: the function's C++ does not run.
//   step.WhyBroken();                // Empty; or each line that read a value inside.
//
// A function that reads a value inside (Item(), printing, HostFunction(), Sync()) is *broken*, because C++
// after a read cannot be resumed. From then on its body runs at each call, as in lazy mode, and its pieces
// are found in the cache. The recording attempt has run it once up to the line that broke it: values on
// devices are unchanged, but changes of its own C++ variables remain.
//
// GUARDS. A recording is replayed for arguments of the same types, structure, static members, shapes and
// devices, when captured tensors still have the same shapes and devices, and within the same autocast
// regions. Other dependences of the function (a C++ variable that it captures, a clock) are not checked.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#include "hlod/tensor/trace.h"
#include "hlod/transform/function.h"
#include "hlod/transform/jit.h"

namespace hlod {

struct CaptureOptions {
  std::string name;         // The function's name in errors; empty: "the function".
  bool full_graph = false;  // Makes a break an error that names its line; the function does not run then.
  // The maximum number of different recordings; 0: no limit. Exceeding it is an error that says how the
  // recordings differ.
  int max_different_graphs = 0;
};

// The result of Compile(). Copies share the recordings. Must not be called by two threads at once.
template <typename F>
class Captured {
 public:
  Captured(F f, CaptureOptions options, Caller caller)
      : state_(std::make_shared<State>(std::move(f), std::move(options), caller)) {}

  template <typename... Args>
  auto operator()(const Args&... args) const {
    using Arguments = std::tuple<Args...>;
    using R = std::decay_t<std::invoke_result_t<const F&, const Args&...>>;
    const Arguments arguments(args...);
    const Flattened flat = Flatten(arguments);
    State& state = *state_;
    const std::string signature = typeid(Arguments).name() + lazy::SignatureOf(flat.leaves, flat.structure);
    Recording& known = state.recordings[typeid(R).name() + signature];
    ++state.calls;
    if (known.why.empty() && (!known.traced || !known.traced->StillFits())) Record<R>(known, arguments);
    if (!known.why.empty()) {
      ++state.broken_calls;
      return std::apply(state.f, arguments);
    }
    return WithLeaves(*std::static_pointer_cast<const R>(known.results),
                      lazy::CallTraced(*known.traced, flat.leaves, state.caller));
  }

  int calls() const { return state_->calls; }
  // The number of calls that recorded the function, and of calls that ran it because it is broken.
  int recordings() const { return state_->recorded; }
  int broken_calls() const { return state_->broken_calls; }
  int different_graphs() const { return static_cast<int>(state_->graphs.size()); }
  // Returns the reason for each broken signature, with the line.
  std::vector<std::string> WhyBroken() const {
    std::vector<std::string> why;
    for (const auto& [signature, recording] : state_->recordings) {
      if (!recording.why.empty()) why.push_back(recording.why);
    }
    return why;
  }

 private:
  struct Recording {
    std::shared_ptr<const lazy::Traced> traced;
    // A value of the function's result type R, kept for its structure; its tensors ended with the trace.
    std::shared_ptr<const void> results;
    std::string why;  // The reason why the function is broken; empty when it is not.
  };
  struct State {
    State(F f, CaptureOptions options, Caller caller)
        : f(std::move(f)), options(std::move(options)), caller(caller) {}
    const F f;
    const CaptureOptions options;
    const Caller caller;
    int calls = 0, recorded = 0, broken_calls = 0;
    std::map<std::string, Recording> recordings;
    std::vector<std::vector<std::string>> graphs;
  };

  template <typename R, typename Arguments>
  void Record(Recording& known, const Arguments& arguments) const {
    State& state = *state_;
    std::shared_ptr<const lazy::Traced> traced;
    std::shared_ptr<const R> results;
    try {
      TracedCall<Arguments> call("compile", arguments, state.caller);
      results = std::make_shared<const R>(std::apply(state.f, call.arguments()));
      traced = call.Finish(*results);
    } catch (const Error& error) {
      if (state.options.full_graph) lazy::ThrowBroken(error, state.options, state.caller);
      known.why = error.what();
      return;
    }
    lazy::AddGraph(state.graphs, lazy::InstructionsOf(*traced), state.options, state.caller);
    known.traced = std::move(traced);
    known.results = std::move(results);
    ++state.recorded;
  }

  std::shared_ptr<State> state_;
};

template <typename F>
Captured<F> Compile(F f, CaptureOptions options = {}, Caller caller = Caller::Here()) {
  return Captured<F>(std::move(f), std::move(options), caller);
}

}  // namespace hlod
