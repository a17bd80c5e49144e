// The language server: reads messages, answers requests, publishes diagnostics. One thread; messages are handled in the
// order in which they come, except that a request that is cancelled before its turn is not looked at.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "driver/lsp/document.h"
#include "driver/lsp/framing.h"
#include "driver/session.h"

namespace pldc::lsp {

class Server {
 public:
  // Messages go to session.out().
  explicit Server(Session& session) : session_(session) {}

  // Takes messages from the file descriptor until the client says `exit` or closes its end. Returns the exit code: 0
  // after a `shutdown`, else 1.
  int serve(int input);

 private:
  enum class State : std::uint8_t { New, Running, ShutDown, Ended };
  struct Pending {
    Json message;  // discarded: it was no JSON
    std::string wrong;
    bool cancelled = false;
  };

  bool fill(int input, bool wait);
  void take_frames();
  void queue(Json message);
  void handle(Pending pending);
  void call(const Json& id, const std::string& method, const Json& params);
  void notice(const std::string& method, const Json& params);
  Json answer(const std::string& method, const Json& params);
  Json answer_about(Document& document, const std::string& method, const Json& params);

  void did_open(const Json& params);
  void did_change(const Json& params);
  void did_close(const Json& params);
  Document* find(const Json& params);

  void analyse_all();
  void publish_new();
  void send(const Json& message);
  void reply(const Json& id, Json result);
  void fail(const Json& id, int code, const std::string& what);

  Session& session_;
  Framing framing_;
  std::deque<Pending> queue_;
  std::map<std::string, std::unique_ptr<Document>, std::less<>> documents_;
  State state_ = State::New;
  bool at_end_ = false;   // the client has closed its end
  int code_ = kBadInput;  // until it has said `shutdown` and `exit`
  std::chrono::steady_clock::time_point next_analysis_{};
};

}  // namespace pldc::lsp
