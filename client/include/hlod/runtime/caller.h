// The line of the program that calls into hlod. Every public function that sends something takes one as its
// last parameter, whose default is the caller's own line: errors and the ledger name it.
#pragma once

namespace hlod {

struct Caller {
  const char* file = "";  // Points to a string that lives as long as the program, such as a literal.
  int line = 0;
  const char* function = "";

  // The line of the (outermost) call.
  static constexpr Caller Here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                               const char* function = __builtin_FUNCTION()) {
    return {file, line, function};
  }
};

// For functions composed of other operations, such as layers and losses: until the scope is destroyed, this
// thread's operations and errors are attributed to `caller` instead of their own lines. The outermost of
// nested scopes applies.
//   Tensor Mean(const Tensor& x, Caller caller = Caller::Here()) {
//     const CallerScope scope(caller);
//     return Sum(x) / x.numel();
//   }
class CallerScope {
 public:
  explicit CallerScope(const Caller& caller);
  ~CallerScope();
  CallerScope(const CallerScope&) = delete;
  CallerScope& operator=(const CallerScope&) = delete;

  // Returns the scope's caller; `own` outside of a scope.
  static const Caller& Of(const Caller& own);

 private:
  const Caller caller_;
  const bool outermost_;
};

}  // namespace hlod
