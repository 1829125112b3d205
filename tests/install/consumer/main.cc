// Computes 2x + y on a device that lives in another process.
#include <hlod/hlod.h>

#include <cstdio>

int main() {
  hlod::Client client = hlod::Client::Connect().value();  // The running daemon, or a private one.
  hlod::Device device = client.device(0);

  const auto f32 = hlod::hlo::kF32;
  hlod::Module module("axpy");
  hlod::hlo::Builder b(module, "main");
  auto x = b.Parameter(0, hlod::Shape::Array(f32, {4})), y = b.Parameter(1, hlod::Shape::Array(f32, {4}));
  if (auto built = b.Build(b.Constant(2.0f) * x + y); !built.ok()) return 1;
  hlod::Executable axpy = client.Compile(module).value();

  hlod::Buffer ones = device.Upload<float>({{1, 1, 1, 1}}, {4}).value();
  hlod::Buffer ramp = device.Upload<float>({{0, 1, 2, 3}}, {4}).value();
  hlod::Buffer sum = axpy.Execute({ones, ramp}).value()[0];             // Nothing has been waited for ...
  hlod::Literal result = sum.ToLiteral().value();                       // ... until here.
  for (float value : result.data<float>()) std::printf("%g\n", value);  // 2 3 4 5
}
