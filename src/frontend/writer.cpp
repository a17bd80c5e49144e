#include "frontend/writer.h"

namespace pldc {

PrintOptions print_options(const TextStyle& style) {
  PrintOptions options;
  options.dialect = style.dialect;
  options.style = style.style;
  options.prefix = style.prefix;
  return options;
}

void print(const Module& module, const PrintOptions& options, std::string& out) {
  // About as much as was read: growing step by step would need room for the text twice.
  std::size_t expected = 0;
  for (const Function* f : module.program->functions) expected += f->span.end - f->span.begin;
  out.reserve(out.size() + expected + expected / 8 + 4096);
  Writer(options, out).module(module);
}

std::string print(const Module& module, const PrintOptions& options) {
  std::string out;
  print(module, options, out);
  return out;
}

std::string print_expr(const Expr* expr) {
  const PrintOptions options;
  std::string out;
  Writer(options, out).fragment(expr);
  return out;
}

std::string print_type(const Type* type) {
  const PrintOptions options;
  std::string out;
  Writer(options, out).fragment(type);
  return out;
}

}  // namespace pldc
