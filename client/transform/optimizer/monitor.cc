// Monitor() and its moving averages. State: the measurements by name, the averages without bias correction of
// those that are averaged, the count.
#include "client/transform/optimizer/named_state.h"
#include "client/transform/optimizer/transformation.h"
#include "hlod/ops/creation.h"
#include "hlod/ops/elementwise.h"
#include "hlod/optim/optim_wrappers.h"

namespace hlod::optim {

class MonitorLink final : public Link {
 public:
  explicit MonitorLink(std::map<std::string, Measure> measures) : measures_(std::move(measures)) {}

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& [name, measure] : measures_) names.push_back(name);
    return names;
  }
  Tensors Init(const Tensors& params) const override {
    Tensors zeros, state, averages;
    for (const Tensor& param : params) zeros.push_back(ZerosFor(param));
    for (const auto& [name, measure] : measures_) {
      state.push_back(ZerosLike(Value(measure, zeros)));
      if (measure.decay_) averages.push_back(state.back());
    }
    state.insert(state.end(), averages.begin(), averages.end());
    state.push_back(ZeroCount(params));
    return state;
  }
  Tensors Update(Tensors& updates, const Tensors& state, const Tensors&) const override {
    Tensors defined, next, averages;
    for (const Tensor& update : updates) {
      if (update.defined()) defined.push_back(update);
    }
    const Tensor count = Increment(state.back());
    for (const auto& [name, measure] : measures_) {
      Tensor value = Value(measure, defined);
      if (measure.decay_) {
        value = MovingAverage(state[measures_.size() + averages.size()], value, *measure.decay_);
        averages.push_back(value);
        if (measure.debias_) value = BiasCorrected(value, *measure.decay_, count);
      }
      next.push_back(value);
    }
    next.insert(next.end(), averages.begin(), averages.end());
    next.push_back(count);
    return next;
  }

 private:
  static Tensor Value(const Measure& measure, const Tensors& updates) {
    const Tensor value = measure.function_(updates);
    RequireThat(value.defined(), "a measure returns no tensor", "monitor", Caller{});
    const bool is_number = hlo::IsFloat(value.dtype()) || hlo::IsComplex(value.dtype());
    return measure.decay_ && !is_number ? value.To(kF32) : value;
  }

  const std::map<std::string, Measure> measures_;
};

Measure MeasureWithEma(Measure measure, double decay, bool debias, Caller caller) {
  RequireThat(!measure.decay_, "the measurement is a moving average already", "measure_with_ema", caller);
  measure.decay_ = decay;
  measure.debias_ = debias;
  return measure;
}
Optimizer Monitor(const std::map<std::string, Measure>& measures) { return Make<MonitorLink>(measures); }
const Tensor& Measurement(const Optimizer& optimizer, const State& state, const std::string& name,
                          Caller caller) {
  return NamedTensor<MonitorLink>(optimizer, const_cast<State&>(state), name, "measurement", "measurement",
                                  caller);
}

}  // namespace hlod::optim
