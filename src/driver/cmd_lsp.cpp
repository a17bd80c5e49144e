// pldc lsp: the language server.
#include "driver/command.h"
#include "driver/lsp/server.h"
#include "driver/session.h"

namespace pldc {
namespace {

class LspCommand : public Command {
 public:
  CommandInfo info() const override {
    return {"lsp",
            "[--stdio]",
            "Language server for editors, on standard input and output",
            {"pldc lsp", "pldc lsp --stdio", "pldc lsp --max-errors=0 -Wno-comment_dropped"}};
  }

  void add_options(CLI::App& app) override {
    OptionTable(app)
        .group("Transport")
        .flag("--stdio", stdio_, "talk on standard input and output; there is no other way");
  }

  int run(Session& session) override { return lsp::Server(session).serve(0); }

 private:
  bool stdio_ = false;
};

}  // namespace

std::unique_ptr<Command> make_lsp_command() { return std::make_unique<LspCommand>(); }

}  // namespace pldc
