// torch.fft.
#include "tests/unit/client/tensor/operation/bindings.h"

namespace hlod {
namespace {

using fft::Norm;

Norm NormOf(Arguments& a) {
  const std::string name = a.Text("norm", "backward");
  return name == "ortho" ? Norm::kOrtho : name == "forward" ? Norm::kForward : Norm::kBackward;
}

Binding One(const char* name, Tensor (*f)(const Operand&, std::optional<int64_t>, int64_t, Norm)) {
  return {name, "input n dim norm",
          [f](Arguments& a) { return f(a.Arg("input"), a.MaybeInt("n"), a.Int("dim", -1), NormOf(a)); }};
}
Binding Several(const char* name, Tensor (*f)(const Operand&, DimList, DimList, Norm),
                const Dims& dims = {}) {
  return {name, "input s dim norm", [f, dims](Arguments& a) {
            return f(a.Arg("input"), a.Ints("s", Dims{}), a.Ints("dim", dims), NormOf(a));
          }};
}
StftOptions StftOptionsOf(Arguments& a) {
  StftOptions options;
  options.hop_length = a.MaybeInt("hop_length");
  options.win_length = a.MaybeInt("win_length");
  options.window = a.Array("window");
  options.center = a.Bool("center", true);
  options.normalized = a.Bool("normalized", false);
  if (a.Has("onesided")) options.onesided = a.Bool("onesided");
  return options;
}
// Real and imaginary parts are recorded as pairs, a form that PyTorch's stft and istft still accept.
Tensor StftOf(Arguments& a) {
  const Tensor x = a.Array("input");
  const Tensor spectrum = Stft(x, a.Int("n_fft"), StftOptionsOf(a));
  return hlo::IsComplex(x.dtype()) ? spectrum : ViewAsReal(spectrum);
}
Tensor IstftOf(Arguments& a) {
  const Tensor x = a.Array("input");
  return Istft(hlo::IsComplex(x.dtype()) ? x : ViewAsComplex(x), a.Int("n_fft"), StftOptionsOf(a),
               a.MaybeInt("length"));
}
Binding Shift(const char* name, Tensor (*f)(const Operand&, DimList)) {
  return {name, "input dim", [f](Arguments& a) { return f(a.Arg("input"), a.Ints("dim", Dims{})); }};
}

}  // namespace

std::vector<Binding> FourierBindings() {
  const Dims last = {-2, -1};
  return {{"stft", "input n_fft hop_length win_length window center pad_mode normalized onesided", StftOf},
          {"istft", "input n_fft hop_length win_length window center normalized onesided length", IstftOf},
          One("fft.fft", fft::Fft),
          One("fft.ifft", fft::Ifft),
          One("fft.rfft", fft::Rfft),
          One("fft.irfft", fft::Irfft),
          One("fft.hfft", fft::Hfft),
          One("fft.ihfft", fft::Ihfft),
          Several("fft.fft2", fft::Fft2, last),
          Several("fft.ifft2", fft::Ifft2, last),
          Several("fft.rfft2", fft::Rfft2, last),
          Several("fft.irfft2", fft::Irfft2, last),
          Several("fft.hfft2", fft::Hfft2, last),
          Several("fft.ihfft2", fft::Ihfft2, last),
          Several("fft.fftn", fft::Fftn),
          Several("fft.ifftn", fft::Ifftn),
          Several("fft.rfftn", fft::Rfftn),
          Several("fft.irfftn", fft::Irfftn),
          Several("fft.hfftn", fft::Hfftn),
          Several("fft.ihfftn", fft::Ihfftn),
          Shift("fft.fftshift", fft::Fftshift),
          Shift("fft.ifftshift", fft::Ifftshift)};
}

}  // namespace hlod
