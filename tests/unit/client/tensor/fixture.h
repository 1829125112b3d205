// A daemon for the tests of tensors, shared by the tests of one suite.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "hlod/tensors.h"
#include "hlod/testing.h"

namespace hlod {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TensorTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { daemon_ = new testing::Daemon(testing::Daemon::Start().value()); }
  static void TearDownTestSuite() {
    delete daemon_;
    daemon_ = nullptr;
  }
  void SetUp() override {
    client_ = std::make_unique<Client>(daemon_->Connect().value());
    ResetTraceStats();
  }
  void TearDown() override { Environment(*client_).End(); }

  Device device() const { return client_->device(0); }
  SessionStats Account() const { return client_->Stats().value(); }

  Tensor OnDevice(const std::vector<float>& values, Dims dims) {
    return FromValues<float>(values, std::move(dims), device());
  }

  // Runs `body` and returns the error that it throws; fails when it throws none.
  static absl::Status Thrown(const std::function<void()>& body) {
    try {
      body();
    } catch (const Error& error) {
      last_what_ = error.what();
      return error.status();
    }
    ADD_FAILURE() << "nothing was thrown";
    return absl::OkStatus();
  }

  // Runs `body` and fails when it throws no error; `last_what_` has the error's text afterwards.
  static void Throws(const std::function<void()>& body) { static_cast<void>(Thrown(body)); }

  inline static testing::Daemon* daemon_ = nullptr;
  inline static std::string last_what_;  // The text of the last error thrown.
  std::unique_ptr<Client> client_;
};

}  // namespace hlod
