// Finds a Python interpreter with the modules that a test compares with.
#pragma once

#include <optional>
#include <string>

namespace hlod {

// Returns $HLOD_TEST_PYTHON, else python3, when it can import all of "numpy, jax"; else nullopt.
std::optional<std::string> PythonWith(const std::string& modules);
inline constexpr char kNoPython[] = "no Python with such modules: set HLOD_TEST_PYTHON to one, needed are ";

}  // namespace hlod
