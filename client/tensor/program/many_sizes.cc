// Counts the programs of a form, and makes bounded ones.
#include "client/tensor/program/many_sizes.h"

#include <optional>
#include <string>
#include <utility>

#include "client/runtime/observe/program_difference.h"
#include "client/tensor/program/bounded_sizes.h"
#include "client/tensor/trace/abstract.h"
#include "client/tensor/trace/runtime.h"

namespace hlod::lazy {

std::unique_ptr<Module> ForManySizes(Trace& graph, CanonicalKey& key, const Caller& caller,
                                     std::vector<std::shared_ptr<const Literal>>& numbers) {
  // Two programs of a form may be all that there will be, and are faster without masks.
  constexpr int kCompiledMin = 2;
  // A preflight counts the memory of the program's own sizes, and a partitioner divides those.
  if (key.options.mesh.has_value() || AbstractOf(graph.place) != nullptr) return nullptr;
  Runtime& runtime = *graph.place.runtime;
  const std::vector<uint32_t> words = FormWords(*key.form.computation);
  const std::shared_ptr<Form>* known = runtime.forms.Find(words, key.tail);
  if (known == nullptr)
    known = &runtime.forms.Add(words, key.tail, std::make_shared<Form>(*key.form.computation));
  Form& form = **known;
  if (form.refused) return nullptr;
  if (form.compiled < kCompiledMin) {
    ++form.compiled;
    return nullptr;
  }
  std::optional<BoundedSizes> bounded = BoundSizes(form.first, key.form);
  if (!bounded) bounded = BoundSizes(form.latest, key.form);
  if (!bounded) {
    // Another size has changed too, such as that of a padding: later programs may differ from this one alone.
    form.latest = *key.form.computation;
    return nullptr;
  }
  CanonicalKey many(std::move(bounded->canonical), key);
  std::unique_ptr<Module> module;
  if (runtime.canonical.Find(many.words(), many.tail) == nullptr) {
    absl::StatusOr<std::unique_ptr<Module>> expanded = WithStaticShapes(*many.MakeModule(graph, caller));
    if (!expanded.ok()) {
      form.refused = true;
      return nullptr;
    }
    module = *std::move(expanded);
    module->config.frontend_attributes[runtime::kSizesUpTo] = std::to_string(bounded->bound);
  }
  key = std::move(many);
  numbers = std::move(bounded->numbers);
  return module;
}

}  // namespace hlod::lazy
