// Blocking sockets: the test's time limit ends a hanging one.
#include "tests/integration/support/http.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>

namespace hlod {

rpc::Descriptor ConnectToLoopback(int port) {
  rpc::Descriptor fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    std::perror("connect");
    std::abort();
  }
  return fd;
}

void SendText(int fd, const std::string& text) {
  ASSERT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
}

std::string ReadToEnd(int fd) {
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(fd, buffer, sizeof(buffer))) > 0;) text.append(buffer, static_cast<size_t>(n));
  return text;
}

std::string HttpGet(int port, const std::string& path) {
  const rpc::Descriptor fd = ConnectToLoopback(port);
  SendText(fd.get(), "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n");
  const std::string answer = ReadToEnd(fd.get());
  EXPECT_NE(answer.find(" 200 "), std::string::npos) << answer;
  const size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? "" : answer.substr(body + 4);
}

}  // namespace hlod
