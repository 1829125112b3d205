// Registers, removes and runs hooks of gradients.
#include "client/tensor/autograd/grad_hooks.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/tensor/autograd/tape.h"
#include "client/tensor/dispatch/apply.h"
#include "client/tensor/trace/lock.h"
#include "client/tensor/value/defined.h"
#include "client/tensor/value/throw.h"

namespace hlod {
namespace lazy {
namespace {

constexpr char kRegisterHook[] = "register_hook";

// Returns the hooks at `place`, making them when missing.
std::shared_ptr<GradHooks> Made(std::shared_ptr<GradHooks>& place) {
  if (place == nullptr) place = std::make_shared<GradHooks>();
  return place;
}

std::shared_ptr<GradHooks> HooksOf(const GradEdge& edge) {
  if (edge.leaf) return Made(edge.leaf->hooks);
  edge.entry->hooks.resize(edge.entry->output_shapes.size());
  return Made(edge.entry->hooks[edge.output]);
}

void CheckReplaced(const Tensor& given, const Tensor& left, const Caller& caller) {
  if (left.defined() && left.shape() == given.shape() && left.device() == given.device()) return;
  Throw(ErrorKind::kArgument,
        absl::StrCat("a hook left ", left.defined() ? left.Describe() : "an undefined tensor",
                     " in place of the gradient ", hlo::ToStringNoLayout(given.shape()), " on ",
                     given.device().ToString()),
        kRegisterHook, caller);
}

}  // namespace

int64_t GradHooks::Add(Call call) {
  hooks.push_back({next_id, std::move(call)});
  return next_id++;
}
void GradHooks::Remove(int64_t id) {
  std::erase_if(hooks, [=](const Hook& hook) { return hook.id == id; });
}
void GradHooks::Run(std::vector<Tensor>& gradients, const Caller& caller) const {
  for (const Hook& hook : std::vector(hooks)) {  // A copy, because a hook may remove itself.
    const std::vector<Tensor> before = gradients;
    hook.call(gradients);
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i].defined()) CheckReplaced(before[i], gradients[i], caller);
      else gradients[i] = Tensor();
    }
  }
}

std::vector<Tensor> Watched(const std::vector<Tensor>& tensors, GradHooks::Call hook, const Caller& caller) {
  static constexpr Operation kWatched = {"Watched", "backward_hook", Promotion::kNone, "a copy with a hook"};
  std::vector<Operand> operands;
  std::vector<size_t> which;
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (!tensors[i].defined() || !tensors[i].requires_grad()) continue;
    operands.emplace_back(tensors[i], caller);
    which.push_back(i);
  }
  if (operands.empty() || !GradMode()) return tensors;
  const std::vector<Tensor> copies = CallSeveral(kWatched, operands, [](Lowering& l, Operands o) {
    std::vector<Op> results;
    for (const Op x : o) results.push_back(l.b.Unary(hlo::kCopy, x));
    return results;
  });
  std::vector<Tensor> all = tensors;
  for (size_t i = 0; i < which.size(); ++i) all[which[i]] = copies[i];
  const TraceLock lock;
  TapeEntry& entry = *EdgeOf(Defined(copies[0], caller)).entry;
  entry.hooks.resize(entry.output_shapes.size() + 1);
  Made(entry.hooks.back())
      ->Add([which, size = tensors.size(), hook = std::move(hook)](std::vector<Tensor>& gradients) {
        std::vector<Tensor> spread(size);
        for (size_t i = 0; i < which.size(); ++i) spread[which[i]] = gradients[i];
        hook(spread);
        for (size_t i = 0; i < which.size(); ++i) gradients[i] = spread[which[i]];
      });
  return all;
}

}  // namespace lazy

GradHookHandle Tensor::RegisterHook(GradHook hook, Caller caller) const {
  const lazy::TraceLock lock;
  const lazy::TensorImpl& impl = lazy::Defined(*this, caller);
  if (!lazy::RequiresGrad(impl) || !lazy::IsRoot(impl)) {
    lazy::Throw(
        ErrorKind::kArgument,
        absl::StrCat("only a tensor that requires gradients, and is not a view, takes a hook: ", Describe()),
        lazy::kRegisterHook, caller);
  }
  const std::shared_ptr<lazy::GradHooks> hooks = lazy::HooksOf(lazy::EdgeOf(impl));
  return {hooks,
          hooks->Add([hook = std::move(hook)](std::vector<Tensor>& gradients) { hook(gradients[0]); })};
}

void GradHookHandle::Remove() {
  if (const std::shared_ptr<lazy::GradHooks> hooks = hooks_.lock()) hooks->Remove(id_);
}

}  // namespace hlod
