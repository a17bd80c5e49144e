#include "driver/trace/report.h"

#include "driver/embed.h"
#include "support/check.h"
#include "support/file.h"
#include "support/version.h"

namespace pldc::trace {
namespace {

// As the content of a script element: nothing in it can end the element.
std::string script_data(const Json& data) {
  const std::string text = data.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  for (const char c : text) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::string report(Session& session, Input& input, const Recorder& recorder, const ReportOptions& options) {
  Json data{{"version", kVersion},
            {"program", input.module.program->name.text()},
            {"file", path_last(input.file->name())}};
  recorder.write(data);
  data["map"] = program_map(session, input, recorder, options);
  const std::string_view page = report_page().front().text;
  constexpr std::string_view kMark = "[[DATA]]";
  const std::size_t mark = page.find(kMark);
  PLDC_CHECK(mark != std::string_view::npos, "the page has no place for its data");
  return std::string(page.substr(0, mark)) + script_data(data) +
         std::string(page.substr(mark + kMark.size()));
}

}  // namespace pldc::trace
