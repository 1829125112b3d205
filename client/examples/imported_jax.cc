// Imports a function that JAX lowered as a function of tensors, calls it, differentiates it and batches it,
// and compares the results with JAX's own (imported_jax.d/make.py). The function is attention by a loop over
// blocks of keys.
//   example_imported_jax [FOLDER]
#include <absl/strings/str_format.h>
#include <hlod/tensors.h>

#include <exception>
#include <string>
#include <tuple>
#include <vector>

using hlod::Tensor;

int main(int argc, char** argv) try {
  const std::string folder = argc > 1 ? argv[1] : "client/examples/imported_jax.d";
  const hlod::LoadedFunction loaded = hlod::LoadFunction(folder + "/attention.pb");
  absl::PrintF("%s takes %d arguments, the first of them %s\n", loaded.name(), loaded.parameters().size(),
               hlod::hlo::ToStringNoLayout(loaded.parameters()[0]));

  const hlod::Device device = hlod::DefaultDevice();
  hlod::nn::StateDict jax = hlod::nn::LoadNpz(folder + "/values.npz");
  for (auto& [name, tensor] : jax) tensor = tensor.To(device);
  const Tensor &q = jax["q"], &k = jax["k"], &v = jax["v"];  // Three heads; the function takes one.

  // A call is recorded among other operations and compiled with them into one program.
  const auto attention = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return loaded({q, k, v})[0];
  };
  const auto loss = [&](const Tensor& q, const Tensor& k, const Tensor& v) {
    return hlod::Sum(hlod::Square(attention(q, k, v)));
  };
  const Tensor one = attention(q[1], k[1], v[1]);
  const Tensor all = hlod::Vmap(attention)(q, k, v);
  const auto [dq, dk, dv] = hlod::Vmap(hlod::Grad<0, 1, 2>(loss))(q, k, v);

  bool equal = true;
  const auto show = [&](const char* what, const Tensor& got, const Tensor& wanted) {
    const double difference = hlod::Max(hlod::Abs(got - wanted)).Item<double>();
    equal &= difference < 1e-5;
    absl::PrintF("%-26s %-11s  differs from JAX's by at most %.1e\n", what,
                 hlod::hlo::ToStringNoLayout(got.shape()), difference);
  };
  show("one head", one, jax["y"][1]);
  show("all heads: Vmap", all, jax["y"]);
  show("gradient by q: Vmap(Grad)", dq, jax["dq"]);
  show("gradient by k", dk, jax["dk"]);
  show("gradient by v", dv, jax["dv"]);
  absl::PrintF(equal ? "All equal up to rounding.\n" : "Not equal.\n");
  return equal ? 0 : 1;
} catch (const std::exception& error) {
  absl::FPrintF(stderr, "imported_jax: %s\n", error.what());
  return 1;
}
